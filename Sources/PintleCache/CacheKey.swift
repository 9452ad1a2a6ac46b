// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The first part of what a stored response is found by (RFC 9111 §2). The second are its ``StoredResponse/selecting``
/// fields.
///
/// Two requests have one key only if the origin could not tell them apart by what they are aimed at: path and query are
/// compared byte for byte, so `/a`, `/%61` and `/A` are three keys.
package struct CacheKey: Hashable, Sendable {
    /// The part of the cache that the owner of the request may use, such as a route and a trust policy. Answers never
    /// cross from one partition to another.
    package let partition: String
    /// The absolute URL: scheme and host in lower case, no port where it is the scheme's own, path and query as the
    /// origin gets them. Visible ASCII, so that equal texts are equal bytes.
    package let url: String

    /// Makes a key of a URL that is already in that form.
    package init(partition: String, url: String) {
        self.partition = partition
        self.url = url
    }

    /// Makes a key of the parts of a request's target.
    ///
    /// - Parameter path: path and query as they go to the origin.
    /// - Returns: nil where the path has bytes beyond visible ASCII, which no target has: as text they could be equal
    ///   to other bytes.
    package init?(partition: String, scheme: Scheme, authority: Authority, path: String) {
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        self.init(
            partition: partition, url: "\(scheme.rawValue)://\(authority.description(for: scheme))\(path)")
    }

    /// By the URL alone: it has few partitions, and their names are long.
    package func hash(into hasher: inout Hasher) { hasher.combine(self.url) }

    /// Makes a key of a URL, which has a path in visible ASCII.
    package init(partition: String, url: HTTPURL) {
        self.init(partition: partition, url: url.description)
    }
}
