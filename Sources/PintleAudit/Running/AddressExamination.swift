// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSession
internal import PintleTrust

/// Runs the handshakes with one address, one after the other.
struct AddressExamination {
    /// First each kind of key in each safe version, one at a time. Then both kinds at once, if no chain came so far, or no
    /// TLS 1.3: some servers require that the signatures in their chain are of an offered kind too (RFC 8446 §4.4.2.2), and
    /// have a chain with both. Then the unsafe versions.
    private static let offers: [HandshakeOffer] = [
        HandshakeOffer(versions: .tls13 ... .tls13, keys: .rsa),
        HandshakeOffer(versions: .tls13 ... .tls13, keys: .ecdsa),
        HandshakeOffer(versions: .tls12 ... .tls12, keys: .rsa),
        HandshakeOffer(versions: .tls12 ... .tls12, keys: .ecdsa),
        HandshakeOffer(), HandshakeOffer(versions: .tls11 ... .tls11, keys: .any),
        HandshakeOffer(versions: .tls10 ... .tls10, keys: .any),
    ]

    /// The result of all handshakes.
    struct Outcome {
        let report: AddressReport
        /// The reason why no handshake succeeded; nil if one did, or if a chain was shown.
        let failure: ProbeFailure?
    }

    let target: AuditTarget
    let address: SocketAddress
    let evaluator: TrustEvaluator
    /// The time limit of all handshakes together.
    let timeLimit: Duration
    /// The time at which certificates must be valid; nil for now.
    let moment: UnixTime?

    func run(on loop: Loop) async -> Outcome {
        let began = ContinuousClock.now
        var handshakes: [HandshakeReport] = []
        var chains: [AuditedChain] = []
        var failures: [ProbeFailure] = []
        var hasTLS13: Bool { handshakes.contains { $0.negotiated?.version == .tls13 } }
        for offer in Self.offers where offer != HandshakeOffer() || chains.isEmpty || !hasTLS13 {
            var probe = Probe(address: self.address, host: self.target.authority.host, evaluator: self.evaluator)
            probe.offer = offer
            probe.judgement = .observed(at: self.moment)
            // A server that ignores one offer may answer the next, so no offer may use up all the time.
            probe.timeLimit = (self.timeLimit - (.now - began)) / 2
            guard probe.timeLimit > .zero else { break }
            let result = await probe.run(on: loop)
            handshakes.append(
                HandshakeReport(
                    offer: offer, negotiated: result.negotiated, failure: result.failure.map(\.description)))
            Self.note(result, offer, in: &chains)
            if let failure = result.failure { failures.append(failure) }
            if result.failure?.isFinal == true || failures.count(where: \.isTimeOut) == 2 { break }
        }
        if failures.isEmpty || !chains.isEmpty {
            await self.judgeStatuses(of: &chains, until: began + self.timeLimit, loop)
        }
        let keyExchange =
            hasTLS13
            ? await KeyExchangeExamination(
                address: self.address, host: self.target.authority.host, deadline: began + self.timeLimit
            ).run(on: loop) : nil
        let hasSucceeded = !chains.isEmpty || handshakes.contains { $0.negotiated != nil }
        let report = AddressReport(
            address: self.address.ipAddress ?? "", handshakes: handshakes, chains: chains,
            keyExchange: keyExchange, duration: .now - began)
        return Outcome(report: report, failure: hasSucceeded ? nil : failures.first)
    }

    /// Repeats the handshakes as a request would make them if the policy checks stapled statuses, because only these
    /// handshakes judge them.
    private func judgeStatuses(
        of chains: inout [AuditedChain], until deadline: ContinuousClock.Instant, _ loop: Loop
    ) async {
        guard self.evaluator.policy.stapling != .off else { return }
        for (index, chain) in chains.enumerated() where chain.verdict.isTrusted {
            var probe = Probe(address: self.address, host: self.target.authority.host, evaluator: self.evaluator)
            probe.offer = HandshakeOffer(keys: chain.keys.first ?? .any)
            probe.timeLimit = deadline - .now
            guard probe.timeLimit > .zero else { return }
            let result = await probe.run(on: loop)
            if let verdict = result.verdict, verdict.error?.problem == .revoked { chains[index].verdict = verdict }
        }
    }

    private static func note(_ result: ProbeResult, _ offer: HandshakeOffer, in chains: inout [AuditedChain]) {
        guard let verdict = result.verdict else { return }
        guard let known = chains.firstIndex(where: { $0.presented == result.presented }) else {
            chains.append(AuditedChain(keys: [offer.keys], presented: result.presented, verdict: verdict))
            return
        }
        // A handshake with an old version mostly shows a chain that was seen before.
        guard offer.keys != .any, !chains[known].keys.contains(offer.keys) else { return }
        chains[known].keys.append(offer.keys)
    }
}

extension ProbeFailure {
    /// True if no other offer can succeed either.
    fileprivate var isFinal: Bool {
        switch self {
        case .refused, .unreachable, .timedOut(.connecting), .local, .cancelled, .handshake(.plainText): true
        case .timedOut(.handshaking), .reset, .handshake: false
        }
    }

    fileprivate var isTimeOut: Bool { if case .timedOut = self { true } else { false } }
}
