// SPDX-License-Identifier: Apache-2.0

package import PintleActivity

/// The treatment of one request that may be answered in the place of its origin.
package struct SimulationPlan: Sendable, Equatable {
    /// The part of the plan that answers, or breaks off; the origin is not asked.
    package enum Answer: Sendable, Equatable {
        case mock(FixedAnswer)
        case fault(FixedAnswer)
        /// The client's connection is reset before it gets a response.
        case reset
    }

    /// The place at which the answer breaks off, of any source.
    package enum Cut: Sendable, Equatable {
        /// After so many bytes of the body, if there are more.
        case after(Int)
        /// Within the body: ``FaultRule/Reset/withinResponse``.
        case within
    }

    /// An answer that the contract of the route makes from a seed, if it can.
    package struct Attempt: Sendable, Equatable {
        package let kind: GeneratedAnswer.Kind
        package let seed: UInt64
        /// The rule, as `mock[2]`.
        package let rule: String
    }

    /// The first that succeeds answers.
    package var attempts: [Attempt] = []
    /// The answer if no attempt succeeds; nil if the request then goes on to the origin.
    package var answer: Answer?
    /// True if a fault makes the response late, slow, or breaks it off.
    package var isChanged = false
    /// The time before the request is sent, or answered.
    package var delay: Duration = .zero
    /// The most bytes of the response in a second; nil for as many as come.
    package var bytesPerSecond: Int?
    package var cut: Cut?
    /// Fields that are added to the response of another source: those of a limit.
    package var fields: [(name: String, value: String)] = []
    /// The rules that apply, as `faults[0]` and `mock[2]`.
    package var rules: [String] = []
    /// A sentence about a client that has come back too early.
    package var complaint: String?

    /// Makes a plan that simulates nothing.
    package init() {}

    /// True if nothing is simulated.
    package var isEmpty: Bool {
        self.answer == nil && self.attempts.isEmpty && self.delay == .zero && self.bytesPerSecond == nil
            && self.cut == nil && self.fields.isEmpty
    }

    /// True if a fault answers, or changes the response of another source, once no attempt has succeeded.
    package var isFaulty: Bool {
        switch self.answer {
        case .fault, .reset: true
        case .mock, nil: self.isChanged
        }
    }

    /// The source of the answer, as the log has it.
    ///
    /// - Parameters:
    ///   - attempt: the one that has succeeded.
    ///   - rules: of the route.
    package func source(after attempt: Attempt?, of rules: SimulationRules) -> Simulation? {
        if self.isChanged { return .fault }
        if let attempt { return attempt.kind.simulation }
        switch self.answer {
        case .mock: return .mock
        case .fault, .reset: return .fault
        case nil: return rules.replay?.simulates == true ? .recording : nil
        }
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.answer == right.answer && left.attempts == right.attempts && left.isChanged == right.isChanged
            && left.delay == right.delay && left.bytesPerSecond == right.bytesPerSecond
            && left.cut == right.cut && left.rules == right.rules && left.complaint == right.complaint
            && left.fields.elementsEqual(right.fields) { $0 == $1 }
    }
}
