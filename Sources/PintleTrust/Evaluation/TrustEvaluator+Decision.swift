// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A verdict, and the code that tells OpenSSL about it.
struct Ruling {
    let verdict: Verdict
    /// `X509_V_OK` exactly when the verdict is trust.
    let verifyError: CInt
}

/// The decision: AFNetworking's order of steps, shared by handshakes and by `evaluate`.
extension TrustEvaluator {
    private struct Acceptance {
        var chain: [Certificate] = []
        var matchedPin: Pin?
        var waived: TrustError?
        var form: [FormBreach] = []
    }

    /// How hard is looked, and how much must be found.
    private struct Effort {
        /// OpenSSL's security level.
        let level: CInt
        let budget: WorkBudget
    }

    private struct Refusal: Error {
        let error: TrustError
        let verifyError: CInt
        var chain: [Certificate] = []
        var form: [FormBreach] = []
    }

    /// - Parameters:
    ///   - moment: when the certificates must be valid; nil means now.
    ///   - level: OpenSSL's security level; at least 1 is applied.
    ///   - budget: what looking for a path may cost.
    func judge(
        _ peer: PeerChain, host: String?, at moment: UnixTime?, level: CInt, budget: WorkBudget = .offline
    ) -> Ruling {
        let moment = moment ?? .now
        let effort = Effort(level: max(1, level), budget: budget)
        do throws(Refusal) {
            let acceptance = try self.decide(peer, host: host, at: moment, effort)
            return Ruling(
                verdict: self.verdict(
                    .trusted, peer, host, chain: acceptance.chain, matchedPin: acceptance.matchedPin,
                    waived: acceptance.waived, form: acceptance.form),
                verifyError: X509_V_OK)
        } catch {
            // A policy that only reports lets a key pass that is not pinned, but never a chain that does not hold.
            let reportsOnly = self.reportsOnly || self.expiredAction(at: moment) == .report
            if reportsOnly, error.error.code == .pinMismatch, !error.chain.isEmpty {
                return Ruling(
                    verdict: self.verdict(
                        .trusted, peer, host, chain: error.chain, reported: error.error, form: error.form),
                    verifyError: X509_V_OK)
            }
            return Ruling(
                verdict: self.verdict(.refused(error.error), peer, host, chain: error.chain, form: error.form),
                verifyError: error.verifyError)
        }
    }

    /// What becomes of the pins when they have expired; nil as long as they hold.
    private func expiredAction(at moment: UnixTime) -> PinExpiry.Action? {
        self.policy.pinExpiry.flatMap { $0.moment <= moment ? $0.action : nil }
    }

    private func decide(
        _ peer: PeerChain, host: String?, at moment: UnixTime, _ effort: Effort
    ) throws(Refusal) -> Acceptance {
        try self.checkContradiction(host)
        try self.checkName(peer, host)
        let anchored = self.verify(peer, self.anchors, at: moment, effort)
        let waivable = anchored.finding.map { ($0, $0.error(peer: Self.name(of: host), anchors: "a trusted root")) }
        let expired = self.expiredAction(at: moment)
        // Without pins nothing would be left of a policy that accepts anybody's certificate.
        let waives = self.policy.allowInvalidCertificates && expired != .system
        if let (finding, error) = waivable, !waives {
            throw Refusal(error: error, verifyError: finding.rule.verifyError)
        }
        let waived = waivable?.1
        switch expired {
        case .fail:
            throw Refusal(
                error: self.pinRule.expired(peer: Self.name(of: host)),
                verifyError: X509_V_ERR_APPLICATION_VERIFICATION, chain: anchored.chain, form: anchored.form)
        case .system: return Acceptance(chain: anchored.chain, form: anchored.form)
        case .report, nil: break
        }

        switch self.policy.pinning {
        case .none:
            return Acceptance(chain: anchored.chain, waived: waived, form: anchored.form)
        case .publicKey:
            // Of a chain that does not hold only the leaf counts: its key is the one that the handshake proves, while
            // anybody can append the certificates of others.
            let counted = anchored.finding == nil ? anchored.chain : [peer.leaf.certificate]
            let pin = try self.match(counted, peer, host, anchored)
            return Acceptance(chain: anchored.chain, matchedPin: pin, waived: waived, form: anchored.form)
        case .certificate:
            let pinned = try self.verifyPinned(peer, host, anchored, at: moment, effort)
            let pin = try self.match(pinned.chain, peer, host, pinned)
            return Acceptance(chain: pinned.chain, matchedPin: pin, waived: waived, form: pinned.form)
        }
    }

    private func checkContradiction(_ host: String?) throws(Refusal) {
        guard let host, self.policy.validatesNamesInVain else { return }
        let error = TrustError(code: .contradiction, message: "\(host): \(SecurityPolicy.namesInVain)")
        throw Refusal(error: error, verifyError: X509_V_ERR_APPLICATION_VERIFICATION)
    }

    private func checkName(_ peer: PeerChain, _ host: String?) throws(Refusal) {
        guard let host, self.policy.validatesDomainName else { return }
        guard !self.nameRule.matches(host: host, leaf: peer.leaf) else { return }
        throw Refusal(
            error: NameRule.mismatch(host: host, leaf: peer.leaf.certificate),
            verifyError: NameRule.verifyError(host: host))
    }

