// SPDX-License-Identifier: Apache-2.0

/// The permission for answers that do not come from an origin: `simulation`.
package struct SimulationConfiguration: Sendable, Equatable {
    package enum Allowance: String, Sendable, CaseIterable {
        /// They are allowed while every listener is on loopback.
        case auto
        case on
        case off
    }

    /// Default `auto`: a proxy that other machines use must not invent answers by accident.
    package var allow = Allowance.auto
    /// The seed of everything that is left to chance. Default nil: a new one at each start, which is logged.
    package var seed: UInt64?
    /// The rules for requests that match no route; the configuration file has none, only the options of `pintle run` do.
    package var unrouted = SimulationRules()
    /// True if tunnels that are only relayed are denied, because they would reach their destinations past the recordings; the
    /// configuration file has no key for it, only `pintle run --replay` does.
    package var refusesTunnels = false
    /// The named sets of faults, in the order of the file: the top-level `faults`.
    package var faultSets: [FaultSet] = []

    package init() {}

    /// Faults that `pintle run --faults` adds to every route.
    package struct FaultSet: Sendable, Equatable {
        package let name: String
        package let faults: [FaultRule]
        package let position: SourcePosition
    }
}

extension Configuration {
    /// True if mocks or faults are in use, which may need numbers at random.
    package var leavesToChance: Bool {
        ([self.simulation.unrouted] + self.routes.map(\.simulation))
            .contains { !$0.mocks.isEmpty || !$0.faults.isEmpty }
    }
}

/// The rules by which a route answers in the place of its origin.
package struct SimulationRules: Sendable, Equatable {
    /// The first whose condition holds answers.
    package var mocks: [MockRule] = []
    /// All whose conditions hold apply. Among those that end the exchange, the first counts.
    package var faults: [FaultRule] = []

    package init() {}

    /// The recordings that answer, or are made; nil for none.
    package var replay: ReplayRules?

    package var isEmpty: Bool { self.mocks.isEmpty && self.faults.isEmpty && self.replay == nil }

    /// True if clients may get answers that the origin does not give now.
    package var invents: Bool { !self.mocks.isEmpty || !self.faults.isEmpty || self.replay?.simulates == true }

    /// The keys of the route that are in use.
    package var keys: [String] {
        [("mock", !self.mocks.isEmpty), ("faults", !self.faults.isEmpty), ("replay", self.replay != nil)].filter(\.1)
            .map(\.0)
    }
}

extension SimulationRules {
    /// The rules without their places in the file.
    package var normalized: SimulationRules {
        var rules = SimulationRules()
        rules.mocks = self.mocks.map(\.normalized)
        rules.faults = self.faults.map(\.normalized)
        rules.replay = self.replay
        return rules
    }
}

extension MockRule {
    fileprivate var normalized: MockRule {
        let answer: Answer
        switch self.answer {
        case .fixed(let fixed): answer = .fixed(fixed.normalized)
        case .contract: answer = self.answer
        }
        var rule = MockRule(answer, at: .nowhere)
        (rule.when, rule.delay) = (self.when, self.delay)
        return rule
    }
}

extension FaultRule {
    fileprivate var normalized: FaultRule {
        var rule = FaultRule(at: .nowhere)
        (rule.when, rule.delay, rule.bytesPerSecond) = (self.when, self.delay, self.bytesPerSecond)
        (rule.cutAfter, rule.ending) = (self.cutAfter, self.ending)
        if case .answer(let fixed) = self.ending { rule.ending = .answer(fixed.normalized) }
        return rule
    }
}

extension FixedAnswer {
    fileprivate var normalized: FixedAnswer {
        var answer = self
        answer.fields = self.fields.map { .init(name: $0.name, value: $0.value, position: .nowhere) }
        return answer
    }
}
