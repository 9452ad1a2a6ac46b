// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSession
internal import PintleTrust

/// The place of responses in the cache: their URL, and whom they were given to.
struct ResponsePlace: Hashable, Sendable {
    /// The URL in normal form.
    let url: String
    /// The digest of Authorization; nil for a request without it. One session may act for several users by this field.
    let credentials: String?
}

/// A request as the cache sees it. Digests stand for credentials, so that those outlive no request: the values of the fields that
/// Vary names are kept.
struct CacheRequest: Sendable {
    let place: ResponsePlace
    let head: RequestHead

    /// - Returns: nil for a request with a Host of its own, which asks for something else than its URL says; with Authorization
    ///   that is another one for each request, so that nothing could answer twice; and where OpenSSL offers no SHA-256: without
    ///   it the responses of several users cannot be kept apart.
    init?(_ request: SessionRequest) {
        if request.fields.contains("Host") || request.hasOneTimeAuthorization { return nil }
        var fields = request.fields
        for name in ["Authorization", "Cookie", "Proxy-Authorization"] where fields.contains(name) {
            let values = fields.values(of: name).joined(separator: ", ")
            guard let digest = try? MessageDigest.sha256.digest(of: Array(values.utf8)) else { return nil }
            fields.set(name, digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
        }
        self.place = ResponsePlace(url: request.url.description, credentials: fields["Authorization"])
        self.head = RequestHead(method: request.method, target: .origin(path: request.url.path), fields: fields)
    }
}

extension SessionRequest {
    /// True for Authorization by a scheme whose values are made for one request.
    fileprivate var hasOneTimeAuthorization: Bool {
        guard let value = self.fields["Authorization"] else { return false }
        return ["digest", "negotiate", "ntlm"].contains(value.prefix { $0 != " " }.lowercased())
    }
}
