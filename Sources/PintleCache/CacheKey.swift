// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The primary part of a cache key (RFC 9111 §2). The ``StoredResponse/selecting`` fields are the secondary part.
///
/// Two requests have one key only if the origin cannot distinguish their targets: path and query are compared byte for byte, so
/// `/a`, `/%61` and `/A` are three keys.
package struct CacheKey: Hashable, Sendable {
    /// The part of the cache that the request may use, for example that of a route and a trust policy. Responses never cross
    /// from one partition to another.
    package let partition: String
    /// The absolute URL: scheme and host in lower case, no port if it is the scheme's default, path and query as sent to the
    /// origin. It is visible ASCII, so that equal texts are equal bytes.
    package let url: String

    /// Makes a key from a URL that is already in that form.
    package init(partition: String, url: String) {
        self.partition = partition
        self.url = url
    }

    /// Makes a key from the parts of a request's target.
    ///
    /// - Parameter path: path and query as sent to the origin.
    /// - Returns: nil if the path has bytes other than visible ASCII, which no valid target has; compared as text, they could
    ///   equal different bytes.
    package init?(partition: String, scheme: Scheme, authority: Authority, path: String) {
        guard path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        self.init(
            partition: partition, url: "\(scheme.rawValue)://\(authority.description(for: scheme))\(path)")
    }

    /// Hashes the URL alone: a URL is in few partitions, and partition names are long.
    package func hash(into hasher: inout Hasher) { hasher.combine(self.url) }

    /// Makes a key from a URL; its path is visible ASCII.
    package init(partition: String, url: HTTPURL) {
        self.init(partition: partition, url: url.description)
    }
}
