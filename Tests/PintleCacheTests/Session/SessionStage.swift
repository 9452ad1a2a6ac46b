// SPDX-License-Identifier: Apache-2.0

import PintleMessage

@testable import PintleCache

/// Plays the events of a course for one key: the clients of a session and its host, as the proxy's cache is one.
///
/// Each call of the session is one that the proxy makes, in the same order.
final class SessionStage {
    typealias Session = CacheSession<SessionHost>
    typealias Entry = CacheEntry<SessionBytes>
    typealias Fetched = FetchedResponse<SessionHost>

    struct Client {
        enum State {
            case searching
            case waiting(FetchTicket, ForwardReason)
            /// The response of a fetch is there, and is processed in the client's turn.
            case arrived(Fetched, isOwn: Bool, hasReader: Bool, ForwardReason)
            /// The request is to be sent for this client alone.
            case alone(ForwardReason)
            case reading(UInt64?)
            case bypassing
        }

        let ask: SessionCourse.Ask
        let question: CacheQuestion
        /// The event at which it asked.
        let asked: Int
        var state = State.searching
        /// The fetch that it has begun.
        var fetch: UInt64?
        var outcomes = 0
        /// True if the session has given it the end of its wait, of which it may not know yet.
        var isServed = false
        /// True if it has found a response in the second tier.
        var hasFound = false
        /// True if it has waited for a response that proved to be another variant.
        var hasMissedVariant = false
        /// The time when the session has judged its response.
        var judged = CacheTime(seconds: 0)
    }

    /// The end of a wait, on its way to the client.
    struct Mail {
        let client: Int
        /// Nil if the fetch has failed.
        let response: Fetched?
        let isOwn: Bool
        let hasReader: Bool
    }

    /// A search in the second tier, which takes several steps.
    struct Search {
        let client: Int
        var step = 0
        var found: Entry?
        /// The removals that the second tier had still to carry out when it was read.
        var removals: [CacheSelection] = []
    }

    let course: SessionCourse
    var session = Session()
    /// Added to the numbers of the present session, so that they tell the order of all requests.
    var earlierNumbers: UInt64 = 0
    var origin: SessionOrigin
    var law = SessionLaw()
    var tier = SessionTier()
    var now = CacheTime(seconds: 1_767_225_600)
    /// The number of the present event.
    var event = 0
    var lastClient = 0
    var clients: [Int: Client] = [:]
    var searches: [UInt64: Search] = [:]
    /// Empty unless the clients are on another event loop than the fetches.
    var mail: [Mail] = []
    var fetches: [UInt64: Fetch] = [:]
    /// By the number of their client.
    var bypasses: [Int: Bypass] = [:]
    /// Requests do not wait for each other until this time.
    var uncacheable: CacheTime?
    /// The number of outcomes by their way.
    var counts: [String: Int] = [:]

    init(_ course: SessionCourse) { (self.course, self.origin) = (course, SessionOrigin(course.first)) }

    var breaches: [String] {
        get { self.law.breaches }
        set { self.law.breaches = newValue }
    }

    /// Plays the course to its end.
    ///
    /// - Returns: the breaches; empty if there are none.
    func play() -> [String] {
        for step in self.course.steps {
            self.perform(step)
            if !self.breaches.isEmpty { return self.breaches }
        }
        self.finish()
        return self.breaches
    }

    private func finish() {
        for _ in 0..<1000 where !self.isIdle {
            let steps: [SessionCourse.Step] = [
                .turn, .searches(0, steps: 4), .sends(0), .answers(0, .init()), .ends(0), .carriesOut,
            ]
            for step in steps { self.perform(step) }
            if !self.breaches.isEmpty { return }
        }
        if !self.isIdle { self.breaches.append("clients \(self.clients.keys.sorted()) never get an outcome") }
        self.perform(.removes(.all))
        while !self.tier.isSettled { self.perform(.carriesOut) }
        if !self.session.isEmpty { self.breaches.append("the session holds something at the end") }
    }

