// SPDX-License-Identifier: Apache-2.0

/// Reads the challenges of one field line (RFC 9110 §11.6.1).
///
/// Commas separate challenges as well as parameters. The text after a comma is a parameter exactly if it is a token
/// followed by an equals sign. The time is linear in the length of the line.
struct ChallengeReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ value: String) { self.bytes = Array(value.utf8) }

    /// Returns the next challenge; nil at the end, and after the first malformed byte.
    mutating func next() -> AuthenticationChallenge? {
        self.skipCommas()
        let challenge = self.challenge()
        // Nothing after a mistake is read.
        if challenge == nil { self.position = self.bytes.count }
        return challenge
    }

    private mutating func challenge() -> AuthenticationChallenge? {
        guard let scheme = self.token()?.lowercased() else { return nil }
        if self.isAtItemEnd { return AuthenticationChallenge(scheme: scheme) }
        guard self.current == 0x20 else { return nil }
        self.skipSpaces()
        if self.isAtItemEnd { return AuthenticationChallenge(scheme: scheme) }
        if let token68 = self.token68() { return AuthenticationChallenge(scheme: scheme, token68: token68) }
        guard let parameters = self.parameters() else { return nil }
        return AuthenticationChallenge(scheme: scheme, parameters: parameters)
    }

    /// Reads all parameters up to the next challenge, at least one; nil if malformed.
    private mutating func parameters() -> [String: String]? {
        var parameters: [String: String] = [:]
        while let name = self.parameterName() {
            guard let value = self.current == UInt8(ascii: "\"") ? self.quotedString() : self.token(),
                parameters.updateValue(value, forKey: name) == nil
            else { return nil }
            self.skipSpaces()
            guard self.isAtItemEnd else { return nil }
            self.skipCommas()
        }
        return parameters.isEmpty ? nil : parameters
    }

    /// Reads a name and its equals sign, and returns the name in lower case. Returns nil, and reads nothing, if there is
    /// something else.
    private mutating func parameterName() -> String? {
        let start = self.position
        let name = self.token()
        self.skipSpaces()
        guard let name, self.current == UInt8(ascii: "=") else {
            self.position = start
            return nil
        }
        self.position += 1
        self.skipSpaces()
        return name.lowercased()
    }

    /// Reads Base64 and similar text up to the end of the item. Returns nil, and reads nothing, if there is something else.
    private mutating func token68() -> String? {
        let start = self.position
        while let byte = self.current, Self.isToken68Byte(byte) { self.position += 1 }
        let hasDigits = self.position > start
        while self.current == UInt8(ascii: "=") { self.position += 1 }
        let text = self.text(from: start)
        self.skipSpaces()
        guard hasDigits, self.isAtItemEnd else {
            self.position = start
            return nil
        }
        return text
    }

    private mutating func token() -> String? {
        let start = self.position
        while let byte = self.current, ASCII.isTokenByte(byte) { self.position += 1 }
        return self.position > start ? self.text(from: start) : nil
    }

    /// Reads a quoted string and removes its quotation marks and backslashes (RFC 9110 §5.6.4); nil if it does not end.
    private mutating func quotedString() -> String? {
        var content: [UInt8] = []
        self.position += 1
        while let byte = self.current, byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\") { self.position += 1 }
            guard let meant = self.current else { return nil }
            content.append(meant)
            self.position += 1
        }
        guard self.current != nil else { return nil }
        self.position += 1
        return String(decoding: content, as: UTF8.self)
    }

    private var current: UInt8? { self.position < self.bytes.count ? self.bytes[self.position] : nil }

    private var isAtItemEnd: Bool { self.current == nil || self.current == UInt8(ascii: ",") }

    private mutating func skipSpaces() {
        while let byte = self.current, byte == 0x20 || byte == 0x09 { self.position += 1 }
    }

    /// Skips commas and white space: lists may have empty items (RFC 9110 §5.6.1).
    private mutating func skipCommas() {
        while let byte = self.current, byte == 0x20 || byte == 0x09 || byte == UInt8(ascii: ",") { self.position += 1 }
    }

    private func text(from start: Int) -> String { String(decoding: self.bytes[start..<self.position], as: UTF8.self) }

    private static func isToken68Byte(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || ASCII.lowercased(byte) &- 0x61 < 26 || "-._~+/".utf8.contains(byte)
    }
}
