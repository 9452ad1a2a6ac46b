// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// A base URL under which a route's requests are sent.
package struct Upstream: Sendable, Hashable, CustomStringConvertible {
    package let scheme: Scheme
    package let authority: Authority
    /// Empty, or begins and ends with a slash.
    package let basePath: String

    /// Reads an absolute http or https URL.
    ///
    /// A path that is not empty gets a trailing slash if it lacks one (AFNetworking's rule for base URLs). A path that is
    /// joined to `https://api.example/v1` then goes below it, not beside it.
    ///
    /// - Throws: the reason if the URL has another scheme, a query, a fragment, user information or dot segments.
    package init(_ text: String) throws(Malformed) {
        let lowercase = text.lowercased()
        let scheme: Scheme
        let rest: Substring
        if lowercase.hasPrefix("https://") {
            scheme = .https
            rest = text.dropFirst(8)
        } else if lowercase.hasPrefix("http://") {
            scheme = .http
            rest = text.dropFirst(7)
        } else {
            throw Malformed("an upstream is an absolute http:// or https:// URL")
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) else {
            throw Malformed("an upstream is printable ASCII without spaces or backslashes: percent-encode the rest")
        }
        guard !rest.contains("?") else { throw Malformed("an upstream has no query; use request.parameters") }
        guard !rest.contains("#") else { throw Malformed("an upstream has no fragment") }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        guard !rest[..<slash].contains("@") else {
            throw Malformed("an upstream has no user information; set the Authorization field from env: or file:")
        }
        guard let authority = Authority(rest[..<slash], defaultPort: scheme.defaultPort) else {
            throw Malformed("the host or port is not valid")
        }
        let path = rest[slash...]
        guard !RequestPath.hasDotSegments(path) else { throw Malformed("an upstream has no . or .. segments") }
        self.scheme = scheme
        self.authority = authority
        // The root is the same with and without its slash. An empty path stays empty, as HSM-02 and HSM-03 have it.
        self.basePath = path.isEmpty || path.hasSuffix("/") ? String(path) : path + "/"
    }

    /// The target of a request for `path`.
    ///
    /// `https://api/v1/` and `/charges?x=1` give `https://api/v1/charges?x=1`. A path with a dot segment, in any
    /// percent-encoding, is refused rather than normalised: it could climb above the base, and no client that follows
    /// RFC 3986 sends one.
    ///
    /// - Parameters:
    ///   - path: path and query of the request, beginning with a slash.
    ///   - prefix: whole segments to remove first, without trailing slash: `/pay` is removed from `/pay` and `/pay/x`, but not
    ///     from `/payment`.
    package func target(for path: String, strippingPrefix prefix: String?) throws(Malformed) -> RequestTarget {
        let path = try self.path(for: path, strippingPrefix: prefix)
        return .absolute(scheme: self.scheme, authority: self.authority, path: path)
    }

    /// The path of `target(for:strippingPrefix:)`.
    func path(for path: String, strippingPrefix prefix: String?) throws(Malformed) -> String {
        // OPTIONS * is about the server, not about a resource below the base.
        if path == "*" { return path }
        guard path.utf8.first == UInt8(ascii: "/") else { throw Malformed("the path does not begin with a slash") }
        guard !RequestPath.hasDotSegments(path) else {
            throw Malformed("a path with . or .. segments is not sent to an upstream with a base URL")
        }
        let rest = prefix.flatMap { RequestPath.removing(prefix: $0, from: path) } ?? path[...]
        // The base ends with the slash that the rest begins with.
        return self.basePath.isEmpty ? String(rest) : self.basePath + rest.dropFirst()
    }

    /// The path from which ``path(for:strippingPrefix:)`` makes this path, beginning with a slash; nil if the path is not below
    /// the base.
    func remainder(of path: String) -> String? {
        if self.basePath.isEmpty { return path }
        guard path.hasPrefix(self.basePath) else { return nil }
        return "/" + path.dropFirst(self.basePath.utf8.count)
    }

    /// The URL in normal form.
    package var description: String {
        "\(self.scheme.rawValue)://\(self.authority.description(for: self.scheme))\(self.basePath)"
    }
}
