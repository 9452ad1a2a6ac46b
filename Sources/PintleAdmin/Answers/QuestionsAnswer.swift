// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization
internal import PintleSystem

/// The open questions about destinations, and the answers to them.
struct QuestionsAnswer {
    private let board: AskBoard

    init(_ board: AskBoard) { self.board = board }

    /// All open questions, the oldest first.
    var text: [UInt8] {
        JSONText.value(.object([("questions", .array(self.board.questions.map(Self.document)))]))
    }

    private static func document(_ question: AskedQuestion) -> Parameter {
        let program = question.request.program
        return .object([
            ("id", .string(question.id)), ("host", .string("\(question.authority)")),
            ("rule", .string(question.rule)), ("method", .string(question.request.method)),
            ("url", .string(question.request.url)), ("process", .optional(program?.name)),
            ("pid", program.map { .integer(Int64($0.number)) }),
            ("waiting", .integer(Int64(question.waiting))), ("time", .string("\(question.openedAt)")),
            ("expires_in_ms", .integer(Int64(question.timeLeft.roundedMilliseconds))),
        ])
    }

    /// Answers a question as the body of a request says.
    func answer(_ id: String, _ body: [UInt8]) throws(AdminGate.Refusal) -> AdminReply {
        guard let answer = Self.answer(in: body) else {
            throw AdminGate.Refusal(
                status: 400, title: "No answer",
                detail: "the body is {\"answer\": \"allow\" or \"deny\", \"for\": \"once\" or \"run\"}")
        }
        guard self.board.answer(id, answer, at: .page) else {
            throw AdminGate.Refusal(
                status: 404, title: "Not open", detail: "the question is answered, or its clients wait no longer")
        }
        return AdminReply(empty: 204)
    }

    private static func answer(in body: [UInt8]) -> Answer? {
        guard let document = try? JSONScanner().parse(body), case .string(let word) = document["answer"],
            case .string(let scope) = document["for"], let scope = Answer.Scope(rawValue: scope),
            ["allow", "deny"].contains(word)
        else { return nil }
        return Answer(allows: word == "allow", scope)
    }
}
