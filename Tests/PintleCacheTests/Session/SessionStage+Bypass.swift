// SPDX-License-Identifier: Apache-2.0

import PintleMessage

@testable import PintleCache

// MARK: Requests for one client alone

extension SessionStage {
    /// A request for one client alone.
    struct Bypass {
        /// A response that is to be stored.
        struct Copy {
            let head: ResponseHead
            let response: Int
            let range: Range<UInt64>
            /// The stored form of the whole response; nil for a 206.
            let whole: StoredResponse?
            let times: ExchangeTimes
        }

        let number: UInt64?
        let request: SessionOrigin.Request
        let mode: CacheMode?
        /// True if the client has found a response in the second tier.
        let hasFound: Bool
        var isAnswered = false
        var copy: Copy?
        var answer = SessionCourse.Answer()
    }

    func bypass(_ id: Int, _ client: Client, _ number: UInt64?) {
        self.bypasses[id] = Bypass(
            number: number, request: self.request(client.question.request, client.ask, id, number),
            mode: client.question.mode, hasFound: self.clients[id]?.hasFound ?? false)
    }

    func endBypass(_ id: Int) {
        guard let number = self.bypasses.removeValue(forKey: id)?.number else { return }
        self.session.endSingle(number)
    }

    func cancelBypass(_ id: Int) {
        self.storeCopy(of: id, after: 6)
        self.endBypass(id)
    }

    func answer(bypass id: Int, _ answer: SessionCourse.Answer) {
        guard var bypass = self.bypasses[id] else { return }
        let head = self.origin.answer(bypass.request, answer, at: self.now)
        (bypass.isAnswered, bypass.answer) = (true, answer)
        self.bypasses[id] = bypass
        if let number = bypass.number, let mode = bypass.mode { self.observe(id, head, bypass, number, mode) }
        self.give(id, head, SessionBytes(0..<0, of: self.origin.responses.count - 1), 0..<0, .own)
    }

    private func observe(_ id: Int, _ head: ResponseHead, _ bypass: Bypass, _ number: UInt64, _ mode: CacheMode) {
        let (rules, request) = (SessionHost.rules, bypass.request)
        let times = ExchangeTimes(request: request.time, response: self.now)
        if head.status == 304 || head.status == 206 || request.head.method == "HEAD" {
            self.update(by: head, request, times, number, mode)
        }
        guard request.head.method == "GET", head.status != 304 else { return }
        let response = self.origin.responses.count - 1
        let length = head.status == 503 ? 0 : self.origin.responses[response].version.length
        if head.status == 206 {
            guard let part = PartialResponse(head, to: request.head),
                let joined = rules.joined(part, with: self.session.entries.map(\.response), at: times, mode: mode)
            else { return }
            self.session.note(tags: joined.response.tags, of: number)
            return self.copy(
                Bypass.Copy(head: head, response: response, range: part.range, whole: nil, times: times), of: id)
        }
        let verdict = rules.storability(of: head, to: request.head, mode: mode)
        guard case .store = verdict else {
            guard verdict.outdatesStored(as: head.status) else { return }
            return self.outdate(by: number, request, mayBeStored: bypass.hasFound)
        }
        guard let whole = rules.stored(head, to: request.head, at: times, length: length) else { return }
        self.session.note(tags: whole.tags, of: number)
        self.copy(Bypass.Copy(head: head, response: response, range: 0..<length, whole: whole, times: times), of: id)
    }

    /// Keeps the bytes of a response, if there is memory for them.
    private func copy(_ copy: Bypass.Copy, of id: Int) {
        if self.bypasses[id]?.answer.hasBody == true { self.bypasses[id]?.copy = copy }
    }

    private func update(
        by head: ResponseHead, _ request: SessionOrigin.Request, _ times: ExchangeTimes, _ number: UInt64,
        _ mode: CacheMode
    ) {
        guard !self.session.isRevoked(number) else { return }
        if self.course.hasTier {
            let change = SessionTier.Change.learn { stored in
                SessionHost.rules.updates(of: stored, by: head, to: request.head, at: times, mode: mode)
            }
            self.tier.add(change, in: &self.session)
        }
        let gone = self.session.update(by: head, to: request.head, at: times, mode: mode, number: number)
        let id = self.origin.response(of: head)?.id
        let isConfirmed = self.session.entries.contains { self.origin.response(of: $0.response.head)?.id == id }
        if !gone.isEmpty || isConfirmed { self.noteNews(of: self.origin.responses.count - 1) }
    }

    /// Stores the received bytes.
    ///
    /// - Parameter count: the bytes after which the body breaks off; nil if all have arrived.
    func storeCopy(of id: Int, after count: UInt64?) {
        guard let bypass = self.bypasses[id], let copy = bypass.copy, let number = bypass.number, let mode = bypass.mode
        else { return }
        self.bypasses[id]?.copy = nil
        let length = copy.range.upperBound - copy.range.lowerBound
        if count == nil, let whole = copy.whole {
            let entry = Entry(SessionHost.rules.judged(whole), SessionBytes(copy.range, of: copy.response), bodyCost: 0)
            _ = self.store(entry, by: number, bypass.request, hasRoom: bypass.answer.hasRoom)
            return
        }
        let received = min(count ?? length, length)
        let part =
            count == nil
            ? PartialResponse(copy.head, to: bypass.request.head)
            : PartialResponse(copy.head, to: bypass.request.head, received: received, of: length)
        guard let part else { return }
        self.store(
            part, SessionBytes(part.range, of: copy.response), by: number, bypass.request, copy.times, mode,
            hasRoom: bypass.answer.hasRoom)
    }
}
