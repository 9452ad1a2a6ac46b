// SPDX-License-Identifier: Apache-2.0

internal import PintleSerialization

/// A step from a value to a member or an item of it.
enum PointerToken: Sendable, Hashable {
    case key(String)
    case index(Int)
}

/// JSON pointers (RFC 6901) as text.
enum JSONPointer {
    /// Appends `/` and the token, escaped.
    static func append(_ token: PointerToken, to pointer: inout String) {
        switch token {
        case .index(let index): pointer += "/\(index)"
        case .key(let key): pointer += "/" + Self.escaped(key)
        }
    }

    static func child(of pointer: String, _ key: String) -> String { pointer + "/" + Self.escaped(key) }

    static func child(of pointer: String, _ index: Int) -> String { "\(pointer)/\(index)" }

    private static func escaped(_ key: String) -> String {
        guard key.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return key }
        var bytes: [UInt8] = []
        for byte in key.utf8 {
            switch byte {
            case UInt8(ascii: "~"): bytes += "~0".utf8
            case UInt8(ascii: "/"): bytes += "~1".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The tokens of a pointer, unescaped; nil if it does not begin with `/` or has `~` before anything except 0 or 1.
    static func tokens(of pointer: String) -> [String]? {
        if pointer.isEmpty { return [] }
        let bytes = Array(pointer.utf8)
        guard bytes.first == UInt8(ascii: "/") else { return nil }
        var tokens: [String] = []
        for part in bytes.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            var token: [UInt8] = []
            var rest = part
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "~") else {
                    token.append(byte)
                    continue
                }
                switch rest.popFirst() {
                case UInt8(ascii: "0"): token.append(UInt8(ascii: "~"))
                case UInt8(ascii: "1"): token.append(UInt8(ascii: "/"))
                default: return nil
                }
            }
            tokens.append(String(decoding: token, as: UTF8.self))
        }
        return tokens
    }

    /// The member or item of `value` that the token names; nil if there is none.
    static func step(into value: Parameter, _ token: String) -> Parameter? {
        switch value {
        case .dictionary(let entries): return entries.first { ExactName.areEqual($0.key, token) }?.value
        case .array(let elements):
            guard let index = Int(token), String(index) == token, elements.indices.contains(index) else { return nil }
            return elements[index]
        default: return nil
        }
    }
}
