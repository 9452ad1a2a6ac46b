// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// An answer of a route's own: a member of `mock`.
package struct MockRule: Sendable, Equatable {
    package enum Answer: Sendable, Equatable {
        /// The answer stands in the file.
        case fixed(FixedAnswer)
        /// The answer follows from the contract of the route.
        case contract(GeneratedAnswer.Kind)
    }

    package var when = SimulationCondition()
    package var answer: Answer
    /// The time before the answer. Default nil: none.
    package var delay: Latency?
    /// The place in the file.
    package let position: SourcePosition

    init(_ answer: Answer, at position: SourcePosition) { (self.answer, self.position) = (answer, position) }
}

/// A complete answer of the configuration.
package struct FixedAnswer: Sendable, Equatable {
    /// From 200 to 599. Default 200.
    package var status: UInt16 = 200
    /// The header fields, in their order; a media type that follows from the content is among them.
    package var fields: [HeaderRules.Line] = []
    package var body: [UInt8] = []

    /// The header fields of the response.
    package var responseFields: Fields {
        var fields = Fields()
        for line in self.fields { fields.append(line.name, line.value) }
        return fields
    }

    /// The statuses of responses that have no content (RFC 9110 §15.3.5, §15.4.5).
    static let withoutContent: Set<UInt16> = [204, 304]
}
