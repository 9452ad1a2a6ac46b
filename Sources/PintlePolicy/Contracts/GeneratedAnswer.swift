// SPDX-License-Identifier: Apache-2.0

package import PintleActivity
package import PintleMessage
internal import PintleSchema
package import PintleSerialization

/// A response that was made by a contract, without an origin.
package struct GeneratedAnswer: Sendable {
    /// The way in which a response is made.
    package enum Kind: String, Sendable, CaseIterable {
        /// From the examples of the contract. A response that has none is not made.
        case examples
        /// From the examples of the contract, else from the schema. It always keeps to the schema.
        case generated
        /// From the schema, with what programs forget: absent, null, empty, unknown, at a limit. It always keeps to the schema.
        case legal
        /// So that it breaks the contract.
        case broken

        /// The kind of answer, as clients and logs see it.
        package var simulation: Simulation {
            switch self {
            case .examples, .generated: .mock
            case .legal, .broken: .fault
            }
        }
    }

    package let status: UInt16
    /// Content-Type, and the fields that the contract requires. No field for the framing of the body.
    package let fields: Fields
    /// The body; empty if the contract declares none.
    package let body: [UInt8]
    /// The choices that were made: `200 application/json: /items/0/name: absent`.
    package let note: String
}

extension ContractedOperation {
    /// Makes a response; a seed makes the same bytes on every machine and in every run.
    ///
    /// - Parameters:
    ///   - accept: the value of the request's Accept. If it names nothing that is declared, it is ignored.
    ///   - prefer: the value of the request's Prefer (RFC 7240); `code=404` and `example=cat` choose a status and an example.
    ///   - budget: the work for the response, by default some milliseconds at most. It does not belong on an event loop.
    /// - Returns: nil if there is no example, if the status or the example of `prefer` is not declared, or if no value was found
    ///   for the schema.
    package func answer(
        _ kind: GeneratedAnswer.Kind, accept: String?, prefer: String?, seed: UInt64,
        within budget: WorkBudget = WorkBudget(steps: GeneratedAnswer.usualSteps)
    ) -> GeneratedAnswer? {
        let way: SchemaSample.Kind =
            switch kind {
            case .examples, .generated: .ordinary
            case .legal: .legal
            case .broken: .broken
            }
        let made = self.operation.answer(
            way, onlyExamples: kind == .examples, accept: accept, prefer: prefer, seed: seed, within: budget)
        return made.map {
            GeneratedAnswer(status: $0.head.status, fields: $0.head.fields, body: $0.body, note: $0.note)
        }
    }
}

extension GeneratedAnswer {
    /// The steps that are enough for nearly every response.
    package static var usualSteps: Int { SchemaSample.usualSteps }
}
