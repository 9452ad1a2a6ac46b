// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

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
        var scanner = FieldScanner(Array(bytes)[...])
        let value = ASCII.trimmed(scanner.take { $0 != UInt8(ascii: ";") })
        self.value = String(decoding: value.map(ASCII.folded), as: UTF8.self)
        guard !self.value.isEmpty else { return nil }
        var names: Set<String> = []
        while scanner.take(";") {
            scanner.skipSpaces()
            // RFC 9110 allows empty parameters.
            if scanner.rest.isEmpty || scanner.rest.first == UInt8(ascii: ";") { continue }
            guard let token = scanner.token(), scanner.take("="), let value = Self.value(&scanner, quoting) else {
                return nil
            }
            let name = String(decoding: token.map(ASCII.lowercased), as: UTF8.self)
            guard names.insert(name).inserted else { return nil }
            self.parameters.append((name, value))
            scanner.skipSpaces()
        }
        guard scanner.rest.isEmpty else { return nil }
    }

    /// Returns the value of a parameter without quotes; nil if it is missing.
    ///
    /// - Parameter name: the name in lower case.
    subscript(_ name: String) -> [UInt8]? { self.parameters.first { $0.name == name }?.value }

    private static func value(_ scanner: inout FieldScanner, _ quoting: Quoting) -> [UInt8]? {
        guard quoting != .backslash, scanner.take("\"") else { return scanner.tokenOrQuotedString() }
        var value: [UInt8] = []
        while let byte = scanner.next() {
            switch byte {
            case UInt8(ascii: "\""): return value
            case UInt8(ascii: "\\") where quoting == .percentOrBackslash:
                let isEscape = scanner.isAtQuote || scanner.rest.first == byte
                value.append(isEscape ? scanner.next() ?? byte : byte)
            case UInt8(ascii: "%"):
                let escaped = Self.escaped(scanner.rest.prefix(2))
                if escaped != nil { _ = (scanner.next(), scanner.next()) }
                value.append(escaped ?? byte)
            default: value.append(byte)
            }
        }
        return nil
    }

    /// Decodes the three bytes that the HTML standard escapes; nil for all other digits, which stand for themselves.
    private static func escaped(_ digits: ArraySlice<UInt8>) -> UInt8? {
        if digits.elementsEqual("22".utf8) { return UInt8(ascii: "\"") }
        if digits.elementsEqual("0D".utf8) { return UInt8(ascii: "\r") }
        if digits.elementsEqual("0A".utf8) { return UInt8(ascii: "\n") }
        return nil
    }
}
