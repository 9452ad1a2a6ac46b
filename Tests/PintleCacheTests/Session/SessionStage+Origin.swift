// SPDX-License-Identifier: Apache-2.0

import PintleMessage

@testable import PintleCache

// MARK: Fetches

extension SessionStage {
    /// A fetch that the session has planned.
    struct Fetch {
        let plan: CacheFetchPlan<SessionHost>
        let ask: SessionCourse.Ask
        /// The client that has caused it; nil for a renewal in the background.
        let asker: Int?
        /// True if the cache wants the response even if no client waits for it.
        var isForCache: Bool
        /// True if the client that has caused it has found a response in the second tier.
        let hasFound: Bool
        var isRepeated = false
        /// Nil while it is queued.
        var request: SessionOrigin.Request?
        /// The origin's part of the response.
        var answer = SessionCourse.Answer()
        var response: Fetched?
        var readers: Set<Int> = []
        /// True once all bytes are there; the fetch may wait for the second tier.
        var isOver = false
    }

    var queued: [UInt64] { self.fetches.filter { $0.value.request == nil }.map(\.key) }

    func request(_ head: RequestHead, _ ask: SessionCourse.Ask, _ asker: Int?, _ number: UInt64?)
        -> SessionOrigin.Request
    {
        SessionOrigin.Request(
            head: head, ask: ask, asker: asker, order: number.map { $0 + self.earlierNumbers }, sent: self.event,
            time: self.now, version: self.origin.version)
    }

    /// Begins a fetch.
    ///
    /// - Parameter asker: nil for a renewal in the background.
    func begin(_ plan: CacheFetchPlan<SessionHost>, _ ask: SessionCourse.Ask, by asker: Int?) {
        let hasFound = asker.flatMap { self.clients[$0]?.hasFound } ?? false
        self.fetches[plan.number] = Fetch(
            plan: plan, ask: ask, asker: asker, isForCache: asker == nil, hasFound: hasFound)
        self.session.begin(plan.number, by: plan.number)
        if !self.course.isQueued { self.send(plan.number, isConditional: true) }
    }

    func send(_ number: UInt64, isConditional: Bool) {
        guard let fetch = self.fetches[number] else { return }
        self.session.ask(number)
        let plan = fetch.plan
        let head =
            plan.conditions.isEmpty || !isConditional
            ? plan.request : CacheRules.validating(plan.request, with: plan.conditions)
        self.fetches[number]?.request = self.request(head, fetch.ask, fetch.asker, number)
    }

    /// The fetches and the clients whose requests the origin has not answered, the fetches first.
    private var unanswered: [(fetch: UInt64?, client: Int)] {
        self.fetches.filter { $0.value.request != nil && $0.value.response == nil }.keys.sorted().map { ($0, 0) }
            + self.bypasses.filter { !$0.value.isAnswered }.keys.sorted().map { (nil, $0) }
    }

    func answer(_ index: Int, _ answer: SessionCourse.Answer) {
        let all = self.unanswered
        guard !all.isEmpty else { return }
        let (fetch, client) = all[index % all.count]
        if let fetch { self.answer(fetch: fetch, answer) } else { self.answer(bypass: client, answer) }
    }

    func fail(_ index: Int) {
        let all = self.unanswered
        guard !all.isEmpty else { return }
        let (fetch, client) = all[index % all.count]
        if let fetch { return self.fail(fetch, .unreachable) }
        self.count("failure")
        self.endBypass(client)
        self.clients[client] = nil
    }

    func fail(_ number: UInt64, _ failure: OriginFailure) {
        guard self.fetches.removeValue(forKey: number) != nil else { return }
        let (delivery, waiters) = self.session.fail(number, failure, at: self.now)
        if let delivery { _ = self.deliver(delivery) }
        for (id, isOwner) in waiters { self.send(Mail(client: id, response: nil, isOwn: isOwner, hasReader: false)) }
    }

    /// Gives a client the end of its wait, at once or in its turn.
    private func send(_ mail: Mail) {
        guard let client = self.clients[mail.client], case .waiting = client.state, !client.isServed else {
            return self.breaches.append("client \(mail.client) does not wait, and is given the end of a fetch")
        }
        self.clients[mail.client]?.isServed = true
        self.clients[mail.client]?.judged = self.now
        if self.course.isRemote { self.mail.append(mail) } else { self.receive(mail) }
    }

