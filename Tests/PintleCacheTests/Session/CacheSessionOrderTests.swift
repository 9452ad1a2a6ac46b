// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import Testing

@testable import PintleCache

/// Courses of events in which the order of requests and responses matters.
struct CacheSessionOrderTests {
    private static let noCache: Fields = ["Cache-Control": "no-cache"]

    private static func ask(_ fields: Fields) -> CacheQuestion { SessionKey.question(fields) }

    @Test func `a stale response without a validator answers if the origin fails and it may`() throws {
        let key = SessionKey()
        key.store(key.entry(key.head("max-age=1, stale-if-error=60", tag: nil)))
        key.now = key.now + 30
        let firstMade = key.ask()
        let first = try #require(firstMade)
        #expect(key.plan(of: first.fetch)?.conditions.isEmpty == true)
        let (delivery, waiters) = key.session.fail(first.fetch, .unreachable, at: key.now)
        #expect(delivery?.waiters.map(\.waiter) == [1] && waiters.isEmpty)
        #expect(delivery?.response.outcome(isOwn: true) == .stale)
        let secondMade = key.ask()
        let second = try #require(secondMade)
        guard case .ended(let other, nil, _) = key.received(key.head(nil, status: 503, tag: nil), by: second.fetch)
        else {
            Issue.record("the failure is given")
            return
        }
        #expect(other.response.outcome(isOwn: true) == .stale && other.response.upstreamStatus == 503)
        key.now = key.now + 60
        let thirdMade = key.ask()
        let third = try #require(thirdMade)
        let end = key.session.fail(third.fetch, .unreachable, at: key.now)
        #expect(end.delivery == nil && end.waiters.count == 1)
    }

    // MARK: One client is given the response to another

    @Test func `a client that wants another variant than the one under way begins a fetch for all who do`() throws {
        let key = SessionKey()
        let firstMade = key.ask(Self.ask(["X-Variant": "1"]))
        let first = try #require(firstMade)
        let delivery = key.begin(key.head("max-age=60", ["Vary": "X-Variant"]), by: first)
        let other = Self.ask(["X-Variant": "2"])
        #expect(delivery?.response.refusal(of: other, at: key.now) == .varyMiss)
        let secondMade = key.ask(other, by: 2)
        let thirdMade = key.wait(other, by: 3)
        let second = try #require(secondMade)
        #expect(second.fetch != first.fetch && thirdMade?.fetch == second.fetch)
        let secondDelivery = key.begin(key.head("max-age=60", ["Vary": "X-Variant"]), by: second)
        #expect(secondDelivery?.waiters.map(\.waiter) == [2, 3])
        #expect(secondDelivery?.response.refusal(of: other, at: key.now) == nil)
    }

    @Test func `LOOK-61: a stored part that is renewed is not given to a client that joins for the whole`() throws {
        let key = SessionKey()
        key.store(key.entry(key.head("max-age=1, stale-while-revalidate=60"), 0..<50))
        key.now = key.now + 30
        guard case .entry(_, _, _, let renewal?) = key.put(Self.ask(["Range": "bytes=0-9"])) else {
            Issue.record("the part is not renewed")
            return
        }
        key.note(renewal)
        key.session.ask(renewal.number)
        let ticketMade = key.wait(by: 2)
        let ticket = try #require(ticketMade)
        #expect(ticket.fetch == renewal.number)
        guard case .ended(let delivery, _, _) = key.received(key.head("max-age=60", status: 304), by: renewal.number)
        else {
            Issue.record("the part is not confirmed")
            return
        }
        #expect(delivery.waiters.map(\.waiter) == [2])
        #expect(delivery.response.refusal(of: SessionKey.question(), at: key.now) == .partial)
        guard case .forward(.partial, _?) = key.session.askAlone(SessionKey.question(), by: 2, .partial, at: key.now)
        else {
            Issue.record("the client does not ask by itself")
            return
        }
    }

