// SPDX-License-Identifier: Apache-2.0

extension HTTPURL {
    /// Returns the URL of `reference`, resolved against this URL as the base (RFC 3986 §5.2, strict).
    ///
    /// Dot segments of the result's path are removed; those that would climb above the root are dropped. A dot that is
    /// written `%2e` does not make a dot segment. An empty reference, or one that is only a fragment, means the base
    /// itself, with its query.
    ///
    /// - Parameter reference: an absolute URL, `//host/path`, `/path`, `path`, or `?query`; read as by ``init(_:)``.
    /// - Throws: the errors of ``init(_:)`` except `.relative`; `http:path`, which has no host, is `.invalidHost`.
    public func resolving(_ reference: String) throws(HTTPURLError) -> HTTPURL {
        let reference = try URLReference(reference, schemeOfBase: self.scheme)
        let query = reference.query.map { "?\($0)" } ?? ""
        if let (scheme, authority) = reference.origin {
            let path = Self.removingDotSegments(reference.path.isEmpty ? "/" : reference.path)
            return HTTPURL(scheme: scheme, authority: authority, path: path + query)
        }
        if reference.path.isEmpty {
            return reference.query == nil ? self : self.replacing(path: self.pathWithoutQuery + query)
        }
        let base = self.pathWithoutQuery
        let merged =
            reference.path.utf8.first == UInt8(ascii: "/")
            ? reference.path
            : base[...(base.lastIndex(of: "/") ?? base.startIndex)] + reference.path
        return self.replacing(path: Self.removingDotSegments(merged) + query)
    }

    /// Returns the URL as a base for relative references: with a slash at the end of its path.
    ///
    /// `http://example.com/v1` becomes `http://example.com/v1/`, so that `foo` is resolved to a path below `v1`, not beside
    /// it. A query stays, but only an empty reference inherits it.
    public func asBase() -> HTTPURL {
        let path = self.pathWithoutQuery
        guard !path.hasSuffix("/") else { return self }
        return self.replacing(path: path + "/" + self.path[path.endIndex...])
    }

    private func replacing(path: some StringProtocol) -> HTTPURL {
        HTTPURL(scheme: self.scheme, authority: self.authority, path: String(path))
    }

    /// Removes dot segments from a path that begins with a slash (RFC 3986 §5.2.4).
    private static func removingDotSegments(_ path: String) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard segments.contains(where: { $0 == "." || $0 == ".." }) else { return path }
        var kept: [Substring] = []
        for segment in segments where segment != "." {
            if segment == ".." {
                _ = kept.popLast()
            } else {
                kept.append(segment)
            }
        }
        // A dot segment at the end stands for a folder.
        if segments.last == "." || segments.last == ".." { kept.append("") }
        return "/" + kept.joined(separator: "/")
    }
}
