// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import PintleCache
public import PintleMessage
public import PintleSession
public import PintleStorage
internal import PintleSystem

/// A private cache in memory for the responses of a session, according to RFC 9111: the counterpart of `URLCache`.
///
///     configuration.cache = HTTPCache()
///
/// A fresh response answers without a request; a stale one is validated, and a 304 updates it. Vary, `no-store`, `no-cache` and
/// the other directives are obeyed. A successful request with an unsafe method, for example POST, removes the responses that it
/// has invalidated. Responses that are stale on arrival are kept, too, because they answer under `CachePolicy.preferCache` and
/// `CachePolicy.onlyCache`.
///
/// If the capacity is exceeded, the least recently used responses are removed until the preferred usage is reached; if the
/// system runs short of memory, all are removed. A response that takes more than one eighth of the capacity is not kept, and
/// the responses of a URL to different requests take one quarter at most. A body takes its length rounded up to a power of two:
/// a capacity of 20 MiB keeps bodies of up to 2 MiB.
///
/// The cache is for one user. Sessions with the cookies or client certificates of different users, or with different security
/// policies, need a cache each. A response to a request with Authorization answers only requests with equal Authorization. A
/// cache can be used from any thread.
public final class HTTPCache: ResponseCache {
    private let table: Locked<PrivateTable>
    private let clock: @Sendable () -> CacheTime
    private let subscription: MemoryPressure.Subscription?
    /// The moment from which the numbers of requests count.
    private let start = ContinuousClock.now
    private static let rules = PrivateCacheHost.rules

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - capacity: in bytes; 20 MiB by default. Values below 0 count as 0.
    ///   - preferredUsageAfterPurge: in bytes; 12 MiB by default. More than the capacity counts as the capacity.
    ///   - pressure: empties the cache when it rises; nil for a cache that keeps its responses then.
    public convenience init(
        capacity: Int = 20 << 20, preferredUsageAfterPurge: Int = 12 << 20, pressure: MemoryPressure? = .system
    ) {
        self.init(
            capacity: capacity, preferredUsageAfterPurge: preferredUsageAfterPurge, pressure: pressure,
            clock: CacheTime.now)
    }

    /// - Parameter clock: returns the current time.
    package init(
        capacity: Int, preferredUsageAfterPurge: Int, pressure: MemoryPressure?,
        clock: @escaping @Sendable () -> CacheTime
    ) {
        let table = Locked(
            PrivateTable(
                capacity: UInt64(max(0, capacity)), preferredUsage: UInt64(max(0, preferredUsageAfterPurge))))
        self.table = table
        self.clock = clock
        // The subscription ends with the cache, so it retains the table and not the cache.
        self.subscription = pressure?.whenItRises {
            let released = table.withLock { $0.removeAll() }
            withExtendedLifetime(released) {}
        }
    }

    // MARK: Sizes

    /// The most bytes that all responses may take together. A lower value takes effect when the next response is kept.
    public var capacity: Int {
        get { Int(clamping: self.table.withLock { $0.capacity }) }
        set { self.table.withLock { $0.capacity = UInt64(max(0, newValue)) } }
    }

    /// The number of bytes to which a purge reduces the usage. The usage may become lower, because all responses of a URL are
    /// removed together. More than the capacity counts as the capacity.
    public var preferredUsageAfterPurge: Int {
        get { Int(clamping: self.table.withLock { $0.preferredUsage }) }
        set { self.table.withLock { $0.preferredUsage = UInt64(max(0, newValue)) } }
    }

    /// The bytes that all responses take: the memory of their bodies, each rounded up to a power of two, of their heads, and 2
    /// KiB of overhead for each response.
    public var usage: Int { Int(clamping: self.table.withLock { $0.usage }) }

    /// The number of responses.
    public var count: Int { self.table.withLock { $0.count } }

    // MARK: Removing

    /// Removes the responses of a URL, whatever requests they answer. A response that is on its way is not kept either.
    ///
    /// - Returns: false if there was none.
    @discardableResult
    public func remove(_ url: HTTPURL) -> Bool {
        let removed = self.table.withLock { $0.invalidate([url.description], through: self.number(of: .now)) }
        return !removed.isEmpty
    }