    @Test(
        arguments: [
            ("max-age=60, public", "1", "2", Self.none, nil),
            ("max-age=0, must-revalidate", "1", "2", Self.none, .stale),
            ("max-age=0, must-revalidate", "1", "1", Self.none, .stale),
            ("no-cache", nil, nil, Self.none, .stale),
            (nil, nil, nil, Self.none, nil),
            (nil, nil, "1", Self.none, .stale),
            (nil, nil, nil, Self.noCache, .stale),
            ("max-age=60", nil, nil, Self.noCache, .stale),
        ] as [(String?, String?, String?, Fields, ForwardReason?)])
    func `LOOK-66: a client that waited gets only a response that it could use without asking, or a silent one`(
        directives: String?, first: String?, second: String?, wishes: Fields, refusal: ForwardReason?
    ) throws {
        let key = SessionKey()
        func fields(_ user: String?) -> Fields { user.map { ["Authorization": "Bearer \($0)"] } ?? [:] }
        let ticketMade = key.ask(Self.ask(fields(first)))
        let ticket = try #require(ticketMade)
        var other = fields(second)
        for (name, value) in wishes.pairs { other.append(name, value) }
        _ = key.wait(Self.ask(other), by: 2)
        let deliveryMade = key.begin(key.head(directives), by: ticket)
        let delivery = try #require(deliveryMade)
        #expect(delivery.waiters.map(\.isOwner) == [true, false])
        #expect(delivery.response.refusal(of: Self.ask(other), at: key.now) == refusal)
    }

    private static let none: Fields = [:]

    // MARK: A later request is answered first

    @Test func `LOOK-67: of two requests the later one counts, though it is answered first`() {
        let key = SessionKey()
        let first = key.session.beginSingle()
        let second = key.session.beginSingle()
        #expect(key.store(key.entry(key.head("max-age=60", tag: "\"new\"")), by: second))
        #expect(!key.store(key.entry(key.head("max-age=60", tag: "\"old\"")), by: first))
        #expect(key.session.outdate(by: first, to: SessionKey.question().request) == nil)
        #expect(key.session.entries.map { $0.response.head.fields.values(of: "ETag") } == [["\"new\""]])
    }

    @Test func `LOOK-67: a response that is not stored shows that earlier ones are out of date`() {
        let key = SessionKey()
        let first = key.session.beginSingle()
        let second = key.session.beginSingle()
        #expect(key.session.outdate(by: second, to: SessionKey.question().request) != nil)
        #expect(!key.store(key.entry(key.head("max-age=60")), by: first))
    }

    @Test func `LOOK-67: a head that shows another state revokes the responses to earlier requests`() throws {
        let key = SessionKey()
        key.store(key.entry(key.head("max-age=60", tag: "\"old\"")))
        let ticketMade = key.ask(Self.ask(Self.noCache))
        let ticket = try #require(ticketMade)
        let begun = key.begin(key.head("max-age=60", tag: "\"old\""), by: ticket)
        _ = try #require(begun)
        let number = key.session.beginSingle()
        let head = SessionKey.question(method: "HEAD").request
        let gone = key.session.update(
            by: key.head("max-age=60", tag: "\"new\""), to: head, at: key.times, mode: .protocol, number: number)
        #expect(gone.count == 1 && key.session.isRevoked(ticket.fetch))
        #expect(!key.store(key.entry(key.head("max-age=60", tag: "\"old\"")), by: ticket.fetch))
    }

    @Test(arguments: [("new", 2, true), ("old", 2, false), ("new", 0, false)])
    func `a head that shows another state than a response on its way revokes it`(
        tag: String, order: Int, isRevoked: Bool
    ) throws {
        let key = SessionKey()
        let early = key.session.beginSingle()
        let ticketMade = key.ask()
        let ticket = try #require(ticketMade)
        let begun = key.begin(key.head("max-age=60", tag: "\"old\""), by: ticket)
        _ = try #require(begun)
        let number = order == 0 ? early : key.session.beginSingle()
        _ = key.session.update(
            by: key.head("max-age=60", tag: "\"\(tag)\""), to: SessionKey.question(method: "HEAD").request,
            at: key.times, mode: .protocol, number: number)
        #expect(key.session.isRevoked(ticket.fetch) == isRevoked)
    }