    private var isIdle: Bool {
        self.clients.isEmpty && self.mail.isEmpty && self.searches.isEmpty && self.fetches.isEmpty
            && self.bypasses.isEmpty && self.tier.isSettled
    }

    private func perform(_ step: SessionCourse.Step) {
        self.event += 1
        switch step {
        case .asks(let ask): self.ask(ask)
        case .leaves(let index): self.pick(index, of: self.clients.keys).map { self.leave($0) }
        case .detaches(let index): self.pick(index, of: self.clients.keys).map { self.detach($0) }
        case .sends(let index): self.pick(index, of: self.queued).map { self.send($0, isConditional: true) }
        case .refuses(let index): self.pick(index, of: self.queued).map { self.fail($0, .status(503)) }
        case .answers(let index, let answer): self.answer(index, answer)
        case .fails(let index): self.fail(index)
        case .ends(let index): self.end(index, after: nil)
        case .breaks(let index, let count): self.end(index, after: count)
        case .searches(let index, let count):
            if let number = self.pick(index, of: self.searches.keys) { for _ in 0..<count { self.search(number) } }
        case .turn: self.takeTurns()
        case .removes(let removal): self.remove(removal.selection)
        case .evicts: _ = self.session.evict()
        case .passes(let seconds): self.now = self.now + seconds
        case .carriesOut: self.tier.carryOut(in: &self.session)
        case .restarts: self.restart()
        }
        for number in self.tier.takeEnded() { self.endFetch(number) }
        self.law.check(self.session.entries)
        // The proxy forgets a session that holds nothing.
        if self.session.isEmpty { self.renewSession() }
    }

    func pick<Numbers: Collection>(_ index: Int, of numbers: Numbers) -> Numbers.Element?
    where Numbers.Element: Comparable {
        numbers.isEmpty ? nil : numbers.sorted()[index % numbers.count]
    }

    private func renewSession() {
        self.earlierNumbers += 1 << 32
        self.session = Session()
    }

    private func restart() {
        while !self.tier.isSettled { self.tier.carryOut(in: &self.session) }
        _ = self.tier.takeEnded()
        (self.clients, self.mail, self.searches, self.fetches, self.bypasses) = ([:], [], [:], [:], [:])
        self.uncacheable = nil
        self.renewSession()
    }

    private func remove(_ selection: CacheSelection) {
        self.law.note(selection, at: self.event)
        _ = self.session.remove(selection, at: SessionHost.url)
        if self.course.hasTier { self.tier.remove(selection) }
    }

    // MARK: Clients

    private func ask(_ ask: SessionCourse.Ask) {
        self.lastClient += 1
        let question = ask.question(
            isQueued: self.course.isQueued, tag: self.origin.version.entityTag(for: ask))
        self.clients[self.lastClient] = Client(ask: ask, question: question, asked: self.event)
        self.put(self.lastClient, after: nil)
    }

    private func put(_ id: Int, after search: (number: UInt64, found: Entry?)?) {
        guard let client = self.clients[id] else { return }
        if search?.found != nil { self.clients[id]?.hasFound = true }
        let reply = self.session.put(
            client.question, by: id, after: search, searches: self.course.hasTier,
            isUncacheable: self.uncacheable.map { self.now < $0 } ?? false, at: self.now)
        self.follow(reply, of: id)
    }

    private func askAlone(_ id: Int, _ reason: ForwardReason) {
        guard let client = self.clients[id] else { return }
        self.follow(self.session.askAlone(client.question, by: id, reason, at: self.now), of: id)
    }

