// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension CacheRules {
    /// The most bytes of a reference that is resolved.
    private static let longestReference = 8192

    /// The URLs whose stored responses an answer makes invalid, in every partition (RFC 9111 §4.4): after a success
    /// or a redirect of a method that is not known to be safe, that of the request, and those that Location and
    /// Content-Location name, as long as they have the same origin. Others could name anybody's.
    ///
    /// - Parameter key: of the request.
    /// - Returns: URLs as ``CacheKey/url`` has them, each once; none where nothing becomes invalid.
    package func invalidated(by request: RequestHead, key: CacheKey, response: ResponseHead) -> [String] {
        // A tunnel changes nothing of what its target stands for.
        guard 200...399 ~= response.status, !RequestHead.isSafe(request.method), request.method != "CONNECT" else {
            return []
        }
        var urls = [key.url]
        guard let base = try? HTTPURL(key.url) else { return urls }
        for name in ["Location", "Content-Location"] {
            // One is valid; of more than a few nobody could mean all.
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