    @Test func `LOOK-67: a stored part shows that another state that has come meanwhile is out of date`() throws {
        let key = SessionKey()
        let first = key.session.beginSingle()
        let second = key.session.beginSingle()
        let request = Self.ask(["Range": "bytes=0-9"]).request
        let head = key.head("max-age=60", status: 206, tag: "\"new\"", ["Content-Range": "bytes 0-9/100"])
        #expect(key.store(key.entry(key.head("max-age=60", tag: "\"old\"")), by: first))
        let part = try #require(PartialResponse(head, to: request))
        let times = key.times
        let stored = key.session.store(
            part, for: request, by: second, at: times, mode: .protocol, longest: 1000, hasRoom: { _ in true }
        ) { joined, _ in
            CacheEntry(SessionHost.rules.judged(joined.response), SessionBytes(0..<10, of: 1), bodyCost: 0)
        }
        #expect(stored?.gone.count == 1)
        #expect(key.session.entries.map { $0.response.head.fields.values(of: "ETag") } == [["\"new\""]])
    }

    @Test func `LOOK-67: a confirmed response is not beside one that an earlier request has brought meanwhile`() throws
    {
        let key = SessionKey()
        key.store(key.entry(key.head("max-age=1", tag: "\"old\"")))
        key.now = key.now + 30
        let early = key.session.beginSingle()
        let ticketMade = key.ask()
        let ticket = try #require(ticketMade)
        #expect(key.store(key.entry(key.head("max-age=60", tag: "\"other\"")), by: early))
        guard
            case .ended(_, let update, _) = key.received(
                key.head("max-age=60", status: 304, tag: "\"old\""), by: ticket.fetch)
        else {
            Issue.record("the response is not confirmed")
            return
        }
        // An update would give the head of one response the bytes of another in the second tier.
        #expect(update == .outdated)
        #expect(key.session.entries.isEmpty)
    }

    // MARK: Removals and the second tier

    @Test func `LOOK-89: a response that is found is not stored if a removal has covered it meanwhile`() {
        let key = SessionKey()
        guard case .search(let number) = key.put(searches: true) else {
            Issue.record("the second tier is not searched")
            return
        }
        key.session.note(tags: ["tag"], of: number)
        _ = key.session.remove(.tag("other"), at: SessionHost.url)
        #expect(!key.session.isRevoked(number))
        _ = key.session.remove(.tag("tag"), at: SessionHost.url)
        #expect(key.session.isRevoked(number))
        #expect(key.session.store(found: key.entry(key.head("max-age=60")), by: number, hasRoom: true) == nil)
    }

    @Test func `LOOK-89: a key is settled again when its changes are carried out`() {
        let key = SessionKey()
        key.session.beginChange()
        key.session.beginChange()
        key.session.endChange()
        #expect(key.session.isUnsettled && !key.session.isEmpty)
        key.session.endChange()
        #expect(!key.session.isUnsettled && key.session.isEmpty)
    }

    @Test func `a response that is found is not stored if a newer one has gone to the second tier meanwhile`() {
        let key = SessionKey()
        let early = key.session.beginSingle()
        guard case .search(let number) = key.put(searches: true) else {
            Issue.record("the second tier is not searched")
            return
        }
        #expect(key.store(key.entry(key.head("max-age=60", tag: "\"new\"")), by: early, hasRoom: false))
        let found = key.entry(key.head("max-age=60", tag: "\"old\""))
        #expect(key.session.store(found: found, by: number, hasRoom: true) == nil)
        #expect(key.session.entries.isEmpty)
    }

    // MARK: Searches and changes of the second tier

    @Test func `a search waits for the changes that began before it, and for no others`() throws {
        let key = SessionKey()
        for _ in 0..<2 { key.session.beginChange() }
        let made = key.search()
        let number = try #require(made)
        key.session.beginChange()
        key.session.endChange()
        #expect(key.session.hasToWait(number))
        key.session.endChange()
        #expect(!key.session.hasToWait(number) && key.session.isUnsettled)
    }

    @Test func `a response that was found before a change of the tier began is searched for once more`() throws {
        let key = SessionKey()
        let made = key.search()
        let first = try #require(made)
        key.session.beginChange()
        let old = key.entry(key.head("max-age=60", tag: "\"old\""))
        #expect(key.session.store(found: old, by: first, hasRoom: true) == nil)
        let repeated = key.search(after: (first, old))
        let second = try #require(repeated)
        #expect(key.session.hasToWait(second))
        key.session.endChange()
        #expect(!key.session.hasToWait(second))
        let new = key.entry(key.head("max-age=60", tag: "\"new\""))
        guard case .entry(let entry, _, _, _) = key.put(after: (second, new), searches: true) else {
            Issue.record("the response that was found last does not answer")
            return
        }
        #expect(entry.id == new.id)
    }

