// SPDX-License-Identifier: Apache-2.0

import PintleMessage

@testable import PintleCache

/// The rules for the responses that clients get from a session, in terms of the origin's responses alone.
struct SessionLaw {
    /// The way by which a client gets a response.
    enum Way {
        /// From the origin, for this client's request.
        case own
        /// From the cache, after the origin has confirmed it for this client's request.
        case confirmed
        /// The response to another client's request, while that one was under way.
        case shared
        /// From the cache, because the origin has failed.
        case stale
        /// From the cache.
        case stored

        var name: String { "\(self)" }
    }

    /// A response that a client gets.
    struct Gift {
        let client: Int
        let ask: SessionCourse.Ask
        /// The event at which the client asked.
        let asked: Int
        let head: ResponseHead
        let bytes: SessionBytes
        let range: Range<UInt64>
        let way: Way
    }

    /// A response that was stored, or has shown that earlier ones are out of date.
    private struct News {
        let response: SessionOrigin.Response
        let event: Int
    }

    let name = CacheStatus.Name("model")
    var breaches: [String] = []
    private var removals: [(event: Int, selection: CacheSelection)] = []
    private var news: [News] = []

    // MARK: Notes

    mutating func note(_ removal: CacheSelection, at event: Int) { self.removals.append((event, removal)) }

    mutating func noteNews(_ response: SessionOrigin.Response, at event: Int) {
        self.news.append(News(response: response, event: event))
    }

    // MARK: Rules

    mutating func checkMayAsk(_ client: Int, _ ask: SessionCourse.Ask) {
        let mayNot = ask.mode == .onlyCache || (ask.kind == .onlyIfCached && ask.mode != .mergeOnly)
        if mayNot { self.breaches.append("client \(client) is sent to the origin, which it does not want") }
    }

    mutating func check(_ entries: [CacheEntry<SessionBytes>]) {
        if entries.count > SessionHost.rules.variantLimit { self.breaches.append("there are \(entries.count) entries") }
        let parts = entries.count { !$0.response.isComplete }
        if parts > 8 { self.breaches.append("there are \(parts) parts") }
        for entry in entries {
            let held = entry.response.range ?? 0..<entry.response.length
            if entry.body.sources(of: held) == nil { self.breaches.append("an entry lacks bytes") }
        }
    }

    mutating func check(_ gift: Gift, from origin: SessionOrigin, at now: CacheTime, event: Int) {
        func fail(_ words: String) { self.breaches.append("client \(gift.client) (\(gift.way.name)): \(words)") }
        guard let newest = origin.response(of: gift.head) else { return fail("a head of no origin") }
        if gift.way == .own {
            if newest.asker != gift.client { fail("the response to another request as its own") }
            return
        }
        guard let ids = gift.bytes.sources(of: gift.range) else { return fail("bytes that were not stored") }
        let sources = ids.map { origin.responses[$0] } + [newest]
        for source in sources where source.asker != gift.client {
            if source.version.varies, source.ask.variant != gift.ask.variant { fail("another variant") }
            if !source.use.isShareable(from: source.ask, source.status) { fail("a response for one client alone") }
            let limit = gift.way == .stored ? event + 1 : gift.asked
            if self.isRemoved(source, before: limit) { fail("a response that was removed") }
            if source.representation != newest.representation { fail("bytes of another version") }
        }
        if gift.way == .stored, gift.ask.mode == .ignoreLocal || gift.ask.mode == .mergeOnly {
            fail("a stored response, which its mode forbids")
        }
        if gift.way != .confirmed, gift.head.fields.contains("Set-Cookie") { fail("a cookie") }
        if newest.asker == gift.client { return }
        if !self.isUsable(newest, gift, at: now) { fail("a response that may not be used without asking") }
        if self.isOutdated(newest, for: gift) { fail("a response that a later one has replaced") }
    }

    private func isRemoved(_ response: SessionOrigin.Response, before limit: Int) -> Bool {
        self.removals.contains { event, selection in
            response.sent < event && event < limit
                && selection.covers(SessionHost.url, tags: [response.version.surrogateKey])
        }
    }

    private func isUsable(_ response: SessionOrigin.Response, _ gift: Gift, at now: CacheTime) -> Bool {
        let age = now.seconds - response.time.seconds
        if gift.way == .stale { return response.use.isUsableAfterFailure(at: age, by: gift.ask) }
        if response.use.isUsable(at: age, by: gift.ask) { return true }
        let isEqual = response.ask.user == gift.ask.user && response.ask.cookie == gift.ask.cookie
        return gift.way == .shared && response.use == .nothing && isEqual && gift.ask.kind != .noCache
    }

    /// True if the response to a later request had shown another state before the client asked.
    private func isOutdated(_ response: SessionOrigin.Response, for gift: Gift) -> Bool {
        guard let order = response.order else { return true }
        return self.news.contains { news in
            let later = news.response
            guard let place = later.order, place > order, news.event < gift.asked,
                !response.version.varies || response.ask.variant == later.ask.variant,
                Self.isComparable(response, with: later)
            else { return false }
            return later.representation != response.representation || later.use == .isPrivate || later.use == .noStore
        }
    }

    /// False if a later part, or a later response to HEAD, does not tell that another response is out of date (RFC 9111 §3.4,
    /// §4.3.5).
    private static func isComparable(_ earlier: SessionOrigin.Response, with later: SessionOrigin.Response) -> Bool {
        if later.status == 206 { return earlier.version.status == 200 && earlier.version.tag == .strong }
        return later.ask.kind != .head || earlier.version.status == 200
    }

    /// Checks that a response that was just stored answers its request, if it is fresh.
    mutating func probe(
        _ session: CacheSession<SessionHost>, _ entry: CacheEntry<SessionBytes>, _ request: SessionOrigin.Request,
        from origin: SessionOrigin, at now: CacheTime
    ) {
        guard let stored = origin.response(of: entry.response.head) else { return }
        let ask = SessionCourse.Ask(variant: request.ask.variant)
        guard stored.use.isUsable(at: now.seconds - request.time.seconds, by: ask) else { return }
        var session = session
        let reply = session.put(
            ask.question(isQueued: false, tag: nil), by: 0, searches: false, isUncacheable: false, at: now)
        if case .entry(let given, _, _, _) = reply, given.id == entry.id { return }
        self.breaches.append("a fresh response that was just stored does not answer")
    }
}
