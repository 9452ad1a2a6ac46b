// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The plans for the requests of one route: its rules, with the requests counted so far.
///
/// A value without clock and chance of its own: the same requests at the same times get the same plans from the same seed.
package struct SimulationSchedule: Sendable {
    private let rules: SimulationRules
    private let seed: UInt64
    private var mocks: [RuleCounter]
    private var faults: [RuleCounter]
    /// The starts and numbers of requests of the limits, by their rules.
    private var windows: [Int: Window] = [:]
    /// The earliest welcome returns, by client and URL.
    private var returns = BoundedTable<Duration>()

    private struct Window: Sendable {
        var start: Duration
        var requests: Int
    }

    /// - Parameter seed: of everything that is left to chance.
    package init(_ rules: SimulationRules, seed: UInt64) {
        (self.rules, self.seed) = (rules, seed)
        self.mocks = rules.mocks.map { _ in RuleCounter() }
        self.faults = rules.faults.map { _ in RuleCounter() }
    }

    /// Plans a request, and counts it.
    ///
    /// - Parameter moment: the time, on a clock that never goes back.
    package mutating func plan(for request: SimulatedRequest, at moment: Duration) -> SimulationPlan {
        var plan = SimulationPlan()
        self.checkReturn(of: request, at: moment, &plan)
        for (index, rule) in self.rules.faults.enumerated() {
            guard var chance = self.faults[index].take(request, rule.when, seed: self.seed, use: UInt64(index)) else {
                continue
            }
            // An exchange ends in one way.
            if plan.answer != nil || !plan.attempts.isEmpty, rule.ending != nil { continue }
            self.apply(rule, index, to: request, at: moment, &chance, &plan)
        }
        if plan.answer == nil { self.planMock(for: request, &plan) }
        return plan
    }

    private mutating func planMock(for request: SimulatedRequest, _ plan: inout SimulationPlan) {
        for (index, rule) in self.rules.mocks.enumerated() {
            let use = UInt64(1 << 32 + index)
            guard var chance = self.mocks[index].take(request, rule.when, seed: self.seed, use: use) else { continue }
            plan.delay += rule.delay?.sample(&chance) ?? .zero
            plan.rules.append("mock[\(index)]")
            switch rule.answer {
            case .fixed(let answer):
                plan.answer = .mock(answer)
                return
            // The next mock answers if the contract makes none.
            case .contract(let kind):
                plan.attempts.append(.init(kind: kind, seed: chance.next(), rule: "mock[\(index)]"))
            }
        }
    }

    private mutating func apply(
        _ rule: FaultRule, _ index: Int, to request: SimulatedRequest, at moment: Duration,
        _ chance: inout SeededChance,
        _ plan: inout SimulationPlan
    ) {
        let name = "faults[\(index)]"
        switch rule.ending {
        case nil: break
        case .answer(let answer):
            plan.answer = .fault(answer)
            if let wait = answer.retryAfter { self.returns[request.visitor] = moment + wait }
        case .contract(let kind): plan.attempts.append(.init(kind: kind, seed: chance.next(), rule: name))
        case .reset(.beforeResponse): plan.answer = .reset
        case .reset(.withinResponse): (plan.cut, plan.isChanged) = (.within, true)
        case .limit(let limit):
            let rest = self.count(limit, index, at: moment)
            plan.fields += limit.fields(rest.requests, until: rest.time)
            // The limit only shows itself.
            guard rest.requests < 0 else { return }
            plan.answer = .fault(FixedAnswer(exceeding: limit, for: rest.time))
            self.returns[request.visitor] = moment + rest.time
        }
        plan.delay += rule.delay?.sample(&chance) ?? .zero
        if let pace = rule.bytesPerSecond { plan.bytesPerSecond = min(pace, plan.bytesPerSecond ?? pace) }
        if let length = rule.cutAfter, plan.cut == nil { plan.cut = .after(length) }
        if rule.delay != nil || rule.bytesPerSecond != nil || rule.cutAfter != nil { plan.isChanged = true }
        plan.rules.append(name)
    }

    /// Counts a request of a limit.
    ///
    /// - Returns: the requests that are left, negative if there are none, and the time until all are free again.
    private mutating func count(
        _ limit: FaultRule.Limit, _ index: Int, at moment: Duration
    ) -> (requests: Int, time: Duration) {
        var window = self.windows[index] ?? Window(start: moment, requests: 0)
        if moment - window.start >= limit.length { window = Window(start: moment, requests: 0) }
        if window.requests <= limit.requests { window.requests += 1 }
        self.windows[index] = window
        return (limit.requests - window.requests, window.start + limit.length - moment)
    }

    private mutating func checkReturn(
        of request: SimulatedRequest, at moment: Duration, _ plan: inout SimulationPlan
    ) {
        // The client was not told to wait, or has waited.
        guard let earliest = self.returns[request.visitor], moment < earliest else { return }
        let seconds = Int(((earliest - moment) / .seconds(1)).rounded(.up))
        plan.complaint = "the client came back \(seconds) s before the time that Retry-After named"
    }
}

