// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSerialization
import Testing

/// Responses that a route's contract makes, judged by the same contract as those of an origin.
struct GeneratedAnswerTests {
    private static let pets = """
        openapi: 3.1.0
        paths:
          /pets/{id}:
            get:
              responses:
                200:
                  content:
                    application/json:
                      schema:
                        type: object
                        required: [id, born]
                        properties:
                          id: {type: integer}
                          born: {type: string, format: date-time}
                          name: {type: [string, "null"]}
                      examples:
                        cat: {value: {id: 7, born: "2020-01-01T00:00:00Z", name: Tom}}
        """

    private func operation() throws -> ContractedOperation {
        let policy = try PolicyLoader.policy(
            yaml: Array("version: 1\nroutes: [{name: a, contract: api.yaml}]".utf8), file: "pintle.yaml",
            surroundings: surroundings(files: ["api.yaml": Self.pets]))
        let decision = try policy.decide(try query("GET", "https://pets.test/pets/7"))
        return try #require(policy.apiContract(for: decision)).operation(method: "GET", path: decision.path)
    }

    /// The faults that the contract finds in a response.
    private func faults(of answer: GeneratedAnswer, _ operation: ContractedOperation) throws -> [String] {
        let head = ResponseHead(status: answer.status, fields: answer.fields)
        do throws(ValidationError) {
            guard let contract = try operation.contract(for: head, to: "GET") else { return [] }
            _ = try contract.validate(head: head, body: answer.body, requestMethod: "GET", within: .unlimited)
            return []
        } catch {
            return [error.message]
        }
    }

    @Test func `the contract accepts what it makes, and refuses what it breaks`() throws {
        let operation = try self.operation()
        for seed in 0..<50 as Range<UInt64> {
            for kind in GeneratedAnswer.Kind.allCases {
                let answer = try #require(operation.answer(kind, accept: nil, prefer: nil, seed: seed))
                #expect(try self.faults(of: answer, operation).isEmpty == (kind != .broken), "\(kind): \(answer.note)")
            }
        }
    }

    @Test func `a request chooses an example by its name`() throws {
        let operation = try self.operation()
        let answer = try #require(
            operation.answer(.examples, accept: "application/json", prefer: "example=cat", seed: 1))
        #expect(String(decoding: answer.body, as: UTF8.self) == #"{"id":7,"born":"2020-01-01T00:00:00Z","name":"Tom"}"#)
        #expect(answer.note == "200 application/json: the example “cat”")
        #expect(operation.answer(.examples, accept: nil, prefer: "example=dog", seed: 1) == nil)
    }

    @Test func `work for an answer ends with its budget`() throws {
        let budget = WorkBudget(steps: 1)
        _ = budget.spend(2)
        #expect(try self.operation().answer(.legal, accept: nil, prefer: nil, seed: 1, within: budget) == nil)
    }
}
