// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleActivity
import PintleLoop
import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

@testable import PintleProxy
@testable import PintleSession

/// There is one plan: the actions of an exchange, the output of `check --sample` and that of `explain` agree, for any
/// configuration and request, and however often the request comes.
struct AgreementTests {
    /// 50 configurations of ten requests each; `PINTLE_SEED` tries those of a run again.
    private static let configurations = 50
    private static let requestsEach = 10

    @Test func `serve, check and explain agree`() async throws {
        let engine = try Engine(threads: 1)
        var tally = Tally()
        for number in 0..<Self.configurations {
            let seed = Seed.ofThisRun &+ UInt64(number)
            try await self.compare(MadeUp(seed: seed, requests: Self.requestsEach), seed, engine, &tally)
        }
        await engine.stopped()
        // A generator whose requests are all refused would prove nothing.
        #expect(tally.sent > 50 && tally.refused > 20, "\(tally), seed \(Seed.ofThisRun)")
    }

    struct Tally {
        var sent = 0
        var refused = 0
        var own = 0
        var unloadable = 0
    }

    private func compare(_ made: MadeUp, _ seed: UInt64, _ engine: Engine, _ tally: inout Tally) async throws {
        let policy: Policy
        do throws(ConfigurationError) {
            policy = try ExchangeStage.checkedPolicy(made.policy)
        } catch {
            // A text that cannot be loaded is no configuration: the generator guessed wrong.
            tally.unloadable += 1
            return
        }
        let counters = Counters(routes: policy.routes.routes.map(\.name))
        let log = try ExchangeLog(.off, format: .json, redaction: .off, logger: ExchangeStage.logger)
        let active = try ExchangeStage.active(policy, engine, counters, log)
        let pool = WorkPool(memory: counters.memory, workers: 1)
        for request in made.requests {
            let head: RequestHead
            do {
                head = try RequestHead(spelled: request.lines)
            } catch {
                continue
            }
            let checked = Self.checked(request, policy)
            let explained = Self.explained(head, policy)
            let loop = engine.loops[0]
            let (served, isReported, again) = try await loop.submit {
                func serve(_ received: ReceivedRequest) -> Outcome {
                    let transcript = Transcript()
                    let opener = RecordingOpener(transcript)
                    let worker = Worker(
                        loop: loop, active: active, limiter: ConnectionLimiter(), pool: pool, origins: opener)
                    return Self.serve(request, received, worker, opener, transcript)
                }
                let before = counters.snapshot().overall.violations.total
                guard let framing = try? head.bodyFraming() else {
                    return (Outcome.refused("bad-request"), isReported: false, again: [Outcome]())
                }
                let outcome = serve(ReceivedRequest(head, framing))
                let isReported = counters.snapshot().overall.violations.total > before
                // Only requests without a body are remembered.
                let recurrent = ReceivedRequest(head, framing, isRecurrent: true)
                let again = framing == .none ? (0..<3).map { _ in serve(recurrent) } : []
                return (outcome, isReported: isReported, again: again)
            }.get()
            let context = Comment("seed \(seed)\n\(made.policy)\n\(request.sample)\nexplained: \(explained)")
            Self.count(served, &tally)
            switch served {
            case .sent(let text):
                #expect(checked.outcome == .sent(text), context)
                #expect(checked.isReported == isReported, context)
            case .refused(let name): #expect(checked.outcome == .refused(name), context)
            case .own: #expect(checked.outcome == .refused("bad-request"), context)
            case .illegal(let breaches): Issue.record("\(breaches)\n\(context)")
            }
            #expect(explained.allows(served), context)
            #expect(again.allSatisfy { $0 == served }, context)
        }
        await active.close()
    }

    private static func count(_ served: Outcome, _ tally: inout Tally) {
        switch served {
        case .sent: tally.sent += 1
        case .refused: tally.refused += 1
        case .own: tally.own += 1
        case .illegal: break
        }
    }

    // MARK: The three