extension SimulationRules {
    /// Plans a request as the first one of all. Rules that are for a part of the requests by chance do not apply.
    package func plan(forFirst request: SimulatedRequest) -> SimulationPlan {
        var certain = self
        for index in certain.faults.indices where certain.faults[index].when.isChance {
            certain.faults[index].when.first = 0
        }
        for index in certain.mocks.indices where certain.mocks[index].when.isChance {
            certain.mocks[index].when.first = 0
        }
        var schedule = SimulationSchedule(certain, seed: 0)
        return schedule.plan(for: request, at: .zero)
    }
}

extension SimulationCondition {
    fileprivate var isChance: Bool { self.rate.map { $0 < 1 } ?? false }
}

/// Counts the requests of one rule.
private struct RuleCounter: Sendable {
    /// The requests that the rule is for, chance aside.
    private var accepted: UInt64 = 0
    private var hits = BoundedTable<Int>()

    /// - Returns: the chance of this request; nil if the rule is not for it.
    mutating func take(
        _ request: SimulatedRequest, _ when: SimulationCondition, seed: UInt64, use: UInt64
    ) -> SeededChance? {
        guard when.accepts(request) else { return nil }
        var chance = SeededChance(seed: seed, use: use, number: self.accepted)
        self.accepted += 1
        if let rate = when.rate, chance.fraction() >= rate { return nil }
        guard let first = when.first else { return chance }
        let key =
            switch when.unit {
            case .route: ""
            case .url: request.location
            case .client: request.client ?? ""
            }
        let count = self.hits[key] ?? 0
        if count < first { self.hits[key] = count + 1 }
        return count < first ? chance : nil
    }
}

/// Values by keys of clients. Keys beyond ``most`` share one value, so that clients cannot fill the memory.
private struct BoundedTable<Value: Sendable>: Sendable {
    private static var most: Int { 10_000 }
    private var values: [String: Value] = [:]
    private var rest: Value?

    subscript(key: String) -> Value? {
        get { self.values[key] ?? (self.values.count < Self.most ? nil : self.rest) }
        set {
            if self.values[key] != nil || self.values.count < Self.most {
                self.values[key] = newValue
            } else {
                self.rest = newValue
            }
        }
    }
}

extension SimulatedRequest {
    /// The client and the URL.
    fileprivate var visitor: String { "\(self.client ?? "") \(self.location)" }
}

extension FixedAnswer {
    /// The answer to a request beyond a limit (RFC 6585 §4).
    fileprivate init(exceeding limit: FaultRule.Limit, for time: Duration) {
        self.status = 429
        let seconds = Self.seconds(time)
        self.fields = [
            ("Retry-After", "\(seconds)"), ("Content-Type", "application/json"),
        ].map { HeaderRules.Line(name: $0.0, value: $0.1, position: .nowhere) }
        self.body = Array(
            #"{"error":"more than \#(limit.requests) requests in \#(limit.length.spelled)","retry_after":\#(seconds)}"#
                .utf8)
    }

    fileprivate static func seconds(_ time: Duration) -> Int { max(1, Int((time / .seconds(1)).rounded(.up))) }

    /// The time of `Retry-After` in seconds; nil without it, or if it has a date.
    fileprivate var retryAfter: Duration? {
        let line = self.fields.first { $0.name.lowercased() == "retry-after" }
        return line.flatMap { Int($0.value) }.map { .seconds(min($0, 86_400)) }
    }
}

extension FaultRule.Limit {
    /// The fields that clients look at: those of draft-ietf-httpapi-ratelimit-headers, and those that services use.
    fileprivate func fields(_ rest: Int, until time: Duration) -> [(name: String, value: String)] {
        let (left, seconds) = (max(0, rest), FixedAnswer.seconds(time))
        let window = Int(self.length / .seconds(1))
        return [
            ("RateLimit-Policy", "\"default\";q=\(self.requests);w=\(window)"),
            ("RateLimit", "\"default\";r=\(left);t=\(seconds)"),
            ("X-RateLimit-Limit", "\(self.requests)"), ("X-RateLimit-Remaining", "\(left)"),
            ("X-RateLimit-Reset", "\(seconds)"),
        ]
    }
}
