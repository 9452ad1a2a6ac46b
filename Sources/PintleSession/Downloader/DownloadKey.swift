// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The parts that two requests must share to be one transfer: all that the origin could tell them apart by, and what the
/// session makes of its answer.
///
/// Time limits, pace and service type are not in it: they are those of the request that came first.
struct DownloadKey: Hashable, Sendable {
    private let method: String
    private let url: HTTPURL
    /// Values in their order, which counts; names are in lower case, and their order does not count (RFC 9110 §5.3).
    private let fields: [String: [String]]
    private let decompression: Decompression
    private let redirects: RedirectRule
    /// Nil where the transfer goes to the origin whatever the policy is.
    private let cachePolicy: CachePolicy?

    /// - Returns: nil where two requests are always two transfers: their method may change something (RFC 9110 §9.2.1).
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
