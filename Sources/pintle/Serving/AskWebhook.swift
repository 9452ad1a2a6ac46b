// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleProxy
internal import PintleSerialization
internal import PintleSession
internal import PintleSystem
internal import PintleTrust

/// Posts questions about destinations to the webhook of the configuration, and takes the answers that its responses are.
///
/// It has a session of its own, to which no rule about destinations applies: a question must not wait for another.
final class AskWebhook: Sendable {
    fileprivate struct Receiver: Sendable {
        let webhook: AskConfiguration.Webhook
        let session: Session
        let client: HTTPSession
        let signature: AnswerSignature
    }

    private struct State: Sendable {
        var receiver: Receiver?
        /// The questions that were posted and are open.
        var posted: Set<String> = []
    }

    private let board: AskBoard
    private let engine: Engine
    private let logger: Logger
    private let state = Locked(State())

    /// The most bytes of an answer that are read.
    private static let longestAnswer = 16 << 10

    /// - Parameter policy: the configuration in force.
    init(_ board: AskBoard, by policy: Policy, on engine: Engine, logger: Logger) throws(CommandFailure) {
        (self.board, self.engine, self.logger) = (board, engine, logger)
        try self.use(policy)
        board.observe { [weak self] in self?.postNew() }
    }

    /// Takes the webhook of another configuration.
    func use(_ policy: Policy) throws(CommandFailure) {
        let next = try policy.configuration.ask.webhook.map { webhook throws(CommandFailure) in
            try Receiver(webhook, policy, on: self.engine)
        }
        let previous = self.state.withLock { state in
            defer { state.receiver = next }
            return state.receiver
        }
        if next != nil { self.board.add(.webhook) } else { self.board.remove(.webhook) }
        if let previous { Task { await previous.session.invalidateAndCancel() } }
    }

    func stop() async { await self.state.withLock { $0.receiver }?.session.invalidateAndCancel() }

    private func postNew() {
        let open = self.board.questions
        let (receiver, new) = self.state.withLock { state in
            let new = state.receiver == nil ? [] : open.filter { !state.posted.contains($0.id) }
            state.posted = state.posted.intersection(open.map(\.id)).union(new.map(\.id))
            return (state.receiver, new)
        }
        // The configuration has no webhook.
        guard let receiver else { return }
        for question in new { Task { await self.post(question, to: receiver) } }
    }

    private func post(_ question: AskedQuestion, to receiver: Receiver) async {
        let body = Array(question.document.jsonText.utf8)
        let signature = receiver.signature.value(for: body, at: .now())
        do {
            let response = try await receiver.client.stream(
                receiver.webhook.url.description, method: "POST", body: .bytes(body, type: "application/json")
            ) { request in
                request.fields.append(AnswerSignature.field, signature)
                // It may answer as late as the question is open.
                request.timeout = question.timeLeft + .seconds(1)
            }
            let answer = Array(try await response.body.collect(upTo: Self.longestAnswer).readableBytesView)
            switch response.head.status {
            // It answers later, at the admin endpoint, or leaves the answer to others.
            case 202, 204: break
            case 200: self.take(answer, response.head.fields[AnswerSignature.field], to: question, by: receiver)
            case let status: self.warn(question, "it answers with status \(status)")
            }
        } catch {
            // The end of the process is no failure of the webhook.
            if (error as? SessionError)?.code == .cancelled { return }
            self.warn(question, (error as? SessionError)?.message ?? "\(error)")
        }
    }

    private func take(_ body: [UInt8], _ signature: String?, to question: AskedQuestion, by receiver: Receiver) {
        guard receiver.signature.isValid(signature, for: body, at: .now()) else {
            return self.warn(question, "its answer has no valid \(AnswerSignature.field)")
        }
        guard let answer = SignedAnswer(document: body), answer.id == question.id else {
            return self.warn(question, "its answer is not {\"id\": …, \"answer\": …, \"for\": …} for this question")
        }
        // Another place may have answered before.
        _ = self.board.answer(question.id, answer.answer, at: .webhook)
    }

    private func warn(_ question: AskedQuestion, _ reason: String) {
        self.logger.warning(
            "ask.webhook: \(reason)", metadata: [LogKeys.authority: "\(question.authority)"])
    }
}

extension AskWebhook.Receiver {
    fileprivate init(
        _ webhook: AskConfiguration.Webhook, _ policy: Policy, on engine: Engine
    ) throws(CommandFailure) {
        var configuration = SessionConfiguration()
        configuration.redirects = .never
        configuration.additionalFields = ["User-Agent": "pintle/\(Version.number)"]
        let index = policy.configuration.trust.firstIndex { $0.name == webhook.trust?.value }
        configuration.clientIdentity = index.flatMap { policy.clientIdentities[$0] }
        let trust = index.map { policy.securityPolicies[$0] } ?? .default
        do {
            self.session = try Session(engine: engine, configuration: configuration, policy: trust)
            self.client = try HTTPSession(self.session, base: webhook.url.description)
        } catch {
            throw CommandFailure(.incomplete, "ask.webhook: \(error)")
        }
        (self.webhook, self.signature) = (webhook, AnswerSignature(secret: webhook.secret))
    }
}

extension AskedQuestion {
    /// The question as a webhook gets it.
    fileprivate var document: Parameter {
        let program = self.request.program
        return .object([
            ("id", .string(self.id)), ("host", .string(self.authority.host)),
            ("port", .integer(Int64(self.authority.port))), ("method", .string(self.request.method)),
            ("url", .string(self.request.url)), ("process", .optional(program?.name)),
            ("pid", program.map { .integer(Int64($0.number)) }), ("rule", .string(self.rule)),
            ("time", .string("\(self.openedAt)")),
            ("expires", .string("\(Timestamp(milliseconds: self.openedAt.milliseconds + self.timeoutMilliseconds))")),
        ])
    }

    private var timeoutMilliseconds: Int64 { Int64(self.timeout.roundedMilliseconds) }
}