    /// The outcome of a request.
    enum Outcome: Equatable, Sendable {
        /// The request was sent to the origin, in this form.
        case sent(String)
        /// The request was answered with this problem.
        case refused(String)
        /// The proxy has answered the request itself.
        case own
        case illegal([String])
    }

    private static func serve(
        _ request: MadeUp.Request, _ received: ReceivedRequest, _ worker: Worker, _ opener: RecordingOpener,
        _ transcript: Transcript
    ) -> Outcome {
        let client = RecordingClient(transcript, method: received.head.method)
        let framing = received.framing
        let exchange = Exchange(received, from: client, of: nil, on: worker)
        client.serve(exchange)
        exchange.begin()
        if framing != .none {
            var reader = BodyReader(framing, limits: HeadLimits())
            var inbox = ByteBuffer(string: request.body)
            reading: while let piece = try? reader.next(&inbox) {
                switch piece {
                case .data(let bytes): client.give(bytes)
                case .end(let trailers):
                    client.endBody(trailers)
                    break reading
                case .waiting: break reading
                }
            }
        }
        defer { if !client.isOver { client.leave() } }
        guard transcript.breaches.isEmpty else { return .illegal(transcript.breaches) }
        if let origin = opener.origins.first { return .sent(origin.sentRequest) }
        return client.problem.map { .refused(String($0)) } ?? .own
    }

    private static func checked(_ request: MadeUp.Request, _ policy: Policy) -> (outcome: Outcome, isReported: Bool) {
        do throws(Problem) {
            let run = try DryRun(Array(request.sample.utf8), policy: policy)
            let isReported = !run.breaches.isEmpty || run.decision.reportedBreach != nil
            return (.sent(run.head.spelledForComparison(body: run.body)), isReported)
        } catch {
            return (.refused(error.name.rawValue), false)
        }
    }

    /// The output of `explain`: the lines, or the problem's name.
    struct Explained: CustomStringConvertible {
        var lines: [String] = []
        var problem: String?

        var description: String { self.problem ?? self.lines.joined(separator: "\n") }

        func has(_ beginning: String) -> Bool { self.lines.contains { $0.hasPrefix(beginning) } }

        func allows(_ served: Outcome) -> Bool {
            switch served {
            case .sent(let text):
                guard self.problem == nil, let line = self.lines.first(where: { $0.hasPrefix("sent to ") }) else {
                    return false
                }
                // A serializer may append parameters to the path.
                return !self.has("answer ") && text.hasPrefix(line.dropFirst(13))
            case .refused(let name):
                if let problem { return problem == name }
                // The explanation does not know the body, which is what the other problems are about.
                return self.has("answer ")
                    ? self.lines.contains { $0.hasSuffix(" \(name)") }
                    : ["bad-request", "unserializable-request", "body-too-large"].contains(name)
            case .own: return self.has("answer       this proxy's own")
            case .illegal: return false
            }
        }
    }

    private static func explained(_ head: RequestHead, _ policy: Policy) -> Explained {
        var explained = Explained()
        do throws(Problem) {
            explained.lines = try Explanation(policy, head).lines.map(\.description)
        } catch {
            explained.problem = error.name.rawValue
        }
        return explained
    }
}

extension RequestHead {
    /// Target, fields in order and body; the framing as one word.
    func spelledForComparison(body: [UInt8]) -> String {
        guard case .absolute(let scheme, let authority, let path) = self.target else { return "\(self.target)" }
        let framing: Set<String> = ["host", "content-length", "transfer-encoding", "connection", "upgrade"]
        let form = self.fields.contains(.transferEncoding) ? "chunked" : self.fields[.contentLength] ?? "none"
        let upgrade = self.fields["Upgrade"].map { " offering \($0)" } ?? ""
        let fields = self.fields.pairs.filter { !framing.contains($0.name.lowercased()) }
        let text = fields.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
        let url = "\(self.method) \(scheme.rawValue)://\(authority.description(for: scheme))\(path)"
        return "\(url) {\(text)} \(form)\(upgrade) \(String(decoding: body, as: UTF8.self))"
    }
}
