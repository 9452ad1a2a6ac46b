// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension CacheRules {
    /// The longest reference that is resolved, in bytes.
    private static let longestReference = 8192

    /// The URLs whose stored responses a response invalidates, in every partition (RFC 9111 §4.4). Success or redirection of a
    /// method that is not known to be safe invalidates the request's URL, and those in Location and Content-Location if they
    /// have the same origin; an origin must not invalidate the URLs of others.
    ///
    /// - Parameter key: the key of the request.
    /// - Returns: URLs in the form of ``CacheKey/url``, each once; empty if nothing becomes invalid.
    package func invalidated(by request: RequestHead, key: CacheKey, response: ResponseHead) -> [String] {
        // A tunnel changes nothing of what its target stands for.
        guard 200...399 ~= response.status, !RequestHead.isSafe(request.method), request.method != "CONNECT" else {
            return []
        }
        var urls = [key.url]
        guard let base = try? HTTPURL(key.url) else { return urls }
        for name in ["Location", "Content-Location"] {
            // Only one is valid; a few more are tolerated.
            for reference in response.fields.values(of: name).prefix(4) {
                guard reference.utf8.count <= Self.longestReference, let url = try? base.resolving(reference),
                    url.isSameOrigin(as: base)
                else { continue }
                let named = CacheKey(partition: key.partition, url: url).url
                if !urls.contains(named) { urls.append(named) }
            }
        }
        return urls
    }
}
