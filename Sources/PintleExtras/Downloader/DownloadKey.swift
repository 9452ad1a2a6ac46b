// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSession

/// The properties in which two requests must agree to share one transfer: all that the origin can tell apart, and the
/// settings by which the session handles the response.
///
/// Time limits, pace and service type are not part of it: those of the first request apply.
struct DownloadKey: Hashable, Sendable {
    private let method: String
    private let url: HTTPURL
    /// Values by name in lower case. The order of values with one name matters, that of the names does not (RFC 9110
    /// §5.3).
    private let fields: [String: [String]]
    private let decompression: Decompression
    private let redirects: RedirectRule
    /// Nil if the transfer goes to the origin whatever the policy is.
    private let cachePolicy: CachePolicy?

    /// - Returns: nil if the request must not share a transfer: its method may change something (RFC 9110 §9.2.1).
    init?(_ request: SessionRequest, with configuration: SessionConfiguration) {
        guard RequestHead.isSafe(request.method) else { return nil }
        self.method = request.method
        self.url = request.url
        var fields: [String: [String]] = [:]
        for (name, value) in request.fields.pairs { fields[name.lowercased(), default: []].append(value) }
        self.fields = fields
        self.decompression = request.decompression ?? configuration.decompression
        self.redirects = request.redirects ?? configuration.redirects
        let policy = request.cachePolicy ?? configuration.cachePolicy
        self.cachePolicy = configuration.cache != nil || policy == .onlyCache ? policy : nil
    }
}