    private func follow(_ reply: CacheReply<SessionHost>, of id: Int) {
        guard let client = self.clients[id] else { return }
        switch reply {
        case .entry(let entry, let answer, _, let renewal):
            self.give(id, answer.head, entry.body, answer.body ?? 0..<0, .stored)
            self.clients[id] = nil
            if renewal != nil { self.count("renewal") }
            if let renewal { self.begin(renewal, client.ask, by: nil) }
        case .search(let number):
            if !self.course.hasTier { self.breaches.append("client \(id) searches where there is nothing") }
            self.clients[id]?.state = .searching
            self.searches[number] = Search(client: id)
        case .wait(let ticket, let plan, let reason):
            self.law.checkMayAsk(id, client.ask)
            self.clients[id]?.state = .waiting(ticket, reason)
            self.clients[id]?.isServed = false
            if let plan {
                self.clients[id]?.fetch = plan.number
                self.begin(plan, client.ask, by: id)
            } else if !client.ask.joins {
                self.breaches.append("client \(id) waits for the response of another")
            }
        case .join(let response, let reason):
            guard let number = response.fetch, self.fetches[number] != nil else {
                return self.breaches.append("client \(id) joins a fetch that has ended")
            }
            self.count("join")
            self.fetches[number]?.readers.insert(id)
            self.clients[id]?.state = .arrived(response, isOwn: false, hasReader: true, reason)
        case .forward(_, let observed):
            self.law.checkMayAsk(id, client.ask)
            self.clients[id]?.state = .bypassing
            self.bypass(id, client, observed)
        case .miss:
            if client.ask.mode != .onlyCache, client.ask.kind != .onlyIfCached {
                self.breaches.append("client \(id) gets a miss, though the origin may be asked")
            }
            self.count("miss")
            self.clients[id] = nil
        }
    }

    func count(_ way: String) { self.counts[way, default: 0] += 1 }

    /// Gives a response to a client.
    func give(
        _ id: Int, _ head: ResponseHead, _ bytes: SessionBytes, _ range: Range<UInt64>, _ way: SessionLaw.Way,
        isOwn: Bool = false
    ) {
        guard let client = self.clients[id] else {
            return self.breaches.append("client \(id) has left, and gets a response")
        }
        self.clients[id]?.outcomes += 1
        // The client whose request has failed gets a stale response as it was judged then.
        let time = way == .stale && isOwn ? client.judged : self.now
        if client.outcomes > 0 { self.breaches.append("client \(id) gets two responses") }
        self.count(way.name)
        self.law.check(
            SessionLaw.Gift(
                client: id, ask: client.ask, asked: client.asked, head: head, bytes: bytes, range: range, way: way),
            from: self.origin, at: time, event: self.event)
    }

    private func takeTurns() {
        let mail = self.mail
        self.mail = []
        for letter in mail { self.receive(letter) }
        for id in self.clients.keys.sorted() { self.takeTurn(id) }
    }

    /// Brings the end of a wait to a client.
    func receive(_ mail: Mail) {
        guard let client = self.clients[mail.client], case .waiting(_, let reason) = client.state else {
            // The client has left in the meantime.
            if mail.hasReader { self.close(mail.client, mail.response?.fetch) }
            return
        }
        if let response = mail.response {
            self.clients[mail.client]?.state = .arrived(
                response, isOwn: mail.isOwn, hasReader: mail.hasReader, reason)
        } else if mail.isOwn {
            self.count("failure")
            self.clients[mail.client] = nil
        } else {
            // A request of its own may succeed.
            self.clients[mail.client]?.state = .alone(reason)
        }
    }

    private func takeTurn(_ id: Int) {
        switch self.clients[id]?.state {
        case .arrived(let response, let isOwn, let hasReader, let reason):
            self.take(id, response, isOwn, hasReader, reason)
        case .alone(let reason): self.askAlone(id, reason)
        case .searching, .waiting, .reading, .bypassing, nil: break
        }
    }

