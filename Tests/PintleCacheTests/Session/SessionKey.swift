// SPDX-License-Identifier: Apache-2.0

import PintleMessage

@testable import PintleCache

/// A session, with the calls that a test makes again and again.
final class SessionKey {
    typealias Session = CacheSession<SessionHost>
    typealias Entry = CacheEntry<SessionBytes>

    var session = Session()
    var now = CacheTime(seconds: 1_767_225_600)
    private var plans: [UInt64: CacheFetchPlan<SessionHost>] = [:]

    static func question(_ fields: Fields = [:], method: String = "GET", isQueued: Bool = false) -> CacheQuestion {
        let request = RequestHead(method: method, target: .origin(path: "/"), fields: fields)
        return CacheQuestion(request, mode: .protocol, joins: true, isQueued: isQueued)
    }

    /// A head of the origin.
    func head(_ directives: String?, status: UInt16 = 200, tag: String? = "\"a\"", _ more: Fields = [:]) -> ResponseHead
    {
        var fields = more
        fields.append("Date", HTTPDate.text(self.now.seconds))
        fields.append("Cache-Tag", "tag")
        if let directives { fields.append("Cache-Control", directives) }
        if let tag { fields.append("ETag", tag) }
        return ResponseHead(status: status, fields: fields)
    }

    var times: ExchangeTimes { ExchangeTimes(request: self.now, response: self.now) }

    /// An entry with the response to a plain GET.
    func entry(_ head: ResponseHead, _ range: Range<UInt64>? = nil) -> Entry {
        let response = StoredResponse(
            head: head, requestTime: self.now, responseTime: self.now, length: 100, range: range, tags: ["tag"])
        return Entry(SessionHost.rules.judged(response), SessionBytes(range ?? 0..<100, of: 0), bodyCost: 0)
    }

    func put(
        _ question: CacheQuestion = question(), by waiter: Int = 1,
        after search: (number: UInt64, found: Entry?)? = nil, searches: Bool = false
    ) -> CacheReply<SessionHost> {
        self.session.put(
            question, by: waiter, after: search, searches: searches, isUncacheable: false, at: self.now)
    }

    /// Puts a question that begins a search.
    func search(after search: (number: UInt64, found: Entry?)? = nil) -> UInt64? {
        guard case .search(let number) = self.put(after: search, searches: true) else { return nil }
        return number
    }

    /// Puts a question whose answer is that a client waits.
    func wait(_ question: CacheQuestion = question(), by waiter: Int = 1) -> FetchTicket? {
        guard case .wait(let ticket, let plan, _) = self.put(question, by: waiter) else { return nil }
        if let plan { self.note(plan) }
        return ticket
    }

    /// Begins a fetch for a client, and sends it to the origin.
    func ask(_ question: CacheQuestion = question(), by waiter: Int = 1) -> FetchTicket? {
        let ticket = self.wait(question, by: waiter)
        if let ticket { self.session.ask(ticket.fetch) }
        return ticket
    }

    func received(_ head: ResponseHead, by number: UInt64) -> FetchStep<SessionHost> {
        self.session.received(head, length: 100, at: self.times, by: number, isRepeated: false)
    }

    /// Answers a fetch with a response that begins.
    func begin(_ head: ResponseHead, by ticket: FetchTicket) -> FetchDelivery<SessionHost>? {
        guard case .began(let stored, _) = self.received(head, by: ticket.fetch),
            let plan = self.plan(of: ticket.fetch)
        else { return nil }
        let response = FetchedResponse<SessionHost>(
            head, length: 100, stored: stored, SessionBytes(0..<100, of: 0), reason: nil, of: plan)
        return self.session.answer(ticket.fetch, with: response)
    }

    /// Begins a fetch.
    func note(_ plan: CacheFetchPlan<SessionHost>) {
        self.plans[plan.number] = plan
        self.session.begin(plan.number, by: plan.number)
    }

    func plan(of number: UInt64) -> CacheFetchPlan<SessionHost>? { self.plans[number] }

    /// Stores a response by the number of a request.
    func store(_ entry: Entry, by number: UInt64, hasRoom: Bool = true) -> Bool {
        self.session.store(entry, for: Self.question().request, by: number, hasRoom: hasRoom) != nil
    }

    /// Stores a response by a request that begins now.
    func store(_ entry: Entry) {
        let number = self.session.beginSingle()
        _ = self.store(entry, by: number)
        self.session.endSingle(number)
    }
}
