// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
internal import PintleSystem

// MARK: Requests of clients

extension CacheSession {
    /// Puts a client's request.
    ///
    /// - Parameters:
    ///   - waiter: the client, if it has to wait for a fetch.
    ///   - search: the search in the second tier that an earlier reply wanted, and its result.
    ///   - searches: true if there is a second tier, which is searched for responses that are not in memory.
    ///   - isUncacheable: true if the origin has said lately that responses of this key are for one client alone; requests then do
    ///     not wait for each other.
    package mutating func put(
        _ question: CacheQuestion, by waiter: Host.Waiter, after search: (number: UInt64, found: Entry?)? = nil,
        searches: Bool, isUncacheable: Bool, at now: CacheTime
    ) -> CacheReply<Host> {
        var found: [Entry] = []
        var searches = searches
        if let search {
            let (counts, repeats) = self.endSearch(search.number)
            if counts, let entry = search.found { found = [entry] }
            // Responses that are not shared overtake each search of their key.
            searches = searches && repeats && !isUncacheable
        }
        guard let mode = question.mode else {
            guard question.isShareable else { return .forward(.bypass, observed: nil) }
            if isUncacheable { return self.askAlone(question, by: waiter, .uriMiss, at: now) }
            return self.fetch(question, waiter, .uriMiss, joins: question.joins, at: now)
        }
        // Another client's search may have stored in memory what this one has found.
        found.removeAll { found in self.entries.contains(where: found.isLike) }
        // The rules consider a limited number, and none of those in memory answers.
        let known = Array(self.entries.prefix(Host.rules.variantLimit - found.count)) + found
        let decision = Host.rules.decision(for: question.request, among: known.map(\.judged), mode: mode, now: now)
        switch decision {
        case .forward(.uriMiss), .forward(.varyMiss), .forward(.partial), .miss:
            // The response of the last fetch needs no wait for changes of the tier, which may have it as the last of them.
            let joins =
                self.isUnsettled && question.joins && !isUncacheable && decision != .miss
                && self.begunResponse(to: question, at: now) != nil
            if searches, mode != .ignoreLocal, !joins {
                return .search(self.beginSingle(isRepeated: search != nil))
            }
        case .answer, .validate, .forward: break
        }
        switch decision {
        case .answer(let index, let age, let staleness, let renews):
            let entry = known[index]
            guard let answer = Host.rules.answer(to: question.request, from: entry.response, age: age) else {
                return self.forward(question, .partial)
            }
            let renewal = renews ? self.renew(entry, question, mode) : nil
            return .entry(entry, answer, staleness: staleness, renewal: renewal)
        case .validate(let index, let conditions, let reason):
            guard question.isShareable else { return self.forward(question, reason) }
            return self.fetch(
                question, waiter, reason, joins: question.joins, validating: known[index], conditions, at: now)
        case .forward(let reason):
            guard question.isShareable else { return self.forward(question, reason) }
            if isUncacheable { return self.askAlone(question, by: waiter, reason, at: now) }
            // A response that cannot be validated may answer if the origin fails (RFC 5861 §4).
            let stale = reason == .stale || reason == .request ? Self.stale(question.request, among: known) : nil
            return self.fetch(question, waiter, reason, joins: question.joins, validating: stale, at: now)
        case .miss: return .miss
        }
    }

    /// The entry that would answer a request if it were fresh.
    private static func stale(_ request: RequestHead, among known: [Entry]) -> Entry? {
        Host.rules.selected(by: request, among: known.map(\.judged)).first
            .flatMap { known[$0].response.hasContent(for: request) ? known[$0] : nil }
    }

    /// Puts a request that the response to another request could not answer: it goes to the origin for this client alone, but
    /// waits for its place there.
    package mutating func askAlone(
        _ question: CacheQuestion, by waiter: Host.Waiter, _ reason: ForwardReason, at now: CacheTime
    ) -> CacheReply<Host> {
        guard question.isQueued else { return self.forward(question, reason) }
        return self.fetch(question, waiter, reason, joins: false, at: now)
    }

    private mutating func forward(_ question: CacheQuestion, _ reason: ForwardReason) -> CacheReply<Host> {
        let isObserved = question.mode != nil && question.isKeyed
        return .forward(reason, observed: isObserved ? self.beginSingle() : nil)
    }

    private mutating func fetch(
        _ question: CacheQuestion, _ waiter: Host.Waiter, _ reason: ForwardReason, joins: Bool,
        validating entry: Entry? = nil, _ conditions: Fields = Fields(), at now: CacheTime
    ) -> CacheReply<Host> {
        // Requests for the same variant may join a fetch that begins because the last one brings another.
        guard joins, let number = self.joinableFetch, !self.bringsOtherVariant(number, than: question.request) else {
            let plan = self.plan(question, question.mode, validating: entry, conditions)
            return .wait(self.add(waiter, to: plan.number, isOwner: true), plan: plan, reason)
        }
        guard self.fetches[number]?.response != nil else {
            return .wait(self.add(waiter, to: number, isOwner: false), plan: nil, reason)
        }
        guard let response = self.begunResponse(to: question, at: now) else {
            return self.askAlone(question, by: waiter, reason, at: now)
        }
        return .join(response, reason)
    }

