// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A cache directive of a field.
struct CacheDirective {
    /// The text after the equals sign.
    enum Argument {
        /// Nothing.
        case none
        /// A token or quoted string of Cache-Control, which mean the same (RFC 9111 §5.2), or a string or token of a targeted
        /// field.
        case text([UInt8])
        /// An integer of a targeted field.
        case number(Int64)
        /// A value of a type that no directive has.
        case other
    }

    /// The lengths of the known names, from `public` to `stale-while-revalidate`.
    static let nameLengths = 6...22

    /// In lower case.
    let name: String
    let argument: Argument
    /// True for directives of targeted fields: there a text is never a number (RFC 9213 §2.1).
    var isTyped = false

    /// The seconds of the argument, 0…2^31; 0 if it cannot be read: a response with an unreadable lifetime is stale at once
    /// (RFC 9111 §4.2.1).
    var lifetime: Int64 {
        switch self.argument {
        case .number(let seconds): min(max(seconds, 0), CacheTime.longest)
        case .text(let digits): self.isTyped ? 0 : DeltaSeconds.read(digits) ?? 0
        case .none, .other: 0
        }
    }

    /// True if there is no argument.
    var isUnqualified: Bool {
        if case .none = self.argument { return true }
        return false
    }
}

/// Reads numbers of seconds in fields (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// - Returns: 0…2^31, where larger numbers become 2^31; nil for any text but digits.
    static func read(_ digits: some Collection<UInt8>) -> Int64? {
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        var seconds: Int64 = 0
        for digit in digits { seconds = min(seconds * 10 + Int64(digit - 0x30), CacheTime.longest) }
        return seconds
    }
}

/// Strict reader of Cache-Control (RFC 9111 §5.2).
enum CacheControlReader {
    /// The most directives with names of a known length; no honest sender needs more.
    private static let countLimit = 64

    /// The directives in the order of their lines; nil if a line breaks the grammar, because another reader could find other
    /// directives in it.
    static func directives(in fields: Fields) -> [CacheDirective]? {
        var directives: [CacheDirective] = []
        var isMalformed = false
        fields.forEachValue(of: "Cache-Control") { value in
            if !isMalformed, !Self.read(value, into: &directives) { isMalformed = true }
        }
        return isMalformed ? nil : directives
    }

    private static func read(_ value: UnsafeRawBufferPointer, into directives: inout [CacheDirective]) -> Bool {
        var rest = value[...]
        while true {
            rest = rest.drop { $0 == UInt8(ascii: ",") || $0 == 0x20 || $0 == 0x09 }
            if rest.isEmpty { return true }
            let name = rest.prefix(while: ASCII.isTokenByte)
            guard !name.isEmpty else { return false }
            rest = rest[name.endIndex...]
            var argument = CacheDirective.Argument.none
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst()
                guard let text = Self.argument(&rest) else { return false }
                argument = .text(text)
            }
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
            guard rest.isEmpty || rest.first == UInt8(ascii: ",") else { return false }
            // A hostile list has a member every two bytes; names that no directive can have are skipped.
            guard CacheDirective.nameLengths.contains(name.count) else { continue }
            guard directives.count < Self.countLimit else { return false }
            directives.append(
                CacheDirective(name: String(decoding: name.map(ASCII.lowercased), as: UTF8.self), argument: argument))
        }
    }

    /// Reads a token, which may be empty, or a quoted string without its quotes and backslashes (RFC 9110 §5.6.4).
    private static func argument(_ rest: inout Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
        guard rest.first == UInt8(ascii: "\"") else {
            let token = rest.prefix(while: ASCII.isTokenByte)
            rest = rest[token.endIndex...]
            return Array(token)
        }
        rest = rest.dropFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return text
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped)
            default: text.append(byte)
            }
        }
        return nil
    }
}
