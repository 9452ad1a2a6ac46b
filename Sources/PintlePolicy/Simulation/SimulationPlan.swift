// SPDX-License-Identifier: Apache-2.0

/// The treatment of one request that may be answered in the place of its origin.
package struct SimulationPlan: Sendable, Equatable {
    /// The part of the plan that answers, or breaks off; the origin is not asked.
    package enum Answer: Sendable, Equatable {
        case mock(FixedAnswer)
        case fault(FixedAnswer)
        /// An answer that the contract of the route makes from a seed. If it cannot, the origin is asked.
        case contract(GeneratedAnswer.Kind, seed: UInt64)
        /// The client's connection is reset before it gets a response.
        case reset
    }

    /// The place at which the answer breaks off, whoever gives it.
    package enum Cut: Sendable, Equatable {
        /// After so many bytes of the body, if there are more.
        case after(Int)
        /// Within the body: ``FaultRule/Reset/withinResponse``.
        case within
    }

    /// Nil if the request goes on to the origin.
    package var answer: Answer?
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

    /// True if the response is left as it is.
    package var isUnchanged: Bool {
        self.answer == nil && self.delay == .zero && self.bytesPerSecond == nil && self.cut == nil
            && self.fields.isEmpty
    }

    /// True if the response is late, slow or broken off, whoever gives it.
    package var isChanged: Bool { self.delay > .zero || self.bytesPerSecond != nil || self.cut != nil }

    /// True if the client is meant to see the answer even if it breaks the route's rules.
    package var isUnjudged: Bool {
        switch self.answer {
        case .fault, .reset, .contract(.legal, _), .contract(.broken, _): true
        case .mock, .contract(.examples, _), .contract(.generated, _), nil: self.cut != nil
        }
    }

    /// True if a fault changes the response, whoever gives it.
    package var isFaulty: Bool { self.isUnjudged || self.rules.contains { $0.hasPrefix("faults") } }

    package static func == (left: Self, right: Self) -> Bool {
        left.answer == right.answer && left.delay == right.delay && left.bytesPerSecond == right.bytesPerSecond
            && left.cut == right.cut && left.rules == right.rules && left.complaint == right.complaint
            && left.fields.elementsEqual(right.fields) { $0 == $1 }
    }
}
