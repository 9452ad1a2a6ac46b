// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import PintleCache
public import PintleMessage
public import PintleSession
public import PintleStorage
internal import PintleSystem

/// Responses of a session in memory, by the rules of the cache of one user (RFC 9111): `URLCache` for sessions of this library.
///
///     configuration.cache = HTTPCache()
///
/// What is fresh answers without a request, and what is stale is validated: a 304 brings it up to date. Vary, `no-store`,
/// `no-cache` and the other directives are obeyed, and what a successful POST or the like has changed goes. What answers under
/// `CachePolicy.preferCache` and `CachePolicy.onlyCache` is kept, too, though it be stale at once.
///
/// The responses that were not used for longest go when the capacity is exceeded, down to the preferred usage, and all go when the
/// system runs short of memory. A response that takes more than an eighth of the capacity is not kept, and the responses of a URL
/// to different requests take a quarter at most. A body takes its length rounded up to a power of two: with a capacity of 20 MiB
/// those of up to 2 MiB are kept.
///
/// The cache is one user's: sessions with the cookies or client certificates of different users, or with different security
/// policies, have a cache each. A response to a request with Authorization answers only requests with the same one.
/// A cache can be used from any thread.
public final class HTTPCache: ResponseCache {
    private let kept: Locked<KeptResponses>
    private let clock: @Sendable () -> CacheTime
    private let subscription: MemoryPressure.Subscription?
    private static let rules = CacheRules.ofOneUser

    /// Makes an empty cache.
    ///
    /// - Parameters:
    ///   - capacity: in bytes; 20 MiB unless given. Less than 0 counts as 0.
    ///   - preferredUsageAfterPurge: in bytes; 12 MiB unless given. More than the capacity counts as the capacity.
    ///   - pressure: its rising empties the cache; nil for a cache that keeps its responses then.
    public convenience init(
        capacity: Int = 20 << 20, preferredUsageAfterPurge: Int = 12 << 20, pressure: MemoryPressure? = .system
    ) {
        self.init(
            capacity: capacity, preferredUsageAfterPurge: preferredUsageAfterPurge, pressure: pressure,
            clock: CacheTime.now)
    }

    /// - Parameter clock: tells the time of the day.
    package init(
        capacity: Int, preferredUsageAfterPurge: Int, pressure: MemoryPressure?,
        clock: @escaping @Sendable () -> CacheTime
    ) {
        let kept = Locked(
            KeptResponses(
                capacity: UInt64(max(0, capacity)), preferredUsage: UInt64(max(0, preferredUsageAfterPurge)),
                limit: Self.rules.variantLimit))
        self.kept = kept
        self.clock = clock
        // The subscription ends with the cache, which it must not keep.
        self.subscription = pressure?.whenItRises { [weak kept] in
            let released = kept?.withLock { $0.removeAll() }
            withExtendedLifetime(released) {}
        }
    }

    // MARK: Sizes

    /// The bytes that responses may take together. A lower one purges nothing until the next response is kept.
    public var capacity: Int {
        get { Int(clamping: self.kept.withLock { $0.capacity }) }
        set { self.kept.withLock { $0.capacity = UInt64(max(0, newValue)) } }
    }

    /// The bytes to which a purge brings the usage, or fewer: whole URLs go. More than the capacity counts as the capacity.
    public var preferredUsageAfterPurge: Int {
        get { Int(clamping: self.kept.withLock { $0.preferredUsage }) }
        set { self.kept.withLock { $0.preferredUsage = UInt64(max(0, newValue)) } }
    }

    /// The bytes that all responses take: the memory of their bodies, each rounded up to a power of two, and of their heads, and
    /// 2 KiB for what holds each of them.
    public var usage: Int { Int(clamping: self.kept.withLock { $0.usage }) }

    /// The number of responses.
    public var count: Int { self.kept.withLock { $0.count } }

    // MARK: Removing