    /// Certificate mode: the pinned certificates are the only anchors, whatever else is trusted or waived.
    private func verifyPinned(
        _ peer: PeerChain, _ host: String?, _ anchored: ChainVerification, at moment: UnixTime, _ effort: Effort
    ) throws(Refusal) -> ChainVerification {
        guard let anchors = self.pinnedAnchors else {
            preconditionFailure("BUG: certificate mode without its store of pinned certificates")
        }
        let pinned = self.verify(peer, anchors, at: moment, effort)
        guard let finding = pinned.finding else { return pinned }
        let error = finding.error(peer: Self.name(of: host), anchors: "a pinned certificate")
        guard finding.isUnanchored else {
            throw Refusal(
                error: error, verifyError: finding.rule.verifyError, chain: anchored.chain, form: anchored.form)
        }
        let mismatch = self.pinRule.mismatch(
            peer: Self.name(of: host), chain: self.entries(anchored.chain, peer), cause: error.cause)
        throw Refusal(
            error: mismatch, verifyError: finding.rule.verifyError, chain: anchored.chain, form: anchored.form)
    }

    /// - Parameters:
    ///   - candidates: the certificates that count.
    ///   - shown: the verified chain for the report, where there is one.
    private func match(
        _ candidates: [Certificate], _ peer: PeerChain, _ host: String?, _ shown: ChainVerification
    ) throws(Refusal) -> Pin {
        if let pin = self.pinRule.match(in: ChainEntry.entries(of: candidates)) { return pin }
        let error = self.pinRule.mismatch(
            peer: Self.name(of: host), chain: self.entries(shown.chain, peer),
            beside: shown.chain.isEmpty ? [] : peer.certificates)
        throw Refusal(
            error: error, verifyError: X509_V_ERR_APPLICATION_VERIFICATION, chain: shown.chain, form: shown.form)
    }

    private func verify(
        _ peer: PeerChain, _ anchors: AnchorStore, at moment: UnixTime, _ effort: Effort
    ) -> ChainVerification {
        let rules = PathRules(
            moment: moment, securityBits: PathRules.securityBits(ofLevel: effort.level),
            usesCommonName: self.nameRule.allowsCommonName)
        return ChainVerification(
            of: peer, anchors: anchors, rules: rules, revocation: self.revocation,
            demandsForm: self.policy.form == .strict, budget: effort.budget)
    }

    private func verdict(
        _ outcome: Verdict.Outcome, _ peer: PeerChain, _ host: String?, chain: [Certificate], matchedPin: Pin? = nil,
        waived: TrustError? = nil, reported: TrustError? = nil, form: [FormBreach] = []
    ) -> Verdict {
        Verdict(
            outcome: outcome, host: host, chain: self.entries(chain, peer),
            chainOrigin: chain.isEmpty ? .presented : .verified, presented: peer.certificates, matchedPin: matchedPin,
            configuredPins: self.configuredPins, waived: waived, reported: reported, form: form)
    }

    /// The verified chain, or what the peer sent where none was built.
    private func entries(_ verified: [Certificate], _ peer: PeerChain) -> [ChainEntry] {
        ChainEntry.entries(of: verified.isEmpty ? peer.certificates : verified)
    }
}

extension TrustEvaluator {
    /// The verdict on a chain that held, until a later part of the handshake showed that it does not.
    func refusal(of verdict: Verdict, by rule: Rule) -> Verdict {
        let leaf = verdict.chain.first.flatMap { try? PathCertificate($0.certificate) }
        let error = Finding(rule, leaf).error(peer: Self.name(of: verdict.host), anchors: "a trusted root")
        return Verdict(
            outcome: .refused(error), host: verdict.host, chain: verdict.chain, chainOrigin: verdict.chainOrigin,
            configuredPins: verdict.configuredPins)
    }
}

/// What a program's own decision comes to; the policy has no part in it.
extension TrustEvaluator {
    func acceptance(of trust: ServerTrust) -> Ruling {
        self.ruling(.trusted, on: trust, verifyError: X509_V_OK)
    }

    func refusal(of trust: ServerTrust, reason: String) -> Ruling {
        let error = TrustError(
            code: .refusedByHook, message: "\(trust.host): the program's own trust decision refused it: \(reason)")
        return self.ruling(.refused(error), on: trust, verifyError: X509_V_ERR_APPLICATION_VERIFICATION)
    }

    /// For a leaf that nobody can be asked about.
    func unreadableLeaf(host: String) -> Ruling {
        let error = TrustEvaluator.unreadableLeaf(host)
        return Ruling(
            verdict: Verdict(
                outcome: .refused(error), host: host, chain: [], configuredPins: self.configuredPins),
            verifyError: X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY)
    }

    private func ruling(_ outcome: Verdict.Outcome, on trust: ServerTrust, verifyError: CInt) -> Ruling {
        Ruling(
            verdict: Verdict(
                outcome: outcome, host: trust.host, chain: ChainEntry.entries(of: trust.chain),
                configuredPins: self.configuredPins, decidedByHook: true),
            verifyError: verifyError)
    }
}
