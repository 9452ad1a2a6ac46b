// SPDX-License-Identifier: Apache-2.0

/// A field value with parameters, `value; name=value; name="value"` (RFC 9110 §5.6.6), read strictly.
struct FieldParameters {
    /// The form of a quotation mark within a quoted string.
    enum Quoting {
        /// After a backslash (RFC 9110 §5.6.4).
        case backslash
        /// As `%22` only; a backslash stands for itself, as in the multipart/form-data of the HTML standard.
        case percent
        /// As `%22`, or after a backslash. Before any other byte but a backslash, a backslash stands for itself: RFC 2183,
        /// as Go and Java write it, with the paths of old browsers (`C:\x`).
        case percentOrBackslash
    }

    /// The text before the parameters, in lower case; bytes beyond ASCII become question marks.
    let value: String
    private var parameters: [(name: String, value: [UInt8])] = []

    /// Reads a value.
    ///
    /// - Returns: nil if the value is malformed, or has a parameter twice.
    init?(_ bytes: some Collection<UInt8>, quoting: Quoting) {
        let bytes = Array(bytes)
        let end = bytes.firstIndex(of: UInt8(ascii: ";")) ?? bytes.count
        self.value = String(decoding: ASCII.trimmed(bytes[..<end]).map(ASCII.folded), as: UTF8.self)
        guard !self.value.isEmpty else { return nil }
        var rest = bytes[end...]
        var names: Set<String> = []
        while let first = rest.popFirst() {
            guard first == UInt8(ascii: ";") else { return nil }
            rest = rest.drop(while: Self.isSpace)
            // RFC 9110 allows empty parameters.
            if rest.isEmpty || rest.first == UInt8(ascii: ";") { continue }
            guard let parameter = Self.parameter(&rest, quoting) else { return nil }
            guard names.insert(parameter.name).inserted else { return nil }
            self.parameters.append(parameter)
            rest = rest.drop(while: Self.isSpace)
        }
    }

    /// Returns the value of a parameter without quotes; nil if it is missing.
    ///
    /// - Parameter name: the name in lower case.
    subscript(_ name: String) -> [UInt8]? { self.parameters.first { $0.name == name }?.value }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func parameter(
        _ rest: inout ArraySlice<UInt8>, _ quoting: Quoting
    ) -> (name: String, value: [UInt8])? {
        let name = rest.prefix(while: ASCII.isTokenByte)
        rest = rest[name.endIndex...]
        guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "=") else { return nil }
        let key = String(decoding: name.map(ASCII.lowercased), as: UTF8.self)
        guard rest.first == UInt8(ascii: "\"") else {
            let value = rest.prefix(while: ASCII.isTokenByte)
            rest = rest[value.endIndex...]
            return value.isEmpty ? nil : (key, Array(value))
        }
        rest.removeFirst()
        return Self.quoted(&rest, quoting).map { (key, $0) }
    }

    private static func quoted(_ rest: inout ArraySlice<UInt8>, _ quoting: Quoting) -> [UInt8]? {
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch (byte, quoting) {
            case (UInt8(ascii: "\""), _): return value
            case (UInt8(ascii: "\\"), .backslash):
                guard let escaped = rest.popFirst() else { return nil }
                value.append(escaped)
            case (UInt8(ascii: "\\"), .percentOrBackslash):
                let isEscape = rest.first == UInt8(ascii: "\"") || rest.first == byte
                value.append(isEscape ? rest.removeFirst() : byte)
            case (UInt8(ascii: "%"), .percent), (UInt8(ascii: "%"), .percentOrBackslash):
                guard let escaped = Self.escaped(rest.prefix(2)) else {
                    value.append(byte)
                    continue
                }
                rest.removeFirst(2)
                value.append(escaped)
            default: value.append(byte)
            }
        }
        return nil
    }

    /// Decodes the three bytes that the HTML standard escapes; nil for all other digits, which stand for themselves.
    private static func escaped(_ digits: ArraySlice<UInt8>) -> UInt8? {
        if digits.elementsEqual("22".utf8) { return UInt8(ascii: "\"") }
        if digits.elementsEqual("0D".utf8) { return .cr }
        if digits.elementsEqual("0A".utf8) { return .lf }
        return nil
    }
}