    /// Removes every response. A response that is on its way is not kept either.
    ///
    /// - Returns: false if there was none.
    @discardableResult
    public func removeAll() -> Bool {
        let removed = self.table.withLock { table in
            table.invalidateAll(through: self.number(of: .now))
            return table.removeAll()
        }
        return !removed.isEmpty
    }

    // MARK: Answering

    /// Returns a response that may answer `request` under `policy`: either a fresh one, or one with conditional fields for a
    /// validation. It never returns the latter for a request with `only-if-cached` (RFC 9111 §5.2.1.7).
    @concurrent public func response(to request: SessionRequest, policy: CachePolicy) async -> CachedResponse? {
        guard let asked = CacheRequest(request), let mode = CacheMode(rawValue: policy.rawValue) else { return nil }
        let entries = self.table.withLock { $0.entries(at: asked.place) }
        switch Self.rules.decision(for: asked.head, among: entries.map(\.judged), mode: mode, now: self.clock()) {
        case .answer(let index, let age, _, let revalidate):
            // There is no revalidation in the background; so the request waits for it.
            if revalidate { return entries[index].underConditions(of: asked.head) }
            return entries[index].answer(to: asked.head, age: age)
        case .validate(let index, _, _): return entries[index].underConditions(of: asked.head)
        case .forward, .miss: return nil
        }
    }

    // MARK: Learning

    /// Keeps a response if RFC 9111 §3 allows it, in place of those that match its request, unless the response to a later
    /// request for the URL has come before, kept or not. A response that is not kept removes them, unless it concerns the
    /// request alone or is a failure of the server.
    ///
    /// A 304 to a request's own conditions updates the stored response, or removes it (§4.3.4). A 206 is not kept, but removes
    /// a stored response that it contradicts.
    @concurrent public func store(_ response: CachedResponse, to request: SessionRequest) async {
        guard let asked = CacheRequest(request) else { return }
        let times = self.times(from: response.requestTime)
        if response.head.status == 304 || response.head.status == 206 {
            return self.change(asked, askedFor: response.requestTime) { session, number in
                session.update(by: response.head, to: asked.head, at: times, mode: .protocol, number: number)
            }
        }
        let verdict = Self.rules.storability(of: response.head, to: asked.head, mode: .preferCache)
        let new = verdict == .store ? self.keepable(response, times, asked) : nil
        // A failure, or a response that concerns the request alone, is no statement about the stored responses.
        guard new != nil || verdict.outdatesStored(as: response.head.status) else { return }
        self.store(new, asked, askedFor: response.requestTime)
    }

    /// Updates a response with the 304 that confirmed it (RFC 9111 §4.3.4).
    ///
    /// - Returns: nil for a 304 that concerns another response.
    @concurrent public func confirmed(
        _ response: CachedResponse, by head: ResponseHead, to request: SessionRequest
    ) async -> CachedResponse? {
        guard let asked = CacheRequest(request) else { return nil }
        let times = self.times(from: response.requestTime)
        // Another task may have replaced it, or memory may have run short in the meantime; the response still answers.
        let known = self.table.withLock { $0.entries(at: asked.place) }.first {
            $0.response.head == response.head && Self.rules.matches($0.response, asked.head)
        }
        let length = UInt64(response.body.readableBytes)
        guard
            let stored = known?.response ?? Self.rules.stored(response.head, to: asked.head, at: times, length: length)
        else { return nil }
        let update = Self.rules.freshened(stored, by: head, to: asked.head, at: times, mode: .preferCache)
        guard let new = update.response else { return nil }
        if let known {
            self.change(asked, askedFor: response.requestTime) { $0.apply(update, to: known, by: $1) }
        }
        let body = known?.body ?? WholeBody(bytes: response.body, isDecoded: response.isDecoded)
        var answer = CacheEntry(Self.rules.judged(new), body).answer(to: asked.head, age: nil)
        // Cookies are for the user, and are not stored.
        for cookie in head.fields.values(of: "Set-Cookie") { answer?.head.fields.append("Set-Cookie", cookie) }
        return answer
    }

