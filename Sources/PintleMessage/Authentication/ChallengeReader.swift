// SPDX-License-Identifier: Apache-2.0

internal import PintleSystem

/// Reads the challenges of one field line (RFC 9110 §11.6.1).
///
/// Commas separate challenges as well as parameters. The text after a comma is a parameter exactly if it is a token
/// followed by an equals sign. The time is linear in the length of the line.
struct ChallengeReader {
    private var scanner: FieldScanner

    init(_ value: String) { self.scanner = FieldScanner(Array(value.utf8)[...]) }

    /// Returns the next challenge; nil at the end, and after the first malformed byte.
    mutating func next() -> AuthenticationChallenge? {
        self.scanner.skipCommas()
        let challenge = self.challenge()
        // Nothing after a mistake is read.
        if challenge == nil { self.scanner = FieldScanner([]) }
        return challenge
    }

    private mutating func challenge() -> AuthenticationChallenge? {
        guard let scheme = self.name() else { return nil }
        if self.scanner.isAtMemberEnd { return AuthenticationChallenge(scheme: scheme) }
        guard self.scanner.take(" ") else { return nil }
        self.scanner.skipSpaces()
        if self.scanner.isAtMemberEnd { return AuthenticationChallenge(scheme: scheme) }
        if let token68 = self.token68() { return AuthenticationChallenge(scheme: scheme, token68: token68) }
        guard let parameters = self.parameters() else { return nil }
        return AuthenticationChallenge(scheme: scheme, parameters: parameters)
    }

    /// Reads all parameters up to the next challenge, at least one; nil if malformed.
    private mutating func parameters() -> [String: String]? {
        var parameters: [String: String] = [:]
        while let name = self.parameterName() {
            guard let value = self.scanner.tokenOrQuotedString(),
                parameters.updateValue(String(decoding: value, as: UTF8.self).streamSafe, forKey: name) == nil
            else { return nil }
            self.scanner.skipSpaces()
            guard self.scanner.isAtMemberEnd else { return nil }
            self.scanner.skipCommas()
        }
        return parameters.isEmpty ? nil : parameters
    }

    /// Reads a name and its equals sign, and returns the name in lower case. Returns nil, and reads nothing, if there is
    /// something else.
    private mutating func parameterName() -> String? {
        let start = self.scanner
        let name = self.name()
        self.scanner.skipSpaces()
        guard let name, self.scanner.take("=") else {
            self.scanner = start
            return nil
        }
        self.scanner.skipSpaces()
        return name
    }

    /// Reads Base64 and similar text up to the end of the item. Returns nil, and reads nothing, if there is something else.
    private mutating func token68() -> String? {
        let start = self.scanner
        let digits = self.scanner.take(while: Self.isToken68Byte)
        let padding = self.scanner.take { $0 == UInt8(ascii: "=") }
        self.scanner.skipSpaces()
        guard !digits.isEmpty, self.scanner.isAtMemberEnd else {
            self.scanner = start
            return nil
        }
        return String(decoding: digits + padding, as: UTF8.self)
    }

    /// Reads a token, and returns it in lower case.
    private mutating func name() -> String? {
        self.scanner.token().map { String(decoding: $0.map(ASCII.lowercased), as: UTF8.self) }
    }

    private static func isToken68Byte(_ byte: UInt8) -> Bool {
        ASCII.isDigit(byte) || ASCII.lowercased(byte) &- 0x61 < 26 || "-._~+/".utf8.contains(byte)
    }
}
