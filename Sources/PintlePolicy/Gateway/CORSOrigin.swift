// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// An origin of web pages, or a pattern of origins, as a member of `cors.origins`.
package struct CORSOrigin: Sendable, Hashable, CustomStringConvertible {
    /// The text in the form in which browsers send it; `*` for every origin.
    package let description: String
    /// The text before and behind the labels that `*.` stands for; nil without a star.
    private let parts: (prefix: String, suffix: String)?

    /// True for `*`.
    package var isAny: Bool { self.description == "*" }

    /// Reads `https://app.example`, `http://localhost:5173`, `https://*.app.example` or `*`.
    package init(_ text: String) throws(Malformed) {
        if text == "*" {
            (self.description, self.parts) = (text, nil)
            return
        }
        guard text != "null" else {
            throw Malformed(
                "is the origin of pages without one, which any site can make; name the origins, or write \"*\"")
        }
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard Self.isScheme(scheme), text.dropFirst(scheme.utf8.count).hasPrefix("://") else {
            throw Malformed("an origin has a scheme and a host, as in https://app.example")
        }
        var rest = text.dropFirst(scheme.utf8.count + 3)
        guard !rest.contains("/"), !rest.contains("?"), !rest.contains("#") else {
            throw Malformed("an origin has no path: browsers send scheme, host and port alone")
        }
        let isPattern = rest.hasPrefix("*.")
        if isPattern { rest = rest.dropFirst(2) }
        let port = Authority(rest, defaultPort: nil)?.port
        guard !rest.contains("*"), let authority = Authority(rest, defaultPort: Scheme.http.defaultPort) else {
            throw Malformed("must be an origin, as in https://app.example, or have *. before its host")
        }
        if let port, port == Scheme(rawValue: scheme)?.defaultPort {
            throw Malformed("browsers leave out the port of the scheme; leave out :\(port)")
        }
        let host = authority.isIPv6 ? "[\(authority.host)]" : authority.host
        let end = port.map { "\(host):\($0)" } ?? host
        self.description = "\(scheme)://\(isPattern ? "*." : "")\(end)"
        self.parts = isPattern ? ("\(scheme)://", ".\(end)") : nil
    }

    /// True if the value of an Origin field is this origin, or one of the pattern.
    package func matches(_ origin: String) -> Bool {
        if self.isAny { return true }
        guard let parts else { return origin == self.description }
        guard origin.utf8.count > parts.prefix.utf8.count + parts.suffix.utf8.count, origin.hasPrefix(parts.prefix),
            origin.hasSuffix(parts.suffix)
        else { return false }
        let labels = origin.dropFirst(parts.prefix.utf8.count).dropLast(parts.suffix.utf8.count)
        return labels.utf8.allSatisfy(Self.isHostByte) && labels.utf8.first != UInt8(ascii: ".")
    }

    private static func isScheme(_ text: String) -> Bool {
        guard let first = text.utf8.first, ASCII.lowercased(first) &- 0x61 < 26 else { return false }
        return text.utf8.allSatisfy { byte in
            ASCII.lowercased(byte) &- 0x61 < 26 || ASCII.isDigit(byte) || [0x2B, 0x2D, 0x2E].contains(byte)
        }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte &- 0x61 < 26 || ASCII.isDigit(byte) || [0x2D, 0x2E, 0x5F].contains(byte)
    }

    package static func == (left: Self, right: Self) -> Bool { left.description == right.description }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.description) }
}
