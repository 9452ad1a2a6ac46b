// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension JSONScanner {
    /// Reads a document.
    ///
    /// Keys keep their order and their repetitions. A number becomes `.integer` if `Int64` holds it, `.number` if the
    /// nearest `Double` has the same decimal value, and otherwise `.decimal` with its own text. At most 512 levels are
    /// read, even if ``nestingLimit`` is larger.
    ///
    /// - Throws: the place of the first byte that is not JSON, and the reason.
    public func parse(_ bytes: [UInt8]) throws(JSONSyntaxError) -> Parameter {
        var scanner = self
        scanner.nestingLimit = min(self.nestingLimit, 512)
        return try scanner.checkedUTF8(bytes).withUnsafeBufferPointer { bytes in
            var reader = JSONReader(checked: bytes)
            return reader.document()
        }
    }
}

/// Builds a value from a document that ``JSONScanner`` has found valid, so it cannot fail.
///
/// It holds a pointer, so it exists only inside the `withUnsafe…` call that makes it.
private struct JSONReader {
    /// An open array or object, with its members so far.
    private struct Level {
        var isObject: Bool
        var key = ""
        var elements: [Parameter] = []
        var entries: [Parameter.Entry] = []

        mutating func add(_ value: Parameter) {
            if self.isObject {
                self.entries.append(Parameter.Entry(self.key, value))
            } else {
                self.elements.append(value)
            }
        }

        var value: Parameter { self.isObject ? .dictionary(self.entries) : .array(self.elements) }
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private var index = 0
    private var levels: [Level] = []

    init(checked bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func document() -> Parameter {
        var awaitsKey = false
        while self.index < self.bytes.count {
            var value: Parameter
            switch self.bytes[self.index] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                awaitsKey = self.bytes[self.index] == UInt8(ascii: "{")
                self.levels.append(Level(isObject: awaitsKey))
                self.index += 1
                continue
            case UInt8(ascii: ","):
                awaitsKey = self.levels.last?.isObject ?? false
                self.index += 1
                continue
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard let level = self.levels.popLast() else { preconditionFailure("BUG: unchecked document") }
                value = level.value
                self.index += 1
            case UInt8(ascii: "\""):
                let text = self.string()
                if awaitsKey {
                    self.levels[self.levels.count - 1].key = text
                    awaitsKey = false
                    continue
                }
                value = .string(text)
            case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ":"):
                self.index += 1
                continue
            default: value = self.word()
            }
            if self.levels.isEmpty { return value }
            self.levels[self.levels.count - 1].add(value)
        }
        preconditionFailure("BUG: unchecked document")
    }

    /// Reads a number, `true`, `false` or `null`.
    private mutating func word() -> Parameter {
        let start = self.index
        while self.index < self.bytes.count, !JSONScan.endsWord(self.bytes[self.index]) { self.index += 1 }
        switch self.bytes[start] {
        case UInt8(ascii: "t"): return .bool(true)
        case UInt8(ascii: "f"): return .bool(false)
        case UInt8(ascii: "n"): return .null
        default: return Parameter(jsonNumber: UnsafeBufferPointer(rebasing: self.bytes[start..<self.index]))
        }
    }

    private mutating func string() -> String {
        let start = self.index + 1
        self.index = self.endOfRun(from: start)
        let run = UnsafeBufferPointer(rebasing: self.bytes[start..<self.index])
        guard self.bytes[self.index] != UInt8(ascii: "\"") else {
            self.index += 1
            return String(decoding: run, as: UTF8.self)
        }
        var text = Array(run)
        while self.bytes[self.index] != UInt8(ascii: "\"") {
            self.escape(into: &text)
            let end = self.endOfRun(from: self.index)
            text.append(contentsOf: self.bytes[self.index..<end])
            self.index = end
        }
        self.index += 1
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the index of the next quote or backslash; a valid document has one.
    private func endOfRun(from start: Int) -> Int {
        var index = start
        while true {
            index = PlainBytes.end(
                in: self.bytes, from: index, before: UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "\\"))
            let byte = self.bytes[index]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return index }
            index += 1
        }
    }

    private mutating func escape(into text: inout [UInt8]) {
        let letter = self.bytes[self.index + 1]
        self.index += 2
        switch letter {
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var value = self.hexUnit()
            if value & 0xFC00 == 0xD800 {
                self.index += 2
                value = 0x10000 + (value & 0x3FF) << 10 + self.hexUnit() & 0x3FF
            }
            guard let scalar = UnicodeScalar(value) else { preconditionFailure("BUG: unchecked document") }
            text.append(contentsOf: String(Character(scalar)).utf8)
        default: text.append(letter)
        }
    }

    private mutating func hexUnit() -> UInt32 {
        let digits = self.bytes[self.index..<self.index + 4]
        self.index += 4
        return digits.reduce(0) { $0 << 4 | UInt32(ASCII.hexValue($1) ?? 0) }
    }
}
