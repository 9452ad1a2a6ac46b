// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintleSerialization

/// A response that was made by the declaration of an operation.
package struct OpenAPIAnswer: Sendable {
    /// The status, Content-Type and the required fields. No field for the framing of the body.
    package let head: ResponseHead
    package let body: [UInt8]
    /// The choices that were made: `200 application/json: /items/0/name: absent`.
    package let note: String
}

extension OpenAPIOperation {
    /// Makes a response to a request for this operation; the same seed makes the same response.
    ///
    /// An ordinary response is the first that is declared for a success, else that of `default`, else the first of all. A legal
    /// one may be any, mostly a success. A broken one has a body that the schema forbids, or else a media type or a status that
    /// is not declared.
    ///
    /// - Parameters:
    ///   - onlyExamples: true if an ordinary response comes from the examples of the document, never from a schema alone.
    ///   - accept: the value of the request's Accept. If it names nothing that is declared, it is ignored.
    ///   - prefer: the value of the request's Prefer; `code=404` and `example=cat` choose a status and an example.
    ///   - budget: the work for the response.
    /// - Returns: nil if there is no example, if the status or the example of `prefer` is not declared, or if
    ///   ``JSONSchema/sample(_:seed:leavesOutWriteOnly:within:)`` finds no value.
    package func answer(
        _ kind: SchemaSample.Kind, onlyExamples: Bool = false, accept: String? = nil, prefer: String? = nil,
        seed: UInt64,
        within budget: WorkBudget = WorkBudget(steps: SchemaSample.usualSteps)
    ) -> OpenAPIAnswer? {
        var maker = AnswerMaker(
            operation: self, kind: kind, onlyExamples: onlyExamples,
            preferences: AnswerPreferences(accept: accept, prefer: prefer), choices: SeededChoices(seed: seed),
            budget: budget)
        return maker.answer()
    }
}