    private func take(_ id: Int, _ response: Fetched, _ isOwn: Bool, _ hasReader: Bool, _ reason: ForwardReason) {
        guard let client = self.clients[id] else { return }
        guard hasReader else { return self.askAlone(id, reason) }
        if !isOwn, let refusal = response.refusal(of: client.question, at: self.now) {
            self.close(id, response.fetch)
            guard refusal == .varyMiss, !client.hasMissedVariant else { return self.askAlone(id, refusal) }
            self.clients[id]?.hasMissedVariant = true
            return self.put(id, after: nil)
        }
        let head = response.head(isOwn: isOwn, reason, by: self.law.name, at: self.now)
        let way: SessionLaw.Way =
            switch (response.source, isOwn) {
            case (.origin, true): .own
            case (.stale, _): .stale
            case (.confirmed, true): .confirmed
            case (.origin, false), (.confirmed, false): .shared
            }
        self.give(id, head, response.body, 0..<(response.length ?? 0), way, isOwn: isOwn)
        guard let number = response.fetch, let fetch = self.fetches[number], fetch.readers.contains(id), !fetch.isOver
        else {
            return self.clients[id] = nil
        }
        self.clients[id]?.state = .reading(number)
    }

    /// Closes the reader of a client.
    private func close(_ id: Int, _ number: UInt64?) {
        guard let number, self.fetches[number]?.readers.remove(id) != nil else { return }
        if self.fetches[number]?.readers.isEmpty == true { self.giveUpIfUnwanted(number) }
    }

    private func detach(_ id: Int) {
        if let client = self.clients[id], client.ask.mode != .mergeOnly, let number = client.fetch {
            self.fetches[number]?.isForCache = true
        }
        self.leave(id)
    }

    private func leave(_ id: Int) {
        guard let client = self.clients.removeValue(forKey: id) else { return }
        switch client.state {
        case .waiting(let ticket, _): self.leave(ticket, id, isServed: client.isServed)
        case .arrived(let response, _, _, _): self.close(id, response.fetch)
        case .reading(let number): self.close(id, number)
        case .bypassing: self.cancelBypass(id)
        case .searching, .alone: break
        }
    }

    private func leave(_ ticket: FetchTicket, _ id: Int, isServed: Bool) {
        let number = ticket.fetch
        let existed = self.fetches[number] != nil
        if let fetcher = self.session.leave(ticket) { self.giveUpIfUnwanted(fetcher) }
        let isThere = self.fetches[number] != nil
        if isServed {
            if existed, !isThere { self.breaches.append("client \(id) leaves, and the fetch of others is given up") }
            return
        }
        let isWanted = self.clients.values.contains { other in
            guard case .waiting(let ticket, _) = other.state, !other.isServed else { return false }
            return ticket.fetch == number
        }
        if isThere, !isWanted, self.fetches[number]?.isForCache == false {
            self.breaches.append("client \(id) was the last of fetch \(number), which goes on")
        }
        if !isThere, isWanted { self.breaches.append("fetch \(number) is given up, though a client waits") }
    }

    // MARK: Searches

    /// Takes a step of a search. Other events may come between any two.
    private func search(_ number: UInt64) {
        guard !self.session.hasToWait(number), var search = self.searches.removeValue(forKey: number) else { return }
        let question = self.clients[search.client]?.question
        search.step += 1
        switch search.step {
        case 1:
            search.removals = self.tier.removals
            guard let question, let mode = question.mode, !self.isRemoving([], search) else { break }
            search.found = self.tier.find(question.request, mode: mode, at: self.now)
        case 2:
            guard let found = search.found else { break }
            if self.isRemoving(found.response.tags, search) {
                search.found = nil
            } else {
                self.session.note(tags: found.response.tags, of: number)
            }
        case 3:
            guard let found = search.found else { break }
            self.count("found")
            _ = self.session.store(found: found, by: number, hasRoom: true)
        default:
            guard let client = self.clients[search.client], case .searching = client.state else {
                return self.session.endSingle(number)
            }
            return self.put(search.client, after: (number, search.found))
        }
        self.searches[number] = search
    }

    private func isRemoving(_ tags: [String], _ search: Search) -> Bool {
        search.removals.contains { $0.covers(SessionHost.url, tags: tags) }
    }
}
