// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Writes JSON documents (RFC 8259) in UTF-8.
public struct JSONWriter {
    /// The style of a document.
    public struct Options: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt8

        /// Makes a set of options from bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Keys are sorted by their UTF-16 code units.
        public static let sortedKeys = Options(rawValue: 1)
        /// Each member has its own line, indented by two spaces for each level.
        public static let pretty = Options(rawValue: 2)
        /// Strings, numbers, truth values and null may stand alone.
        public static let fragmentsAllowed = Options(rawValue: 4)
    }

    /// The maximum number of levels of containers.
    public static let nestingLimit = 512

    /// Returns the document for `parameter`.
    ///
    /// Keys that repeat in a dictionary are written repeatedly. A `Double` is written with the fewest digits that read back
    /// as the same number; `/` and non-ASCII characters are not escaped.
    ///
    /// - Throws: `.unserializable` with the path of the value for sets, bytes, dates, files, NaN and infinities; also for
    ///   nesting beyond ``nestingLimit``, and for scalars at the top level unless `.fragmentsAllowed`.
    public static func write(_ parameter: Parameter, options: Options = []) throws(SerializationError) -> [UInt8] {
        var writing = JSONWriting(options: options)
        do throws(Mismatch) {
            try writing.document(parameter)
        } catch {
            throw error.error
        }
        return writing.bytes.bytes
    }
}

/// One document that is being written.
private struct JSONWriting: ~Copyable {
    private static let hexDigits = Array("0123456789abcdef".utf8)

    private let options: JSONWriter.Options
    private(set) var bytes = ByteWriter(reserving: 1024)
    private var depth = 0

    init(options: JSONWriter.Options) { self.options = options }

    mutating func document(_ parameter: Parameter) throws(Mismatch) {
        switch parameter {
        case .array, .dictionary, .set, .data, .date, .file: break
        case .null, .bool, .integer, .number, .decimal, .string:
            guard self.options.contains(.fragmentsAllowed) else {
                throw Mismatch("the top of a JSON document must be an array or a dictionary.")
            }
        }
        try self.value(parameter)
    }

    private mutating func value(_ parameter: Parameter) throws(Mismatch) {
        switch parameter {
        case .null: self.append("null")
        case .bool(let value): self.append(value ? "true" : "false")
        case .integer(let value): self.append(String(value))
        case .number(let value):
            guard value.isFinite else { throw Mismatch("\(value) is not a JSON number.") }
            // Swift's description is already JSON: shortest digits, `1e+20`, `-0.0`.
            self.append(value.description)
        case .decimal(let text):
            guard JSONScanner.isNumber(text) else { throw Mismatch("“\(text.cutName)” is not a JSON number.") }
            self.append(text)
        case .string(let text): self.string(text)
        case .data: throw Mismatch("bytes have no form in JSON.")
        case .date: throw Mismatch("a date has no form in JSON; write text or a number.")
        case .file: throw Mismatch("a file has no form in JSON; only multipart carries files.")
        case .set: throw Mismatch("a set has no form in JSON; write an array.")
        case .array(let elements): try self.array(elements)
        case .dictionary(let entries): try self.dictionary(entries)
        }
    }

    private mutating func array(_ elements: [Parameter]) throws(Mismatch) {
        try self.open(UInt8(ascii: "["))
        let span = elements.span
        for index in span.indices {
            self.separate(isFirst: index == 0)
            do throws(Mismatch) {
                try self.value(span[index])
            } catch {
                throw error.inside(.index(index))
            }
        }
        self.close(UInt8(ascii: "]"), isEmpty: elements.isEmpty)
    }

    private mutating func dictionary(_ entries: [Parameter.Entry]) throws(Mismatch) {
        var entries = entries
        if self.options.contains(.sortedKeys) { entries.sort { $0.key.precedesByCodeUnit($1.key) } }
        try self.open(UInt8(ascii: "{"))
        let span = entries.span
        for index in span.indices {
            self.separate(isFirst: index == 0)
            self.string(span[index].key)
            self.bytes.append(UInt8(ascii: ":"))
            if self.options.contains(.pretty) { self.bytes.append(0x20) }
            do throws(Mismatch) {
                try self.value(span[index].value)
            } catch {
                throw error.inside(.key(span[index].key))
            }
        }
        self.close(UInt8(ascii: "}"), isEmpty: entries.isEmpty)
    }

    private mutating func open(_ bracket: UInt8) throws(Mismatch) {
        guard self.depth < JSONWriter.nestingLimit else { throw .nesting(beyond: JSONWriter.nestingLimit) }
        self.depth += 1
        self.bytes.append(bracket)
    }

    @inline(__always)
    private mutating func separate(isFirst: Bool) {
        if !isFirst { self.bytes.append(UInt8(ascii: ",")) }
        self.newLine()
    }

    private mutating func close(_ bracket: UInt8, isEmpty: Bool) {
        self.depth -= 1
        if !isEmpty { self.newLine() }
        self.bytes.append(bracket)
    }

    @inline(__always)
    private mutating func newLine() {
        guard self.options.contains(.pretty) else { return }
        self.bytes.append(UInt8(ascii: "\n"))
        for _ in 0..<2 * self.depth { self.bytes.append(0x20) }
    }

    // MARK: Text

    private mutating func string(_ text: String) {
        self.bytes.append(UInt8(ascii: "\""))
        text.utf8.span.withUnsafeBufferPointer { utf8 in
            var place = 0
            while true {
                // Copies runs without anything to escape; most strings are one such run.
                place = self.bytes.append(utf8, from: place) { word in
                    word.marks(below: 0x20) | word.marks(of: UInt8(ascii: "\"")) | word.marks(of: UInt8(ascii: "\\"))
                }
                if place == utf8.count { return }
                self.escape(byte: utf8[place])
                place += 1
            }
        }
        self.bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(byte: UInt8) {
        switch byte {
        case 0x08: self.append("\\b")
        case 0x09: self.append("\\t")
        case 0x0A: self.append("\\n")
        case 0x0C: self.append("\\f")
        case 0x0D: self.append("\\r")
        case 0..<0x20:
            self.append(byte < 0x10 ? "\\u000" : "\\u001")
            self.bytes.append(Self.hexDigits[Int(byte & 15)])
        default:
            self.bytes.append(UInt8(ascii: "\\"))
            self.bytes.append(byte)
        }
    }

    private mutating func append(_ text: String) { self.bytes.append(text) }
}