    private func answer(fetch number: UInt64, _ answer: SessionCourse.Answer) {
        guard let fetch = self.fetches[number], let request = fetch.request else { return }
        let head = self.origin.answer(request, answer, at: self.now)
        let length = head.status == 304 || head.status == 503 ? 0 : self.origin.response(of: head)?.version.length ?? 0
        let times = ExchangeTimes(request: request.time, response: self.now)
        let step = self.session.received(
            head, length: length, at: times, by: number, isRepeated: fetch.isRepeated)
        switch step {
        case .ended(let delivery, let update, _):
            self.fetches[number] = nil
            if let update, let validated = fetch.plan.validated { self.apply(update, to: validated) }
            _ = self.deliver(delivery)
        case .askAgain:
            if fetch.isRepeated { self.breaches.append("fetch \(number) is sent three times") }
            self.fetches[number]?.isRepeated = true
            self.send(number, isConditional: false)
        case .began(let stored, let verdict):
            self.fetches[number]?.answer = answer
            self.begin(fetch, head, length, stored, verdict, hasBody: answer.hasBody)
        }
    }

    /// Passes the consequence of a validation to the second tier.
    private func apply(_ update: CacheUpdate, to validated: Entry) {
        self.noteNews(of: self.origin.responses.count - 1)
        guard self.course.hasTier else { return }
        if case .store(let response) = update {
            self.tier.add(.update(validated, to: response), in: &self.session)
        } else {
            self.tier.add(.remove(validated), in: &self.session)
        }
    }

    private func begin(
        _ fetch: Fetch, _ head: ResponseHead, _ length: UInt64, _ stored: StoredResponse?, _ verdict: Storability,
        hasBody: Bool
    ) {
        let (plan, number) = (fetch.plan, fetch.plan.number)
        var reason: Storability.Reason?
        if case .no(let known) = verdict { reason = known }
        let response = Fetched(
            head, length: length, stored: hasBody ? stored : nil,
            SessionBytes(0..<length, of: self.origin.responses.count - 1), reason: reason, of: plan)
        self.fetches[number]?.response = response
        if plan.keeps, response.stored == nil, verdict.outdatesStored(as: head.status), let request = fetch.request {
            self.outdate(by: number, request, mayBeStored: fetch.hasFound || plan.validated != nil)
        }
        if reason?.isLasting == true { self.uncacheable = self.now + 3 }
        if !response.isKept { self.fetches[number]?.isForCache = false }
        if !self.deliver(self.session.answer(number, with: response)) { self.giveUpIfUnwanted(number) }
    }

    func outdate(by number: UInt64, _ request: SessionOrigin.Request, mayBeStored: Bool) {
        guard let gone = self.session.outdate(by: number, to: request.head) else { return }
        self.noteNews(of: self.origin.responses.count - 1)
        let isUncacheable = self.uncacheable.map { self.now < $0 } ?? false
        guard self.course.hasTier, mayBeStored || !gone.isEmpty || !isUncacheable else { return }
        let change = SessionTier.Change.learn { stored in
            stored.indices.filter { SessionHost.rules.matches(stored[$0], request.head) }.map { ($0, .outdated) }
        }
        self.tier.add(change, in: &self.session)
    }

    /// Gives a response to the clients that wait for it.
    ///
    /// - Returns: true if it has a reader.
    private func deliver(_ delivery: FetchDelivery<SessionHost>) -> Bool {
        let response = delivery.response
        var hasReader = false
        for (id, isOwner) in delivery.waiters {
            let reads = response.stored != nil || isOwner
            if reads, let number = response.fetch { self.fetches[number]?.readers.insert(id) }
            self.send(Mail(client: id, response: response, isOwn: isOwner, hasReader: reads))
            hasReader = hasReader || reads
        }
        return hasReader
    }

    /// Notes that a response was stored, or has shown that earlier ones are out of date.
    func noteNews(of response: Int) { self.law.noteNews(self.origin.responses[response], at: self.event) }

    /// Ends a fetch if no client wants the response any more.
    func giveUpIfUnwanted(_ number: UInt64) {
        guard let fetch = self.fetches[number], !fetch.isOver, !fetch.isForCache else { return }
        if fetch.response == nil {
            if self.session.giveUp(number) { self.fetches[number] = nil }
        } else if fetch.readers.isEmpty {
            self.storeBeginning(of: fetch, 8)
            self.endFetch(number)
        }
    }

