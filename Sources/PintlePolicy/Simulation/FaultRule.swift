// SPDX-License-Identifier: Apache-2.0

/// A failure that a route is asked to show: a member of `faults`.
package struct FaultRule: Sendable, Equatable {
    /// The part of a fault that takes the place of the origin's answer, or ends it.
    package enum Ending: Sendable, Equatable {
        case answer(FixedAnswer)
        /// An answer that follows from the contract of the route: ``GeneratedAnswer/Kind/legal`` or
        /// ``GeneratedAnswer/Kind/broken``.
        case contract(GeneratedAnswer.Kind)
        case reset(Reset)
        case limit(Limit)
    }

    /// The moment at which the client's connection is reset.
    package enum Reset: String, Sendable, CaseIterable {
        /// No byte of a response is sent.
        case beforeResponse = "before_response"
        /// The head is sent, and the first half of a body with a known length, or the first piece of another.
        case withinResponse = "within_response"
    }

    /// A limit on requests. Further ones are answered with 429 until the time is over.
    package struct Limit: Sendable, Equatable {
        /// The number of requests in each period of ``length``.
        package let requests: Int
        package let length: Duration
    }

    package var when = SimulationCondition()
    /// The time before the request is sent, or answered. Default nil: none.
    package var delay: Latency?
    /// The most bytes of the response in a second. Default nil: as many as come.
    package var bytesPerSecond: Int?
    /// The number of bytes of the body after which the response breaks off. Default nil: it does not.
    package var cutAfter: Int?
    package var ending: Ending?
    /// The place in the file.
    package let position: SourcePosition

    init(at position: SourcePosition) { self.position = position }
}
