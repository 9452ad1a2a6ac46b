// SPDX-License-Identifier: Apache-2.0

/// A request of a cache to the origin, and the clients that wait for its response (collapsed forwarding, RFC 9111 §4).
struct CacheFetch<Host: CacheHost>: Sendable {
    enum State: Sendable {
        /// The request waits for its place at the origin.
        case queued
        /// The origin has the request.
        case asking
        /// The response has begun to arrive, or its body is being written to the second tier.
        case answered(FetchedResponse<Host>)
    }

    let plan: CacheFetchPlan<Host>
    var state = State.queued
    /// Nil until the object that carries out the fetch is known.
    var fetcher: Host.Fetcher?
    /// True if a removal by surrogate key has covered the response.
    var isRevoked = false
    private var waiters: [UInt64: Host.Waiter] = [:]
    /// Place 0 is that of the client whose request the origin gets, whenever it joins.
    private var nextPlace: UInt64 = 1

    init(_ plan: CacheFetchPlan<Host>) { self.plan = plan }

    /// Nil until the response has begun to arrive.
    var response: FetchedResponse<Host>? { if case .answered(let response) = self.state { response } else { nil } }

    /// The surrogate keys of the response; nil until they are known.
    var tags: [String]? { self.response.map { $0.stored?.tags ?? [] } }

    var hasWaiters: Bool { !self.waiters.isEmpty }

    mutating func add(_ waiter: Host.Waiter, isOwner: Bool) -> FetchTicket {
        let place = isOwner ? 0 : self.nextPlace
        if !isOwner { self.nextPlace += 1 }
        self.waiters[place] = waiter
        return FetchTicket(fetch: self.plan.number, place: place)
    }

    mutating func remove(_ ticket: FetchTicket) { self.waiters[ticket.place] = nil }

    /// Takes the waiting clients, in the order in which they joined.
    mutating func takeWaiters() -> [(waiter: Host.Waiter, isOwner: Bool)] {
        defer { self.waiters = [:] }
        return self.waiters.sorted { $0.key < $1.key }.map { ($0.value, $0.key == 0) }
    }
}
