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
        JSONText.value(
            .object([(StreamEvent.questions.rawValue, .array(self.board.questions.map(Self.document)))]))
    }

    private static func document(_ question: AskedQuestion) -> Parameter {
        let program = question.request.program
        return .object(of: StreamEvent.Question.self) { (member) -> Parameter? in
            switch member {
            case .id: .string(question.id)
            case .host: .string("\(question.authority)")
            case .rule: .string(question.rule)
            case .method: .string(question.request.method)
            case .url: .string(question.request.url)
            case .process: program.map { .string($0.name) }
            case .pid: program.map { .integer(Int64($0.number)) }
            case .waiting: .integer(Int64(question.waiting))
            case .time: .string("\(question.openedAt)")
            case .timeLeft: .integer(Int64(question.timeLeft.roundedMilliseconds))
            }
        }
    }

    /// Answers a question as the body of a request says.
    func answer(_ id: String, _ body: [UInt8]) throws(AdminGate.Refusal) -> AdminReply {
        guard let answer = Answer(document: body) else {
            throw AdminGate.Refusal(
                status: 400, title: "No answer",
                detail: "the body is {\"answer\": \"allow\" or \"deny\", \"for\": \"once\" or \"run\"}")
        }
        return try self.answer(id, answer, at: .page)
    }

    /// Answers a question for the webhook, which signs the body.
    ///
    /// - Parameter webhook: that of the configuration in force; nil for none.
    func answer(
        signed body: [UInt8], _ signature: String?, to id: String, _ webhook: AskConfiguration.Webhook?
    ) throws(AdminGate.Refusal) -> AdminReply {
        guard let webhook else {
            throw AdminGate.Refusal(
                status: 404, title: "No webhook",
                detail: "the configuration has no ask.webhook, which could answer here")
        }
        guard AnswerSignature(secret: webhook.secret).isValid(signature, for: body, at: .now()) else {
            throw AdminGate.Refusal(
                status: 403, title: "Not signed",
                detail: "\(AnswerSignature.field) is no signature of the body by ask.webhook.secret, or is over "
                    + "\(AnswerSignature.validity) s old")
        }
        guard let answer = SignedAnswer(document: body), answer.id == id else {
            throw AdminGate.Refusal(
                status: 400, title: "No answer",
                detail:
                    "the body is {\"id\": that of the path, \"answer\": \"allow\" or \"deny\", \"for\": \"once\" or \"run\"}"
            )
        }
        return try self.answer(id, answer.answer, at: .webhook)
    }

    private func answer(
        _ id: String, _ answer: Answer, at place: AnswerPlace
    ) throws(AdminGate.Refusal) -> AdminReply {
        guard self.board.answer(id, answer, at: place) else {
            throw AdminGate.Refusal(
                status: 404, title: "Not open", detail: "the question is answered, or its clients wait no longer")
        }
        return AdminReply(empty: 204)
    }
}