    /// Removes the responses that a successful response to an unsafe method has invalidated: those of its URL, and those of
    /// Location and Content-Location with the same origin (RFC 9111 §4.4). A redirect of a GET removes the responses that match
    /// the GET.
    @concurrent public func invalidate(
        after response: ResponseHead, to request: SessionRequest, requestTime: ContinuousClock.Instant
    ) async {
        if request.method == "GET" {
            // A redirect that concerns the request alone is no statement about the stored responses.
            guard let asked = CacheRequest(request),
                Self.rules.storability(of: response, to: asked.head).outdatesStored(as: response.status)
            else { return }
            // It may still be kept, if it is not followed.
            return self.store(nil, asked, askedFor: requestTime)
        }
        let key = CacheKey(partition: "", url: request.url)
        let head = RequestHead(method: request.method, target: .origin(path: request.url.path))
        let urls = Self.rules.invalidated(by: head, key: key, response: response)
        // Nothing is invalidated.
        guard !urls.isEmpty else { return }
        let removed = self.table.withLock { $0.invalidate(urls, through: self.number(of: .now)) }
        withExtendedLifetime(removed) {}
    }

    // MARK: Inside

    /// The times of an exchange whose response has just arrived. The head arrived earlier, but that changes no age: ages count
    /// from the request.
    private func times(from request: ContinuousClock.Instant) -> ExchangeTimes {
        let now = self.clock()
        let elapsed = (ContinuousClock.now - request).components.seconds
        return ExchangeTimes(request: CacheTime(seconds: now.seconds - max(0, elapsed)), response: now)
    }

    /// - Returns: nil for a response that could never answer, or that is too large.
    private func keepable(
        _ response: CachedResponse, _ times: ExchangeTimes, _ asked: CacheRequest
    ) -> CacheEntry<WholeBody>? {
        let length = UInt64(response.body.readableBytes)
        guard let stored = Self.rules.stored(response.head, to: asked.head, at: times, length: length) else {
            return nil
        }
        let judged = Self.rules.judged(stored)
        let decision = Self.rules.decision(for: asked.head, among: [judged], mode: .preferCache, now: times.response)
        if case .forward(.stale) = decision { return nil }
        let body = WholeBody(bytes: response.body.inOwnMemory, isDecoded: response.isDecoded)
        let entry = CacheEntry(judged, body)
        return entry.cost <= self.capacity / 8 ? entry : nil
    }

    /// Stores a response in place of those that its request would have got; nil only removes those.
    private func store(
        _ new: CacheEntry<WholeBody>?, _ asked: CacheRequest, askedFor time: ContinuousClock.Instant
    ) {
        // The responses of a URL to different requests may take a quarter of the capacity.
        let most = self.capacity / 4
        self.change(asked, askedFor: time) { session, number in
            guard let new else { return session.outdate(by: number, to: asked.head) ?? [] }
            return session.store(new, for: asked.head, by: number, mostCost: most) ?? []
        }
    }

    /// Changes the session of a request by the response to it.
    ///
    /// - Parameter change: gets the number of the request: requests have numbers in the order of their times.
    private func change(
        _ asked: CacheRequest, askedFor time: ContinuousClock.Instant,
        _ change: (inout PrivateTable.Session, UInt64) -> [CacheEntry<WholeBody>]
    ) {
        let number = self.number(of: time)
        let released = self.table.withLock { table in
            table.change(at: asked.place, by: number) { change(&$0, number) }
        }
        withExtendedLifetime(released) {}
    }

    /// The number of a request that was sent at a time: in nanoseconds, above 0.
    private func number(of time: ContinuousClock.Instant) -> UInt64 {
        // Requests may have been sent before the cache was made.
        let (seconds, attoseconds) = (time - self.start).components
        let billions = 2_000_000_000 + min(max(seconds, -1_000_000_000), 1_000_000_000)
        return UInt64(billions * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
