// SPDX-License-Identifier: Apache-2.0

/// The verdict on storing a response.
package enum Storability: Sendable, Equatable {
    /// The response may be stored.
    case store
    /// The response must not be stored, or storing it would be useless.
    case no(Reason)

    /// The first reason found.
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The method is not GET.
        case method
        /// The request has a body; bodies are not part of the cache key.
        case requestBody = "request-body"
        /// The request has a field that may change the response and is not part of the cache key.
        case unkeyedField = "unkeyed-field"
        /// The request has the directive no-store.
        case requestNoStore = "request-no-store"
        /// The status concerns the request instead of the URL.
        case status
        /// The response has the directive no-store.
        case noStore = "no-store"
        /// The cache is shared and the response private.
        case isPrivate = "private"
        /// Cache-Control breaks the grammar.
        case malformedDirectives = "malformed-cache-control"
        /// The request has Authorization, and the response has no directive that allows sharing.
        case authorization
        /// The response sets a cookie.
        case setCookie = "set-cookie"
        /// The response depends on more than request fields.
        case varyAny = "vary-any"
        /// The response depends on too many fields.
        case varyTooMany = "vary-too-many"
        /// The response depends on credentials that the request has.
        case varySecret = "vary-secret"
        /// The head, or the values of the selecting fields, are too long.
        case headTooLong = "head-too-long"
        /// The response has too many surrogate keys, or invalid ones that a purge could not find.
        case tags
        /// The response has a part of a representation that cannot be identified.
        case partial
        /// The response has no lifetime, and a heuristic is not allowed.
        case noLifetime = "no-lifetime"
        /// The response is stale at once and cannot be validated.
        case neverUsable = "never-usable"

        /// True if responses to other requests for the URL will probably not be stored either, because the origin decides so.
        package var isLasting: Bool {
            switch self {
            case .noStore, .isPrivate, .malformedDirectives, .setCookie, .varyAny, .varyTooMany, .neverUsable: true
            case .method, .requestBody, .unkeyedField, .requestNoStore, .status, .authorization, .varySecret,
                .headTooLong, .tags, .partial, .noLifetime:
                false
            }
        }

        /// The reason in words, for logs.
        package var words: String {
            switch self {
            case .method: "the request is none with GET"
            case .requestBody: "the request has a body"
            case .unkeyedField: "the request has a field that may change the answer and is no part of the key"
            case .requestNoStore: "the request has the directive no-store"
            case .status: "the status is about this request alone"
            case .noStore: "the response has the directive no-store"
            case .isPrivate: "the response is private"
            case .malformedDirectives: "the response's Cache-Control is malformed"
            case .authorization: "the request has Authorization and the response does not allow to share it"
            case .setCookie: "the response sets a cookie"
            case .varyAny: "the response varies by more than fields"
            case .varyTooMany: "the response varies by more than \(Variance.nameLimit) fields"
            case .varySecret: "the response varies by credentials that the request has"
            case .headTooLong: "the head is too long"
            case .tags: "the surrogate keys are too many, too long or malformed"
            case .partial: "the part has no strong validator, no known length or no head of its own"
            case .noLifetime: "the response has no lifetime"
            case .neverUsable: "the response is stale at once and has no validator"
            }
        }
    }
}

extension Storability {
    /// True if a response with this verdict shows that stored ones are out of date although it is not kept: it concerns the URL
    /// instead of the request, and is not a failure of the server.
    package func outdatesStored(as status: UInt16) -> Bool {
        switch self {
        case .no(.method), .no(.requestBody), .no(.unkeyedField), .no(.requestNoStore), .no(.status): false
        case .store, .no: status < 500
        }
    }
}