    func endFetch(_ number: UInt64) {
        guard self.fetches.removeValue(forKey: number) != nil else { return }
        self.session.end(number)
    }

    // MARK: Bodies

    /// Ends a body.
    ///
    /// - Parameter count: the bytes after which it breaks off; nil if all arrive.
    func end(_ index: Int, after count: UInt64?) {
        let fetches = self.fetches.filter { $0.value.response != nil && !$0.value.isOver }.keys.sorted()
        let bypasses = self.bypasses.filter { $0.value.isAnswered }.keys.sorted()
        guard !fetches.isEmpty || !bypasses.isEmpty else { return }
        let place = index % (fetches.count + bypasses.count)
        if place < fetches.count { return self.end(fetch: fetches[place], after: count) }
        let id = bypasses[place - fetches.count]
        self.storeCopy(of: id, after: count)
        self.endBypass(id)
        self.clients[id] = nil
    }

    private func end(fetch number: UInt64, after count: UInt64?) {
        guard let fetch = self.fetches[number] else { return }
        for (id, client) in self.clients {
            if case .reading(number) = client.state { self.clients[id] = nil }
        }
        if let count {
            self.storeBeginning(of: fetch, count)
            return self.endFetch(number)
        }
        guard let response = fetch.response, response.isKept, let stored = response.stored, let request = fetch.request
        else { return self.endFetch(number) }
        let entry = Entry(SessionHost.rules.judged(stored), response.body, bodyCost: 0)
        let waits = fetch.answer.isLong && self.course.hasTier
        self.fetches[number]?.isOver = waits
        let isStored = self.store(
            entry, by: number, request, hasRoom: fetch.answer.hasRoom && !waits, ending: waits ? number : nil)
        if !waits || !isStored { self.endFetch(number) }
    }

    /// - Returns: false if the response is revoked.
    func store(
        _ entry: Entry, by number: UInt64, _ request: SessionOrigin.Request, hasRoom: Bool, ending fetch: UInt64? = nil
    ) -> Bool {
        guard self.session.store(entry, for: request.head, by: number, hasRoom: hasRoom) != nil else { return false }
        entry.body.pieces.forEach { self.noteNews(of: $0.response) }
        self.uncacheable = nil
        if self.course.hasTier {
            self.tier.add(.store(entry, request.head), in: &self.session, ending: fetch)
        }
        if hasRoom { self.law.probe(self.session, entry, request, from: self.origin, at: self.now) }
        return true
    }

    func store(
        _ part: PartialResponse, _ bytes: SessionBytes, by number: UInt64, _ request: SessionOrigin.Request,
        _ times: ExchangeTimes, _ mode: CacheMode, hasRoom: Bool
    ) {
        let stored = self.session.store(
            part, for: request.head, by: number, at: times, mode: mode, longest: 60, hasRoom: { _ in hasRoom }
        ) { joined, others in
            SessionBytes(
                others.flatMap(\.body.pieces) + bytes.pieces, joined.response.range ?? 0..<joined.response.length
            ).map { Entry(SessionHost.rules.judged(joined.response), $0, bodyCost: 0) }
        }
        guard let stored else { return }
        // The beginning of a body that broke off is not the news that the whole would have been.
        if !part.isBeginning { bytes.pieces.forEach { self.noteNews(of: $0.response) } }
        self.uncacheable = nil
        if self.course.hasTier, stored.new.response.isComplete {
            self.tier.add(.store(stored.new, request.head), in: &self.session)
        }
    }

    /// Stores the beginning of a body that broke off.
    private func storeBeginning(of fetch: Fetch, _ count: UInt64) {
        guard let response = fetch.response, response.isKept, let stored = response.stored, let request = fetch.request,
            let piece = response.body.pieces.first, let length = response.length
        else { return }
        let count = min(count, length)
        guard let part = PartialResponse(response.head, to: fetch.plan.request, received: count, of: length)
        else { return }
        let times = ExchangeTimes(request: stored.requestTime, response: stored.responseTime)
        self.store(
            part, SessionBytes(0..<count, of: piece.response), by: fetch.plan.number, request, times, fetch.plan.mode,
            hasRoom: fetch.answer.hasRoom)
    }
}
