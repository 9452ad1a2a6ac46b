// SPDX-License-Identifier: Apache-2.0

/// The verdict on storing a response.
package enum Storability: Sendable, Equatable {
    /// It may be stored.
    case store
    /// It must not, or it would be of no use.
    case no(Reason)

    /// The first reason that was found.
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The request is none with GET.
        case method
        /// The request has a body, which is no part of the key.
        case requestBody = "request-body"
        /// The request has a field that may change the answer without being part of the key.
        case unkeyedField = "unkeyed-field"
        /// The request has the directive no-store.
        case requestNoStore = "request-no-store"
        /// The status answers the request that was sent, not the URL.
        case status
        /// The response has the directive no-store.
        case noStore = "no-store"
        /// The cache is shared and the response private.
        case isPrivate = "private"
        /// Cache-Control is not as the grammar says.
        case malformedDirectives = "malformed-cache-control"
        /// The request has Authorization, and the response no directive that allows to share its answer.
        case authorization
        /// The response sets a cookie.
        case setCookie = "set-cookie"
        /// The response depends on something that is in no field.
        case varyAny = "vary-any"
        /// The response depends on too many fields.
        case varyTooMany = "vary-too-many"
        /// The response depends on credentials that the request has.
        case varySecret = "vary-secret"
        /// The head, or the values of the selecting fields, are too long.
        case headTooLong = "head-too-long"
        /// The response has too many surrogate keys, or some that no purge would find.
        case tags
        /// The response has part of a representation that cannot be told from other parts.
        case partial
        /// Nothing gives a lifetime, and none may be guessed.
        case noLifetime = "no-lifetime"
        /// The response is stale at once and cannot be validated.
        case neverUsable = "never-usable"

        /// True where the answers to other requests for the URL will hardly be stored either: the origin wants it so.
        package var isLasting: Bool {
            switch self {
            case .noStore, .isPrivate, .malformedDirectives, .setCookie, .varyAny, .varyTooMany, .neverUsable: true
            case .method, .requestBody, .unkeyedField, .requestNoStore, .status, .authorization, .varySecret,
                .headTooLong, .tags, .partial, .noLifetime:
                false
            }
        }

        /// The reason as a log says it.
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
    /// True where a response of this verdict that is not kept shows that what is stored is out of date: it is about the URL, and
    /// not about the request or a failure of the server.
    package func outdatesStored(as status: UInt16) -> Bool {
        switch self {
        case .no(.method), .no(.requestBody), .no(.unkeyedField), .no(.requestNoStore), .no(.status): false
        case .store, .no: status < 500
        }
    }
}
