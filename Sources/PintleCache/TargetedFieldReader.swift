// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Reads a targeted field, which has cache directives for one cache (RFC 9213): a dictionary of structured fields (RFC 8941
/// §3.2).
struct TargetedFieldReader {
    private var rest: ArraySlice<UInt8>
    /// The number of members, known or not.
    private var count = 0

    private init(_ bytes: [UInt8]) { self.rest = bytes[...] }

    /// The directives in the lines called `name`.
    ///
    /// - Returns: nil if there is no such line, if it is empty, or if there is an error anywhere in it: the field is then
    ///   treated as missing (RFC 9213 §2.1).
    static func directives(called name: String, in fields: Fields) -> [CacheDirective]? {
        var bytes: [UInt8] = []
        var count = 0
        fields.forEachValue(of: name) { value in
            // All lines are one list (RFC 8941 §4.2).
            if count > 0 { bytes += [UInt8(ascii: ","), 0x20] }
            bytes.append(contentsOf: value)
            count += 1
        }
        guard count > 0 else { return nil }
        var reader = TargetedFieldReader(bytes)
        guard let members = reader.dictionary(), reader.count > 0 else { return nil }
        return members
    }

    /// RFC 8941 §4.2.2. If a key occurs more than once, the last member counts.
    private mutating func dictionary() -> [CacheDirective]? {
        var members: [String: CacheDirective] = [:]
        self.skipSpaces()
        while !self.rest.isEmpty {
            guard let key = self.key() else { return nil }
            var argument = CacheDirective.Argument.none
            if self.take(UInt8(ascii: "=")) {
                guard let value = self.memberValue() else { return nil }
                argument = value
            }
            guard self.parameters() else { return nil }
            self.count += 1
            if CacheDirective.nameLengths.contains(key.utf8.count) {
                members[key] = CacheDirective(name: key, argument: argument, isTyped: true)
            }
            self.skipWhitespace()
            if self.rest.isEmpty { break }
            guard self.take(UInt8(ascii: ",")) else { return nil }
            self.skipWhitespace()
            // A trailing comma.
            guard !self.rest.isEmpty else { return nil }
        }
        return Array(members.values)
    }

    private mutating func memberValue() -> CacheDirective.Argument? {
        guard self.take(UInt8(ascii: "(")) else { return self.bareItem() }
        while true {
            self.skipSpaces()
            if self.take(UInt8(ascii: ")")) { return .other }
            guard self.bareItem() != nil, self.parameters(),
                self.rest.first == 0x20 || self.rest.first == UInt8(ascii: ")")
            else { return nil }
        }
    }

    /// RFC 8941 §4.2.3.2. The parameters are ignored (RFC 9213 §2.1).
    private mutating func parameters() -> Bool {
        while self.take(UInt8(ascii: ";")) {
            self.skipSpaces()
            guard self.key() != nil else { return false }
            if self.take(UInt8(ascii: "=")), self.bareItem() == nil { return false }
        }
        return true
    }

    private mutating func key() -> String? {
        guard let first = self.rest.first, Self.isLowercase(first) || first == UInt8(ascii: "*") else { return nil }
        let key = self.rest.prefix { Self.isLowercase($0) || ASCII.isDigit($0) || "_-.*".utf8.contains($0) }
        self.rest = self.rest[key.endIndex...]
        return String(decoding: key, as: UTF8.self)
    }

    /// RFC 8941 §4.2.3.1.
    private mutating func bareItem() -> CacheDirective.Argument? {
        guard let first = self.rest.first else { return nil }
        switch first {
        case UInt8(ascii: "-"), 0x30...0x39: return self.number()
        case UInt8(ascii: "\""): return self.string()
        case UInt8(ascii: "?"): return self.boolean()
        case UInt8(ascii: ":"): return self.byteSequence()
        case UInt8(ascii: "*"), 0x41...0x5A, 0x61...0x7A:
            let token = self.rest.prefix {
                ASCII.isTokenByte($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/")
            }
            self.rest = self.rest[token.endIndex...]
            return .text(Array(token))
        default: return nil
        }
    }

    /// At most 15 digits, or 12 before a point and 1 to 3 after it (RFC 8941 §4.2.4).
    private mutating func number() -> CacheDirective.Argument? {
        let isNegative = self.take(UInt8(ascii: "-"))
        let digits = self.rest.prefix(while: ASCII.isDigit)
        self.rest = self.rest[digits.endIndex...]
        guard (1...15).contains(digits.count) else { return nil }
        guard self.take(UInt8(ascii: ".")) else {
            let number = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
            return .number(isNegative ? -number : number)
        }
        let fraction = self.rest.prefix(while: ASCII.isDigit)
        self.rest = self.rest[fraction.endIndex...]
        return digits.count <= 12 && (1...3).contains(fraction.count) ? .other : nil
    }

    private mutating func string() -> CacheDirective.Argument? {
        self.rest.removeFirst()
        var text: [UInt8] = []
        while let byte = self.rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return .text(text)
            case UInt8(ascii: "\\"):
                guard let escaped = self.rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\")
                else { return nil }
                text.append(escaped)
            case 0x20...0x7E: text.append(byte)
            default: return nil
            }
        }
        return nil
    }

    /// `?1` means the same as no argument.
    private mutating func boolean() -> CacheDirective.Argument? {
        self.rest.removeFirst()
        switch self.rest.popFirst() {
        case UInt8(ascii: "0"): return .other
        case UInt8(ascii: "1"): return CacheDirective.Argument.none
        default: return nil
        }
    }

    private mutating func byteSequence() -> CacheDirective.Argument? {
        self.rest.removeFirst()
        while let byte = self.rest.popFirst() {
            if byte == UInt8(ascii: ":") { return .other }
            let isLetter = ASCII.lowercased(byte) &- 0x61 < 26
            guard isLetter || ASCII.isDigit(byte) || "+/=".utf8.contains(byte) else { return nil }
        }
        return nil
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard self.rest.first == byte else { return false }
        self.rest.removeFirst()
        return true
    }

    private mutating func skipSpaces() { self.rest = self.rest.drop { $0 == 0x20 } }

    private mutating func skipWhitespace() { self.rest = self.rest.drop { $0 == 0x20 || $0 == 0x09 } }

    private static func isLowercase(_ byte: UInt8) -> Bool { byte &- 0x61 < 26 }
}
