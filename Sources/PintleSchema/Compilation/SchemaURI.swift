// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A URI or a reference to one (RFC 3986 §4.1), which may also be the path of a file. Resolving never fails.
struct SchemaURI: Hashable {
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    init(_ text: String) {
        var rest = text[...]
        if let hash = rest.firstIndex(of: "#") {
            self.fragment = String(rest[rest.index(after: hash)...])
            rest = rest[..<hash]
        }
        if let colon = rest.firstIndex(of: ":"), Self.isScheme(rest[..<colon]) {
            self.scheme = rest[..<colon].lowercased()
            rest = rest[rest.index(after: colon)...]
        }
        if let mark = rest.firstIndex(of: "?") {
            self.query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if rest.hasPrefix("//") {
            let name = rest.dropFirst(2).prefix { $0 != "/" }
            self.authority = String(name)
            rest = rest[name.endIndex...]
        }
        self.path = String(rest)
    }

    /// The URI without its fragment.
    var text: String {
        (self.scheme.map { $0 + ":" } ?? "") + (self.authority.map { "//" + $0 } ?? "") + self.path
            + (self.query.map { "?" + $0 } ?? "")
    }

    /// True if there is nothing except a fragment.
    var isSameDocument: Bool {
        self.scheme == nil && self.authority == nil && self.path.isEmpty && self.query == nil
    }

    /// The reference resolved against `base` (§5.2.2), with its own fragment. A relative base gives a relative result.
    func resolved(against base: SchemaURI) -> SchemaURI {
        var result = self
        if self.scheme == nil {
            result.scheme = base.scheme
            if self.authority == nil {
                result.authority = base.authority
                if self.path.isEmpty {
                    result.path = base.path
                    result.query = self.query ?? base.query
                } else if !self.path.hasPrefix("/") {
                    result.path = Self.merged(base, self.path)
                }
            }
        }
        if self.path.isEmpty, self.scheme == nil { return result }
        result.path = Self.withoutDots(result.path)
        return result
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, ASCII.lowercased(first) &- 0x61 < 26 else { return false }
        return text.utf8.allSatisfy {
            ASCII.isDigit($0) || ASCII.lowercased($0) &- 0x61 < 26 || "+-.".utf8.contains($0)
        }
    }

    private static func merged(_ base: SchemaURI, _ path: String) -> String {
        if base.authority != nil, base.path.isEmpty { return "/" + path }
        guard let slash = base.path.lastIndex(of: "/") else { return path }
        return base.path[...slash] + path
    }

    /// The path without `.` and `..` (§5.2.4). Segments that lead out of a relative path stay, as it may be the path of a
    /// file.
    private static func withoutDots(_ path: String) -> String {
        let isAbsolute = path.hasPrefix("/")
        let segments = (isAbsolute ? path.dropFirst() : path[...]).split(
            separator: "/", omittingEmptySubsequences: false)
        var kept: [Substring] = []
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                if let last = kept.last, last != ".." { kept.removeLast() } else if !isAbsolute { kept.append("..") }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return (isAbsolute ? "/" : "") + kept.joined(separator: "/")
    }
}
