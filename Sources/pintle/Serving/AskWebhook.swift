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
/// It has a session of its own, to which no rule about destinations applies: a question must not wait for another. A post lasts
/// no longer than its question, so that a program that never answers cannot collect connections.
final class AskWebhook: Sendable {
    fileprivate struct Receiver: Sendable {
        let place: Place
        let session: Session
        let client: HTTPSession
        let signature: AnswerSignature
    }

    /// The parts of a configuration that a receiver is made of.
    fileprivate struct Place: Sendable, Equatable {
        let webhook: AskConfiguration.Webhook
        let trust: SecurityPolicy
        let identity: [Certificate]?
    }

    private struct State: Sendable {
        var receiver: Receiver?
        /// The posts of the questions that are open, also those that have ended, by the questions' ids.
        var posts: [String: Task<Void, Never>] = [:]
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
        board.observe { [weak self] in self?.followQuestions() }
    }

    /// Takes the webhook of another configuration. The questions that are open are posted to it, unless it is the same.
    func use(_ policy: Policy) throws(CommandFailure) {
        let place = policy.configuration.ask.webhook.map { Place($0, policy) }
        // An answer may be under way, which a reload for another reason must not lose.
        if self.state.withLock({ $0.receiver?.place == place }) { return }
        let next = try place.map { place throws(CommandFailure) in try Receiver(place, policy, on: self.engine) }
        let (previous, posts) = self.state.withLock { state in
            defer { (state.receiver, state.posts) = (next, [:]) }
            return (state.receiver, state.posts.values)
        }
        for post in posts { post.cancel() }
        if next != nil { self.board.add(.webhook) } else { self.board.remove(.webhook) }
        if let previous { Task { await previous.session.invalidateAndCancel() } }
        self.followQuestions()
    }

    func stop() async { await self.state.withLock { $0.receiver }?.session.invalidateAndCancel() }

    /// Posts new questions, and ends the posts of those that are closed.
    private func followQuestions() {
        let ended = self.state.withLock { state in
            // Read inside the lock: an older reading must not follow a later one.
            let open = self.board.questions
            let ids = Set(open.map(\.id))
            let ended = state.posts.filter { !ids.contains($0.key) }
            for id in ended.keys { state.posts[id] = nil }
            // The configuration may have no webhook.
            if let receiver = state.receiver {
                for question in open where state.posts[question.id] == nil {
                    state.posts[question.id] = Task { await self.post(question, to: receiver) }
                }
            }
            return ended.values
        }
        for post in ended { post.cancel() }
    }

    private func post(_ question: AskedQuestion, to receiver: Receiver) async {
        let body = Array(question.document.jsonText.utf8)
        let signature = receiver.signature.value(for: body, at: .now())
        do {
            let response = try await receiver.client.stream(
                receiver.place.webhook.url.description, method: "POST", body: .bytes(body, type: "application/json")
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
            guard Task.isCancelled || (error as? SessionError)?.code == .cancelled else {
                return self.warn(question, (error as? SessionError)?.message ?? "\(error)")
            }
            // The end of the process is no failure of the webhook, and neither is an answer from another place.
            if question.timeLeft == .zero {
                self.warn(question, "it has not answered within \(question.timeout.spelled)")
            }
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

extension AskWebhook.Place {
    fileprivate init(_ webhook: AskConfiguration.Webhook, _ policy: Policy) {
        let index = Self.trust(of: webhook, in: policy)
        self.identity = index.flatMap { policy.clientIdentities[$0]?.chain }
        self.trust = index.map { policy.securityPolicies[$0] } ?? .default
        var webhook = webhook
        // Its place in the file does not matter.
        webhook.trust?.position = SourcePosition(line: 1, column: 1)
        self.webhook = webhook
    }

    fileprivate static func trust(of webhook: AskConfiguration.Webhook, in policy: Policy) -> Int? {
        policy.configuration.trust.firstIndex { $0.name == webhook.trust?.value }
    }
}

extension AskWebhook.Receiver {
    fileprivate init(_ place: AskWebhook.Place, _ policy: Policy, on engine: Engine) throws(CommandFailure) {
        var configuration = SessionConfiguration()
        configuration.redirects = .never
        configuration.additionalFields = ["User-Agent": "pintle/\(Version.number)"]
        // A question on a kept connection that breaks would be sent again, and a person would be asked twice.
        (configuration.httpVersion, configuration.idleConnections) = (.http1, 0)
        configuration.clientIdentity = AskWebhook.Place.trust(of: place.webhook, in: policy)
            .flatMap { policy.clientIdentities[$0] }
        do {
            self.session = try Session(engine: engine, configuration: configuration, policy: place.trust)
            self.client = try HTTPSession(self.session, base: place.webhook.url.description)
        } catch {
            throw CommandFailure(.incomplete, "ask.webhook: \(error)")
        }
        (self.place, self.signature) = (place, AnswerSignature(secret: place.webhook.secret))
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
