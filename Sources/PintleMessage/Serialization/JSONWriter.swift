// SPDX-License-Identifier: Apache-2.0

/// Writes JSON documents (RFC 8259) in UTF-8.
public struct JSONWriter {
    /// How a document is written.
    public struct Options: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt8

        /// Makes a set of options from bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Keys in the order of their UTF-16 code units, instead of their own.
        public static let sortedKeys = Options(rawValue: 1)
        /// One member to a line, indented by two spaces a level.
        public static let pretty = Options(rawValue: 2)
        /// Strings, numbers, truth values and null may stand alone.
        public static let fragmentsAllowed = Options(rawValue: 4)
    }

    /// The most levels of containers that are written.
    public static let nestingLimit = 512

    private static let hexDigits = Array("0123456789abcdef".utf8)

    private let options: Options
    private var bytes: [UInt8] = []
    private var path = ParameterPath()

    /// The document for `parameter`.
    ///
    /// Keys that repeat are written as often as they stand in the dictionary. A `Double` is written with the fewest
    /// digits that read back as the same number; `/` and non-ASCII characters are not escaped.
    ///
    /// - Throws: `.unserializable` with the path of the value for sets, bytes, NaN, infinities, nesting beyond
    ///   ``nestingLimit``, and scalars at the top unless `.fragmentsAllowed`.
    public static func write(_ parameter: Parameter, options: Options = []) throws(SerializationError) -> [UInt8] {
        var writer = JSONWriter(options: options)
        switch parameter {
        case .array, .dictionary, .set, .data: break
        case .null, .bool, .integer, .number, .decimal, .string:
            guard options.contains(.fragmentsAllowed) else {
                throw writer.error("the top of a JSON document must be an array or a dictionary.")
            }
        }
        try writer.value(parameter)
        return writer.bytes
    }

    private init(options: Options) { self.options = options }

    private mutating func value(_ parameter: Parameter) throws(SerializationError) {
        switch parameter {
        case .null: self.append("null")
        case .bool(let value): self.append(value ? "true" : "false")
        case .integer(let value): self.append(String(value))
        case .number(let value): try self.number(value)
        case .decimal(let text):
            guard JSONScanner.isNumber(text) else { throw self.error("“\(text)” is not a JSON number.") }
            self.append(text)
        case .string(let text): self.string(text)
        case .data: throw self.error("bytes have no form in JSON.")
        case .set: throw self.error("a set has no form in JSON; write an array.")
        case .array(let elements): try self.array(elements)
        case .dictionary(let entries): try self.dictionary(entries)
        }
    }

    private mutating func number(_ value: Double) throws(SerializationError) {
        guard value.isFinite else { throw self.error("\(value) is not a JSON number.") }
        // Swift's own text is already JSON: shortest digits, `1e+20`, `-0.0`.
        self.append(value.description)
    }

    private mutating func array(_ elements: [Parameter]) throws(SerializationError) {
        self.bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            try self.enter(.index(index), isFirst: index == 0)
            try self.value(element)
            self.path.leave()
        }
        self.close(UInt8(ascii: "]"), isEmpty: elements.isEmpty)
    }

    private mutating func dictionary(_ entries: [Parameter.Entry]) throws(SerializationError) {
        var entries = entries
        if self.options.contains(.sortedKeys) { entries.sort { $0.key.precedesByCodeUnit($1.key) } }
        self.bytes.append(UInt8(ascii: "{"))
        for (index, entry) in entries.enumerated() {
            try self.enter(.key(entry.key), isFirst: index == 0)
            self.string(entry.key)
            self.append(self.options.contains(.pretty) ? ": " : ":")
            try self.value(entry.value)
            self.path.leave()
        }
        self.close(UInt8(ascii: "}"), isEmpty: entries.isEmpty)
    }

    private mutating func enter(_ step: ParameterPath.Step, isFirst: Bool) throws(SerializationError) {
        guard self.path.steps.count < Self.nestingLimit else {
            throw SerializationError(
                .unserializable, "more than \(Self.nestingLimit) levels of nesting.", path: "parameters")
        }
        if !isFirst { self.bytes.append(UInt8(ascii: ",")) }
        self.path.enter(step)
        self.newLine()
    }

    private mutating func close(_ bracket: UInt8, isEmpty: Bool) {
        if !isEmpty { self.newLine() }
        self.bytes.append(bracket)
    }

    private mutating func newLine() {
        guard self.options.contains(.pretty) else { return }
        self.bytes.append(UInt8(ascii: "\n"))
        self.bytes.append(contentsOf: repeatElement(0x20, count: 2 * self.path.steps.count))
    }

    private mutating func string(_ text: String) {
        self.bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): self.append("\\\"")
            case UInt8(ascii: "\\"): self.append("\\\\")
            case 0x08: self.append("\\b")
            case 0x09: self.append("\\t")
            case 0x0A: self.append("\\n")
            case 0x0C: self.append("\\f")
            case 0x0D: self.append("\\r")
            case 0..<0x20:
                self.append("\\u00")
                self.append(byte < 0x10 ? "0" : "1")
                self.bytes.append(Self.hexDigits[Int(byte & 15)])
            default: self.bytes.append(byte)
            }
        }
        self.bytes.append(UInt8(ascii: "\""))
    }

    private mutating func append(_ text: String) { self.bytes.append(contentsOf: text.utf8) }

    private func error(_ message: String) -> SerializationError {
        SerializationError(.unserializable, message, path: self.path.text)
    }
}
