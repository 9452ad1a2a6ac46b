// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// A request that is put to a cache, with the settings that apply to it.
package struct CacheQuestion: Sendable {
    /// The head as the origin would get it.
    package let request: RequestHead
    /// Nil if nothing is stored, and identical requests are only merged while one of them is under way.
    package let mode: CacheMode?
    /// True if the request waits for an identical one that is under way.
    package let joins: Bool
    /// True if requests wait for a place at the origin. Such a wait belongs to a fetch, even if only one client gets its response.
    package let isQueued: Bool
    /// True if the response could be shared: the request is for the whole representation, without conditions of the client.
    let isShareable: Bool
    /// True if no field of the request may change the response without being part of the key.
    let isKeyed: Bool

    package init(_ request: RequestHead, mode: CacheMode?, joins: Bool, isQueued: Bool) {
        (self.request, self.mode, self.joins, self.isQueued) = (request, mode, joins, isQueued)
        self.isKeyed = UnkeyedFields.first(in: request.fields) == nil
        self.isShareable =
            self.isKeyed && request.method == "GET"
            && ["Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since"]
                .allSatisfy { !request.fields.contains($0) }
    }
}

/// The result of putting a request to a ``CacheSession``.
package enum CacheReply<Host: CacheHost>: Sendable {
    /// A stored response answers.
    ///
    /// - `staleness`: its age minus its freshness lifetime, in seconds.
    /// - `renewal`: a fetch to begin in the background, without a client (RFC 5861 §3).
    case entry(CacheEntry<Host.Body>, StoredAnswer, staleness: Int64, renewal: CacheFetchPlan<Host>?)
    /// The second tier is to be searched; then the request is put again. The number is that of the search.
    case search(UInt64)
    /// The client waits for a fetch; `plan` is there if that fetch is to begin now.
    case wait(FetchTicket, plan: CacheFetchPlan<Host>?, ForwardReason)
    /// The response to an earlier request has begun to arrive, and answers this one, too.
    case join(FetchedResponse<Host>, ForwardReason)
    /// The request goes to the origin for this client alone. The number is that of its response if the cache observes it.
    case forward(ForwardReason, observed: UInt64?)
    /// The origin may not be asked, and no stored response answers (RFC 9111 §5.2.1.7).
    case miss
}

/// The place of a client that waits for a fetch.
package struct FetchTicket: Sendable, Equatable {
    /// The number of the fetch.
    package let fetch: UInt64
    /// 0 for the client whose request the origin gets.
    let place: UInt64
}

/// A request that a cache makes to the origin.
package struct CacheFetchPlan<Host: CacheHost>: Sendable {
    package let number: UInt64
    /// The head for the origin, without the conditions of a validation.
    package let request: RequestHead
    package let mode: CacheMode
    /// True if the response is to be stored.
    package let keeps: Bool
    /// The stored response that is validated, or that may answer if the origin fails.
    package let validated: CacheEntry<Host.Body>?
    /// The conditional fields of the validation.
    package let conditions: Fields
}