    /// True if a fetch has a response that others may have, but that answers requests with other fields.
    private func bringsOtherVariant(_ number: UInt64, than request: RequestHead) -> Bool {
        self.fetches[number]?.response?.stored.map { !Host.rules.matches($0, request) } ?? false
    }

    /// The response of the fetch that other requests may join, if it has begun and answers like a stored one.
    private func begunResponse(to question: CacheQuestion, at now: CacheTime) -> FetchedResponse<Host>? {
        guard question.isShareable, let number = self.joinableFetch, let response = self.fetches[number]?.response,
            let stored = response.stored,
            case .answer = Host.rules.decision(
                for: question.request, among: [stored], mode: question.mode ?? .protocol, now: now)
        else { return nil }
        return response
    }

    private mutating func add(_ waiter: Host.Waiter, to number: UInt64, isOwner: Bool) -> FetchTicket {
        guard let ticket = self.fetches.change(number, { $0.add(waiter, isOwner: isOwner) }) else {
            preconditionFailure("BUG: a client waits for a fetch that has ended")
        }
        return ticket
    }

    /// The fetch that other requests may join.
    private var joinableFetch: UInt64? {
        self.fetches.lastNumber.flatMap { self.isRevoked($0) ? nil : $0 }
    }

    private mutating func renew(_ entry: Entry, _ question: CacheQuestion, _ mode: CacheMode) -> CacheFetchPlan<Host>? {
        if self.joinableFetch != nil { return nil }
        return self.plan(question, mode, validating: entry, CacheRules.validation(of: entry.response) ?? Fields())
    }

    private mutating func plan(
        _ question: CacheQuestion, _ mode: CacheMode?, validating entry: Entry?, _ conditions: Fields
    ) -> CacheFetchPlan<Host> {
        let plan = CacheFetchPlan<Host>(
            number: self.nextNumber(), request: question.request, mode: mode ?? .ignoreLocal, keeps: mode != nil,
            validated: entry, conditions: conditions)
        self.fetches.append(CacheFetch(plan), number: plan.number)
        return plan
    }

    /// Stops a client's wait.
    ///
    /// - Returns: the object that carries out the fetch, if no client waits any more.
    package mutating func leave(_ ticket: FetchTicket) -> Host.Fetcher? {
        // If no client waits any more, the response or the failure is on its way to this one already.
        self.fetches.change(ticket.fetch) { fetch in
            guard fetch.hasWaiters else { return nil }
            fetch.remove(ticket)
            return fetch.hasWaiters ? nil : fetch.fetcher
        } ?? nil
    }

    /// True if the origin has the request that a client waits for, or has answered.
    package func isAsked(_ ticket: FetchTicket) -> Bool {
        if case .queued = self.fetches[ticket.fetch]?.state { false } else { true }
    }
}

// MARK: Fetches

/// The effect of the head of a response on its fetch.
package enum FetchStep<Host: CacheHost>: Sendable {
    /// A stored response answers, and the fetch has ended. `update` is to be applied to the validated entry in the second tier;
    /// `gone` are the entries that have been removed.
    case ended(FetchDelivery<Host>, update: CacheUpdate?, gone: [CacheEntry<Host.Body>])
    /// The validation was inconclusive: the request is sent once more, without conditions.
    case askAgain
    /// The response answers. Its stored form is nil if only one client may have it.
    case began(StoredResponse?, Storability)
}

/// A response on its way to the clients that waited for it.
package struct FetchDelivery<Host: CacheHost>: Sendable {
    package let response: FetchedResponse<Host>
    /// In the order in which they joined. The owner is the client whose request the origin got.
    package let waiters: [(waiter: Host.Waiter, isOwner: Bool)]
}

extension CacheSession {
    /// Notes the object that carries out a fetch.
    package mutating func begin(_ number: UInt64, by fetcher: Host.Fetcher) {
        self.fetches.change(number) { $0.fetcher = fetcher }
    }

    /// The object that carries out a fetch; nil if the fetch has ended.
    package func fetcher(of number: UInt64) -> Host.Fetcher? { self.fetches[number]?.fetcher }

    /// Notes that the origin gets the request.
    package mutating func ask(_ number: UInt64) { self.fetches.change(number) { $0.state = .asking } }

    /// Judges the head of the origin's response.
    ///
    /// - Parameter isRepeated: true for the response to a request that was sent once more without conditions.
    package mutating func received(
        _ head: ResponseHead, length: UInt64?, at times: ExchangeTimes, by number: UInt64, isRepeated: Bool
    ) -> FetchStep<Host> {
        let plan = self.known(number).plan
        if let validated = plan.validated {
            if head.status == 304, !isRepeated { return self.confirm(validated, by: head, at: times, plan) }
            if self.isUsable(validated, after: .status(head.status), plan, at: times.response) {
                return .ended(self.deliver(validated, .stale, after: head, plan), update: nil, gone: [])
            }
        }
        let rules = Host.rules
        var verdict = rules.storability(of: head, to: plan.request, mode: plan.mode)
        // A partial response only answers its own request.
        if head.status == 206 { verdict = .no(.partial) }
        let isStored = verdict == .store
        return .began(
            isStored ? rules.stored(head, to: plan.request, at: times, length: length ?? 0) : nil, verdict)
    }