    @Test(arguments: [true, false])
    func `a search is repeated once, and not for a key whose responses are not shared`(isUncacheable: Bool) throws {
        let key = SessionKey()
        let made = key.search()
        var number = try #require(made)
        if !isUncacheable {
            key.session.beginChange()
            let repeated = key.search(after: (number, nil))
            number = try #require(repeated)
        }
        key.session.beginChange()
        let entry = key.entry(key.head("max-age=60"))
        let reply = key.session.put(
            SessionKey.question(), by: 1, after: (number, entry), searches: true, isUncacheable: isUncacheable,
            at: key.now)
        switch reply {
        case .wait(_, _?, .uriMiss): #expect(!isUncacheable)
        case .forward(.uriMiss, _?): #expect(isUncacheable)
        default: Issue.record("the origin is not asked")
        }
    }

    @Test func `a response that was found is not validated once an earlier request has brought another`() throws {
        let key = SessionKey()
        let early = key.session.beginSingle()
        let made = key.search()
        let number = try #require(made)
        // It is long, and goes to the second tier alone.
        #expect(key.store(key.entry(key.head("max-age=60", tag: "\"new\"")), by: early, hasRoom: false))
        let old = key.entry(key.head("max-age=0", tag: "\"old\""))
        // A confirmation of the old one would give its head to the new body.
        #expect(key.search(after: (number, old)) != nil)
    }

    @Test func `a response that has begun is joined while a search would have to wait`() throws {
        let key = SessionKey()
        let ticketMade = key.ask()
        let ticket = try #require(ticketMade)
        key.session.beginChange()
        #expect(key.search() != nil)
        let begun = key.begin(key.head("max-age=60"), by: ticket)
        _ = try #require(begun)
        guard case .join = key.put(by: 2, searches: true) else {
            Issue.record("the response is not joined")
            return
        }
        guard case .search = key.put(SessionKey.question(["Cache-Control": "only-if-cached"]), searches: true) else {
            Issue.record("a response that is not stored yet answers, or the second tier is not searched")
            return
        }
        key.session.endChange()
        #expect(key.search() != nil)
    }

    @Test func `a response that is found counts, however many variants there are in memory`() throws {
        let key = SessionKey()
        func variant(_ number: Int) -> SessionKey.Entry {
            let response = StoredResponse(
                head: key.head("max-age=60", ["Vary": "X-Variant"]), requestTime: key.now, responseTime: key.now,
                selecting: [SelectingField(name: "x-variant", value: Array("\(number)".utf8))], length: 100)
            return CacheEntry(SessionHost.rules.judged(response), SessionBytes(0..<100, of: 0), bodyCost: 0)
        }
        for number in 0..<SessionHost.rules.variantLimit { key.store(variant(number)) }
        #expect(key.session.entries.count == SessionHost.rules.variantLimit)
        let question = SessionKey.question(["X-Variant": "other"])
        guard case .search(let number) = key.put(question, searches: true) else {
            Issue.record("the second tier is not searched")
            return
        }
        let response = StoredResponse(
            head: key.head("max-age=60", ["Vary": "X-Variant"]), requestTime: key.now, responseTime: key.now,
            selecting: [SelectingField(name: "x-variant", value: Array("other".utf8))], length: 100)
        let found = CacheEntry(SessionHost.rules.judged(response), SessionBytes(0..<100, of: 0), bodyCost: 0)
        guard case .entry(let entry, _, _, _) = key.put(question, after: (number, found), searches: true) else {
            Issue.record("the response that was found does not answer")
            return
        }
        #expect(entry.id == found.id)
    }

    // MARK: Clients that leave

    @Test func `a client that leaves late does not end the wait of another after the key was forgotten`() throws {
        let key = SessionKey()
        let ticketMade = key.ask()
        let ticket = try #require(ticketMade)
        #expect(key.session.fail(ticket.fetch, .unreachable, at: key.now).waiters.count == 1)
        // The host forgets a session that holds nothing. The client does not know yet that the fetch has failed.
        #expect(key.session.isEmpty)
        key.session = SessionKey.Session()
        let otherMade = key.ask(by: 2)
        let other = try #require(otherMade)
        #expect(key.session.leave(ticket) == nil)
        #expect(key.session.giveUp(other.fetch) == false)
    }
}
