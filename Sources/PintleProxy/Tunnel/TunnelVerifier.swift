// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleSystem
internal import PintleTrust

/// Verifies the destinations of tunnels (`connect: verify`).
///
/// One per event loop, used on its thread only. Concurrent verifications of the same address share one handshake.
final class TunnelVerifier {
    /// Key under which a verification is shared: destination and trust evaluator.
    struct Question: Hashable {
        let authority: Authority
        /// Nil if an https upstream proxy makes the connection.
        let address: SocketAddress?
        let evaluator: TrustEvaluator
    }

    /// The reason why a destination is not trusted, with the verdict if it has presented a chain.
    struct Refusal: Error {
        let problem: Problem
        let verdict: Verdict?
    }

    typealias Answer = Result<Verdict, Refusal>

    private let loop: Loop
    private var waiting: [Question: [(Answer) -> Void]] = [:]

    init(loop: Loop) { self.loop = loop }

    /// Verifies the destination.
    ///
    /// - Parameters:
    ///   - socket: a connection to the destination, which is used up.
    ///   - patience: the longest time for it.
    ///   - verifications: keeps the answer if it comes from the destination itself.
    func ask(
        _ question: Question, over socket: WaitingSocket, for patience: Duration,
        in verifications: VerificationCache,
        then: @escaping (Answer) -> Void
    ) {
        guard let address = question.address else {
            preconditionFailure("BUG: a destination is probed that only a parent can reach")
        }
        self.waiting[question, default: []].append(then)
        // The verification under way answers this question, too.
        guard self.waiting[question]?.count == 1 else { return }
        var probe = Probe(
            address: address, host: question.authority.host, evaluator: question.evaluator)
        probe.connection = socket.take()
        probe.timeLimit = patience
        let asker = LoopBound(self, loop: self.loop)
        Task { [probe, loop] in
            let result = await probe.run(on: loop)
            asker.run { $0.learn(result, about: question, in: verifications) }
        }
    }

    private func learn(_ result: ProbeResult, about question: Question, in verifications: VerificationCache) {
        let answer = Answer(result, about: question)
        // A failure on the way may not occur the next time.
        if result.verdict != nil { verifications.keep(answer, to: question) }
        for then in self.waiting.removeValue(forKey: question) ?? [] { then(answer) }
    }
}

/// The latest verifications of all event loops (`tunnels.verify_ttl`).
final class VerificationCache: Sendable {
    private struct Known {
        let answer: TunnelVerifier.Answer
        let end: NIODeadline
        /// The time of the answer.
        let moment: UnixTime

        /// True if the answer may still be used. The verdict may expire before `validity` is over.
        var holds: Bool {
            guard self.end > .now() else { return false }
            guard case .success(let verdict) = self.answer, let end = verdict.end else { return true }
            return end > .now
        }
    }

    /// The most answers that are kept.
    private static let remembered = 4096

    private let validity: TimeAmount
    private let known = Locked<[TunnelVerifier.Question: Known]>([:])

    init(validity: TimeAmount) { self.validity = validity }

    /// The kept answer, if it is still valid.
    func answer(to question: TunnelVerifier.Question) -> TunnelVerifier.Answer? {
        self.known.withLock { known in
            guard let answer = known[question] else { return nil }
            if answer.holds { return answer.answer }
            known[question] = nil
            return nil
        }
    }

    /// All kept successful verifications.
    var all: [(question: TunnelVerifier.Question, verdict: DatedVerdict)] {
        self.known.withLock { known in
            known.compactMap { question, known in
                (try? known.answer.get()).map { (question, DatedVerdict(verdict: $0, moment: known.moment)) }
            }
        }
    }

    func keep(_ answer: TunnelVerifier.Answer, to question: TunnelVerifier.Question) {
        // With `tunnels.verify_ttl: 0` each tunnel asks for itself.
        guard self.validity > .zero else { return }
        self.known.withLock { known in
            if known.count >= Self.remembered { known.removeAll() }
            known[question] = Known(answer: answer, end: .now() + self.validity, moment: .now)
        }
    }
}

extension Result where Success == Verdict, Failure == TunnelVerifier.Refusal {
    fileprivate init(_ result: ProbeResult, about question: TunnelVerifier.Question) {
        if let verdict = result.verdict, let problem = Problem(refusing: verdict) {
            self = .failure(TunnelVerifier.Refusal(problem: problem, verdict: verdict))
        } else if result.negotiated != nil, let verdict = result.verdict {
            self = .success(verdict)
        } else {
            self = .failure(
                TunnelVerifier.Refusal(problem: Problem(result.failure, at: question.authority), verdict: nil))
        }
    }
}

extension Problem {
    /// Makes the problem for a tunnel that cannot be verified.
    init(_ failure: ProbeFailure?, at authority: Authority) {
        let name: Name =
            switch failure {
            case .refused: .connectFailure
            case .unreachable, .local: .connectFailure
            case .timedOut: .connectTimeout
            case .reset, .handshake, .cancelled, nil: .tlsFailure
            }
        let reason = failure.map { "\($0)" } ?? "it showed no certificate"
        let remedy =
            if case .handshake(.plainText) = failure {
                "; connect: tunnel on a route for it relays what is no TLS"
            } else { "" }
        self.init(name, "\(authority) cannot be verified before the tunnel opens: \(reason)\(remedy)")
    }
}