    private mutating func confirm(
        _ validated: Entry, by head: ResponseHead, at times: ExchangeTimes, _ plan: CacheFetchPlan<Host>
    ) -> FetchStep<Host> {
        let rules = Host.rules
        let update = rules.freshened(validated.response, by: head, to: plan.request, at: times, mode: plan.mode)
        // A revoked response answers the clients that wait, and changes nothing.
        let isRevoked = self.isRevoked(plan.number)
        switch update {
        case .store(let response):
            let isReplaced = self.hasChanged(since: plan.number) && !self.entries.contains { $0.id == validated.id }
            var gone = self.apply(update, to: validated, by: plan.number)
            if !isRevoked {
                // The validated entry may be in the second tier alone.
                self.revoke(before: plan.number)
                // If the response to an earlier request has come in its place meanwhile, that one is out of date.
                if isReplaced { gone += self.removeEntries(matching: plan.request) }
            }
            let change = isReplaced ? CacheUpdate.outdated : update
            let entry = validated.with(rules.judged(response))
            return .ended(
                self.deliver(entry, .confirmed, after: head, plan), update: isRevoked ? nil : change, gone: gone)
        case .answerOnce(let response, _, let keepsStored):
            let gone = self.apply(update, to: validated, by: plan.number)
            let isChanged = !keepsStored && !isRevoked
            if isChanged { self.revoke(before: plan.number) }
            let entry = validated.with(rules.judged(response))
            return .ended(
                self.deliver(entry, .confirmed, after: head, plan, isShared: false), update: isChanged ? update : nil,
                gone: gone)
        case .outdated, .unrelated: return .askAgain
        }
    }

    /// Begins to give the origin's response to the clients that wait.
    package mutating func answer(_ number: UInt64, with response: FetchedResponse<Host>) -> FetchDelivery<Host> {
        let waiters = self.fetches.change(number) { fetch in
            if case .answered = fetch.state { preconditionFailure("BUG: a fetch is answered twice") }
            fetch.state = .answered(response)
            return fetch.takeWaiters()
        }
        guard let waiters else { preconditionFailure("BUG: a fetch that has ended is answered") }
        return FetchDelivery(response: response, waiters: waiters)
    }

    /// Ends a fetch that has failed before its response.
    ///
    /// - Returns: a stale response, if the validated one may answer in place of the origin's; otherwise the clients that get the
    ///   failure.
    package mutating func fail(
        _ number: UInt64, _ failure: OriginFailure, at now: CacheTime
    ) -> (delivery: FetchDelivery<Host>?, waiters: [(waiter: Host.Waiter, isOwner: Bool)]) {
        let plan = self.known(number).plan
        if let validated = plan.validated, self.isUsable(validated, after: failure, plan, at: now) {
            return (self.deliver(validated, .stale, after: nil, plan), [])
        }
        return (nil, self.remove(number))
    }

    /// Ends a fetch before its response if no client waits for it.
    ///
    /// - Returns: false if a client waits.
    package mutating func giveUp(_ number: UInt64) -> Bool {
        if self.known(number).hasWaiters { return false }
        self.fetches.remove(number)
        return true
    }

    /// Ends a fetch whose response has arrived.
    package mutating func end(_ number: UInt64) {
        guard self.fetches.remove(number) != nil else { preconditionFailure("BUG: a fetch ends twice") }
    }

    private func known(_ number: UInt64) -> CacheFetch<Host> {
        guard let fetch = self.fetches[number] else { preconditionFailure("BUG: a fetch goes on that has ended") }
        return fetch
    }

    /// Answers with a stored response, and ends the fetch.
    private mutating func deliver(
        _ entry: Entry, _ source: FetchedResponse<Host>.Source, after head: ResponseHead?, _ plan: CacheFetchPlan<Host>,
        isShared: Bool = true
    ) -> FetchDelivery<Host> {
        let response = FetchedResponse<Host>(entry, source, of: plan, after: head, isShared: isShared)
        return FetchDelivery(response: response, waiters: self.remove(plan.number))
    }

    private mutating func remove(_ number: UInt64) -> [(waiter: Host.Waiter, isOwner: Bool)] {
        guard var fetch = self.fetches.remove(number) else { preconditionFailure("BUG: a fetch ends twice") }
        return fetch.takeWaiters()
    }

    private func isUsable(
        _ entry: Entry, after failure: OriginFailure, _ plan: CacheFetchPlan<Host>, at now: CacheTime
    ) -> Bool {
        Host.rules.staleAnswer(to: plan.request, from: entry.response, after: failure, now: now) != nil
    }
}
