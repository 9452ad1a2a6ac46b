// SPDX-License-Identifier: Apache-2.0

import PintleCache
import PintleMessage

/// A cache in memory that follows the rules, and an origin that answers as a step says.
///
/// It has no rules of its own: each event is described in words that a case can expect.
struct CacheModel {
    /// The outcome of a step.
    struct Event {
        /// The decision, then its consequences.
        var words: [String]
        /// The head that the client got; nil if there was no answer.
        var answer: ResponseHead?
        /// The request that the origin got; nil if it got none.
        var sent: RequestHead?
    }

    var rules = CacheRules()
    var mode = CacheMode.protocol
    /// 1 January 2026.
    var now = CacheTime(seconds: 1_767_225_600)
    private var entries: [String: [StoredResponse]] = [:]

    init(rules: CacheRules, mode: CacheMode) {
        (self.rules, self.mode) = (rules, mode)
    }

    mutating func perform(_ step: CacheStep) -> Event {
        let stored = self.entries[step.url] ?? []
        switch self.rules.decision(for: step.request, among: stored, mode: self.mode, now: self.now) {
        case .answer(let index, let age, let staleness, let revalidate):
            var event = Event(words: [revalidate ? "hit+revalidate" : staleness < 0 ? "hit" : "stale-hit"])
            self.answer(step.request, from: stored[index], age: age, &event)
            return event
        case .miss: return Event(words: ["504"])
        case .forward(let reason):
            var event = Event(words: [reason.rawValue], sent: step.request)
            self.receive(step, nil, &event)
            return event
        case .validate(let index, let fields, let reason):
            let sent = CacheRules.validating(step.request, with: fields)
            var event = Event(words: [reason.rawValue + "?"], sent: sent)
            self.receive(step, index, &event)
            return event
        }
    }

    private func answer(_ request: RequestHead, from stored: StoredResponse, age: Int64?, _ event: inout Event) {
        guard let answer = self.rules.answer(to: request, from: stored, age: age) else {
            event.words.append("no-content")
            return
        }
        event.answer = answer.head
        event.words.append("\(answer.head.status)")
        if let age { event.words.append("age=\(age)") }
        event.words.append(answer.body.map { "body=\($0.lowerBound)..<\($0.upperBound)" } ?? "no-body")
        if let length = answer.contentLength { event.words.append("length=\(length)") }
    }

    // MARK: The origin's answer

    private mutating func receive(_ step: CacheStep, _ validated: Int?, _ event: inout Event) {
        guard let response = step.response else { return }
        let times = ExchangeTimes(request: self.now, response: self.now + response.delay)
        let candidates = self.rules.selected(by: step.request, among: self.entries[step.url] ?? [])
        if let index = validated ?? candidates.first, self.fail(step, response, index, &event) { return }
        guard let head = response.head else { return }
        event.answer = head
        if let index = validated, head.status == 304 {
            self.freshen(step, head, index, times, &event)
            return
        }
        event.words.append("\(head.status)")
        if step.request.method == "HEAD" {
            for index in candidates.reversed() { self.compare(step, head, index, times, &event) }
            return
        }
        let key = CacheKey(partition: "p", url: step.url)
        let invalid = self.rules.invalidated(by: step.request, key: key, response: head)
        if !invalid.isEmpty { event.words.append("invalid=\(invalid.count)") }
        for url in invalid {
            event.words.append("gone=\(url.dropFirst("http://h".count))")
            self.entries[url] = nil
        }
        if head.status == 206, let index = candidates.first, self.combine(step, head, index, times, &event) { return }
        self.store(step, response, head, times, &event)
    }

    private mutating func fail(
        _ step: CacheStep, _ response: CacheStep.Response, _ index: Int, _ event: inout Event
    ) -> Bool {
        guard let stored = self.entries[step.url]?[index] else { return false }
        let failure: OriginFailure = response.head.map { .status($0.status) } ?? .unreachable
        guard let stale = self.rules.staleAnswer(to: step.request, from: stored, after: failure, now: self.now) else {
            if response.head == nil { event.words.append("failed") }
            return false
        }
        event.words.append("stale-if-error")
        self.answer(step.request, from: stored, age: stale.age, &event)
        return true
    }

    private mutating func freshen(
        _ step: CacheStep, _ head: ResponseHead, _ index: Int, _ times: ExchangeTimes, _ event: inout Event
    ) {
        guard let stored = self.entries[step.url]?[index] else { return }
        let update = self.rules.freshened(stored, by: head, to: step.request, at: times, mode: self.mode)
        self.apply(update, to: step, index, "freshened", &event)
        switch update {
        case .store(let new), .answerOnce(let new, _, _): self.answer(step.request, from: new, age: nil, &event)
        case .outdated, .unrelated: break
        }
    }

    private mutating func compare(
        _ step: CacheStep, _ head: ResponseHead, _ index: Int, _ times: ExchangeTimes, _ event: inout Event
    ) {
        guard let stored = self.entries[step.url]?[index] else { return }
        let update = self.rules.compared(stored, withHead: head, to: step.request, at: times, mode: self.mode)
        self.apply(update, to: step, index, "freshened", &event)
    }

    private mutating func combine(
        _ step: CacheStep, _ head: ResponseHead, _ index: Int, _ times: ExchangeTimes, _ event: inout Event
    ) -> Bool {
        guard let stored = self.entries[step.url]?[index] else { return false }
        let update = self.rules.combined(stored, with: head, to: step.request, at: times, mode: self.mode)
        self.apply(update, to: step, index, "combined", &event)
        switch update {
        case .store, .answerOnce: return true
        case .outdated, .unrelated: return false
        }
    }

    private mutating func apply(
        _ update: CacheUpdate, to step: CacheStep, _ index: Int, _ word: String, _ event: inout Event
    ) {
        switch update {
        case .store(let new):
            self.entries[step.url]?[index] = new
            event.words += [word, Self.held(new)]
        case .answerOnce(_, let reason, let keepsStored):
            if !keepsStored { self.entries[step.url]?.remove(at: index) }
            event.words.append("once:\(reason.rawValue)")
        case .outdated:
            self.entries[step.url]?.remove(at: index)
            event.words.append("outdated")
        case .unrelated: event.words.append("unrelated")
        }
    }

    private mutating func store(
        _ step: CacheStep, _ response: CacheStep.Response, _ head: ResponseHead, _ times: ExchangeTimes,
        _ event: inout Event
    ) {
        if case .no(let reason) = self.rules.storability(of: head, to: step.request, mode: self.mode) {
            event.words.append("not:\(reason.rawValue)")
            return
        }
        guard var stored = self.rules.stored(head, to: step.request, at: times, length: response.length) else {
            event.words.append("not:length")
            return
        }
        if let received = response.received {
            let part = PartialResponse(head, to: step.request, received: received, of: response.length)
            guard let joined = part.flatMap({ self.rules.joined($0, with: [], at: times, mode: self.mode) }) else {
                event.words.append("not:incomplete")
                return
            }
            stored = joined.response
        }
        // The disk must return what was written to it.
        let read = StoredResponse(decoding: stored.encoded())
        event.words += [read == stored ? "stored" : "not:decoded", Self.held(stored)]
        event.words += stored.tags.map { "tag=\($0)" }
        self.entries[step.url, default: []].removeAll { $0.selecting == stored.selecting }
        self.entries[step.url, default: []].append(stored)
    }

    private static func held(_ stored: StoredResponse) -> String {
        stored.range.map { "held=\($0.lowerBound)..<\($0.upperBound)" } ?? "held=all"
    }
}