    /// Removes the responses of a URL, whatever requests they answer. What is on its way from there is not kept either.
    ///
    /// - Returns: false where there was none.
    @discardableResult
    public func remove(_ url: HTTPURL) -> Bool {
        let removed = self.kept.withLock { $0.invalidate([url.description], at: .now) }
        return !removed.isEmpty
    }

    /// Removes every response. What is on its way is not kept either.
    ///
    /// - Returns: false where there was none.
    @discardableResult
    public func removeAll() -> Bool {
        let removed = self.kept.withLock { kept in
            kept.invalidateAll(at: .now)
            return kept.removeAll()
        }
        return !removed.isEmpty
    }

    // MARK: Answering

    /// Returns what may answer `request` under `policy`: a fresh response, or one with conditions by which the origin is to
    /// confirm it; none with conditions to a request with `only-if-cached` (RFC 9111 §5.2.1.7).
    @concurrent public func response(to request: SessionRequest, policy: CachePolicy) async -> CachedResponse? {
        guard let asked = CacheRequest(request), let mode = CacheMode(rawValue: policy.rawValue) else { return nil }
        let kept = self.kept.withLock { $0.use(asked.place) }
        switch Self.rules.decision(for: asked.head, among: kept.map(\.judged), mode: mode, now: self.clock()) {
        case .answer(let index, let age, _, let revalidate):
            // Nobody asks the origin in the background, so that the one who wants the response waits for it.
            if revalidate { return kept[index].underConditions(of: asked.head) }
            return kept[index].answer(to: asked.head, age: age)
        case .validate(let index, _, _): return kept[index].underConditions(of: asked.head)
        case .forward, .miss: return nil
        }
    }

    // MARK: Learning

    /// Keeps a response where RFC 9111 §3 allows it, in the place of those that its request has matched, unless one of them was
    /// asked for later. One that is not kept removes them, but for an answer about the request alone and a failure of the server.
    ///
    /// A 304 to a request's own conditions brings what is kept up to date, or removes it (§4.3.4). A 206 is not kept, and removes
    /// what it is no part of.
    @concurrent public func store(_ response: CachedResponse, to request: SessionRequest) async {
        guard let asked = CacheRequest(request) else { return }
        let times = self.times(from: response.requestTime)
        if response.head.status == 304 || response.head.status == 206 {
            return self.learn(from: response, times, asked)
        }
        let verdict = Self.rules.storability(of: response.head, to: asked.head, mode: .preferCache)
        let new = verdict == .store ? self.keepable(response, times, asked) : nil
        // A failure, and an answer about the request alone, say nothing of what is stored.
        guard new != nil || verdict.outdatesStored(as: response.head.status) else { return }
        self.keep(new, asked, askedFor: response.requestTime)
    }

    /// Brings a response up to date by the 304 that has confirmed it (RFC 9111 §4.3.4).
    ///
    /// - Returns: nil for a 304 that is about another response.
    @concurrent public func confirmed(
        _ response: CachedResponse, by head: ResponseHead, to request: SessionRequest
    ) async -> CachedResponse? {
        guard let asked = CacheRequest(request) else { return nil }
        let times = self.times(from: response.requestTime)
        // Another task may have replaced it, or memory may have run short meanwhile: it answers all the same.
        let known = self.kept.withLock { $0.use(asked.place) }.first {
            $0.response.head == response.head && Self.rules.matches($0.response, asked.head)
        }
        let length = UInt64(response.body.readableBytes)
        guard
            let stored = known?.response ?? Self.rules.stored(response.head, to: asked.head, at: times, length: length)
        else { return nil }
        let update = Self.rules.freshened(stored, by: head, to: asked.head, at: times, mode: .preferCache)
        guard let new = update.response else { return nil }
        if let known { self.change(known, by: update, at: asked.place, askedFor: response.requestTime) }
        let kept = KeptResponse(
            Self.rules.judged(new), known?.body ?? response.body, isDecoded: known?.isDecoded ?? response.isDecoded,
            askedFor: response.requestTime)
        var answer = kept.answer(to: asked.head, age: nil)
        // They are the user's, and are not stored.
        for cookie in head.fields.values(of: "Set-Cookie") { answer?.head.fields.append("Set-Cookie", cookie) }
        return answer
    }

