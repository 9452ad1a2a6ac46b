// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSession
internal import PintleTrust

/// The key of responses in the cache: their URL, and the credentials of their requests.
struct ResponsePlace: Hashable, Sendable {
    /// The URL in normal form.
    let url: String
    /// The digest of Authorization; nil for a request without it. A session may use the field to act for several users.
    let credentials: String?
}

/// A request in the form for the cache. Credentials are replaced by digests, so that none is kept longer than its request: the
/// cache keeps the values of the fields that Vary names.
struct CacheRequest: Sendable {
    let place: ResponsePlace
    let head: RequestHead

    /// - Returns: nil for a request with a Host of its own, which asks for another resource than its URL; for a request with
    ///   Authorization that is different for each request, so that no response could answer twice; and if OpenSSL has no
    ///   SHA-256, without which the responses of several users cannot be separated.
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
