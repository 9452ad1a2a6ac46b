// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// URIs and references to them, by the grammar of RFC 3986.
enum URIFormat {
    static func isURI(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(bytes[..<colon]) else { return false }
        return Self.isSchemeless(bytes[(colon + 1)...])
    }

    static func isReference(_ bytes: ArraySlice<UInt8>) -> Bool {
        if Self.isURI(bytes) { return true }
        // The first segment of a relative path has no colon: it would be a scheme (§4.2).
        let segment = bytes.prefix { !"/?#".utf8.contains($0) }
        return !segment.contains(UInt8(ascii: ":")) && Self.isSchemeless(bytes)
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, ASCII.lowercased(first) &- 0x61 < 26 else { return false }
        return bytes.allSatisfy { NameFormat.isLetterOrDigit($0) || "+-.".utf8.contains($0) }
    }

    /// True if the bytes may follow a scheme and its colon.
    private static func isSchemeless(_ bytes: ArraySlice<UInt8>) -> Bool {
        var rest = bytes
        if rest.starts(with: "//".utf8) {
            let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
            guard Self.isAuthority(authority) else { return false }
            rest = rest[authority.endIndex...]
        }
        let path = rest.prefix { !"?#".utf8.contains($0) }
        rest = rest[path.endIndex...]
        // A question mark may stand in a query, so the first one needs no special treatment.
        let query = rest.prefix { $0 != UInt8(ascii: "#") }
        let fragment = rest[query.endIndex...].dropFirst()
        return Self.consists(path, of: ":@/") && Self.consists(query, of: ":@/?")
            && Self.consists(fragment, of: ":@/?")
    }

    private static func isAuthority(_ bytes: ArraySlice<UInt8>) -> Bool {
        var host = bytes
        if let sign = bytes.firstIndex(of: UInt8(ascii: "@")) {
            guard Self.consists(bytes[..<sign], of: ":") else { return false }
            host = bytes[(sign + 1)...]
        }
        if host.first == UInt8(ascii: "[") {
            guard let end = host.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let literal = host[..<end].dropFirst()
            guard NameFormat.isIPv6(String(decoding: literal, as: UTF8.self)) || Self.isFutureAddress(literal) else {
                return false
            }
            host = host[(end + 1)...]
            return host.isEmpty || host.first == UInt8(ascii: ":") && host.dropFirst().allSatisfy(ASCII.isDigit)
        }
        let name = host.prefix { $0 != UInt8(ascii: ":") }
        return Self.consists(name, of: "") && host[name.endIndex...].dropFirst().allSatisfy(ASCII.isDigit)
    }

    /// True for an address of a future version, such as `v1.something` (§3.2.2).
    private static func isFutureAddress(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, first | 0x20 == UInt8(ascii: "v"),
            let dot = bytes.firstIndex(of: UInt8(ascii: "."))
        else { return false }
        let version = bytes[..<dot].dropFirst()
        let address = bytes[(dot + 1)...]
        return !version.isEmpty && version.allSatisfy { ASCII.hexValue($0) != nil } && !address.isEmpty
            && !address.contains(UInt8(ascii: "%")) && Self.consists(address, of: ":")
    }

    /// True if there are only unreserved characters, sub-delimiters, `extra`, and escapes with two digits.
    private static func consists(_ bytes: ArraySlice<UInt8>, of extra: String) -> Bool {
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, rest.prefix(2).allSatisfy({ ASCII.hexValue($0) != nil }) else { return false }
                rest = rest.dropFirst(2)
            } else if !NameFormat.isLetterOrDigit(byte), !"-._~!$&'()*+,;=".utf8.contains(byte),
                !extra.utf8.contains(byte)
            {
                return false
            }
        }
        return true
    }
}