    /// Removes what a successful answer to an unsafe method has changed: the responses of its URL, and of Location and
    /// Content-Location of the same origin (RFC 9111 §4.4). A redirect of a GET removes what that request has matched.
    @concurrent public func invalidate(after response: ResponseHead, to request: SessionRequest) async {
        if request.method == "GET" {
            // A redirect that is about the request alone says nothing of what is stored.
            guard let asked = CacheRequest(request),
                Self.rules.storability(of: response, to: asked.head).outdatesStored(as: response.status)
            else { return }
            return self.keep(nil, asked, askedFor: .now)
        }
        let key = CacheKey(partition: "", url: request.url)
        let head = RequestHead(method: request.method, target: .origin(path: request.url.path))
        let urls = Self.rules.invalidated(by: head, key: key, response: response)
        guard !urls.isEmpty else { return }
        let removed = self.kept.withLock { $0.invalidate(urls, at: .now) }
        withExtendedLifetime(removed) {}
    }

    // MARK: Inside

    /// The times of an exchange whose response is here now. That the head came earlier changes no age: all of them count from
    /// the request.
    private func times(from request: ContinuousClock.Instant) -> ExchangeTimes {
        let now = self.clock()
        let elapsed = (ContinuousClock.now - request).components.seconds
        return ExchangeTimes(request: CacheTime(seconds: now.seconds - max(0, elapsed)), response: now)
    }

    /// - Returns: nil for what would never answer, or is too large.
    private func keepable(_ response: CachedResponse, _ times: ExchangeTimes, _ asked: CacheRequest) -> KeptResponse? {
        let length = UInt64(response.body.readableBytes)
        guard let stored = Self.rules.stored(response.head, to: asked.head, at: times, length: length) else {
            return nil
        }
        let judged = Self.rules.judged(stored)
        let decision = Self.rules.decision(for: asked.head, among: [judged], mode: .preferCache, now: times.response)
        if case .forward(.stale) = decision { return nil }
        let kept = KeptResponse(
            judged, response.body.inOwnMemory, isDecoded: response.isDecoded, askedFor: response.requestTime)
        return kept.cost <= self.capacity / 8 ? kept : nil
    }

    /// - Parameter new: nil for one that is not kept.
    private func keep(_ new: KeptResponse?, _ asked: CacheRequest, askedFor time: ContinuousClock.Instant) {
        let released = self.kept.withLock { kept in
            kept.keep(new, at: asked.place, askedFor: time) { Self.rules.matches($0.response, asked.head) }
        }
        withExtendedLifetime(released) {}
    }

    private func learn(from response: CachedResponse, _ times: ExchangeTimes, _ asked: CacheRequest) {
        let kept = self.kept.withLock { $0.use(asked.place) }
        let updates = Self.rules.updates(of: kept.map(\.response), by: response.head, to: asked.head, at: times)
        for (index, update) in updates {
            self.change(kept[index], by: update, at: asked.place, askedFor: response.requestTime)
        }
    }

    private func change(
        _ known: KeptResponse, by update: CacheUpdate, at place: ResponsePlace, askedFor time: ContinuousClock.Instant
    ) {
        let new: KeptResponse?
        switch update {
        case .store(let response):
            new = KeptResponse(
                Self.rules.judged(response), known.body, isDecoded: known.isDecoded, askedFor: time)
        case .answerOnce(_, _, keepsStored: false), .outdated: new = nil
        case .answerOnce(_, _, keepsStored: true), .unrelated: return
        }
        let released = self.kept.withLock { $0.change(known, to: new, at: place, askedFor: time) }
        withExtendedLifetime(released) {}
    }
}
