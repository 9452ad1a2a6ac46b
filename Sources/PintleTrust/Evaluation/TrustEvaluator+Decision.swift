// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A verdict, and its code for OpenSSL.
struct HandshakeDecision {
    let verdict: Verdict
    /// The code; `X509_V_OK` exactly if the verdict is trust.
    let verifyError: CInt
}

/// The decision: AFNetworking's order of steps, used by handshakes and by `evaluate`.
extension TrustEvaluator {
    private struct Acceptance {
        var chain: [Certificate] = []
        var matchedPin: Pin?
        var waived: TrustError?
        var form: [FormBreach] = []
        /// The first moment at which the chain is no longer valid.
        var end: UnixTime?
    }

    /// The strictness of an evaluation and the work that it may cost.
    private struct Effort {
        /// OpenSSL's security level.
        let level: CInt
        let budget: SearchBudget
    }

    private struct Refusal: Error {
        let error: TrustError
        let verifyError: CInt
        var chain: [Certificate] = []
        var form: [FormBreach] = []
        /// The first moment at which the chain is no longer valid; set if the chain is valid and was refused because of its
        /// pins.
        var end: UnixTime?
    }

    /// - Parameters:
    ///   - moment: the moment at which the certificates must be valid; nil means now.
    ///   - level: OpenSSL's security level; at least 1 is applied.
    ///   - budget: the limit of work for the path search.
    func judge(
        _ peer: PeerChain, host: String?, at moment: UnixTime?, level: CInt, budget: SearchBudget = .offline
    ) -> HandshakeDecision {
        let moment = moment ?? .now
        let effort = Effort(level: max(1, level), budget: budget)
        do throws(Refusal) {
            let acceptance = try self.decide(peer, host: host, at: moment, effort)
            return HandshakeDecision(
                verdict: self.verdict(
                    .trusted, peer, host, chain: acceptance.chain, matchedPin: acceptance.matchedPin,
                    waived: acceptance.waived, form: acceptance.form, end: self.end(of: acceptance.end, at: moment)),
                verifyError: X509_V_OK)
        } catch {
            // A policy that only reports accepts a key that is not pinned, but never an invalid chain.
            let reportsOnly = self.reportsOnly || self.expiredAction(at: moment) == .report
            if reportsOnly, error.error.code == .pinMismatch, !error.chain.isEmpty {
                return HandshakeDecision(
                    verdict: self.verdict(
                        .trusted, peer, host, chain: error.chain, reported: error.error, form: error.form,
                        end: self.end(of: error.end, at: moment)),
                    verifyError: X509_V_OK)
            }
            return HandshakeDecision(
                verdict: self.verdict(.refused(error.error), peer, host, chain: error.chain, form: error.form),
                verifyError: error.verifyError)
        }
    }

    /// Returns the moment at which a verdict expires: the earlier of the ends of the chain and of the pins.
    private func end(of verified: UnixTime?, at moment: UnixTime) -> UnixTime? {
        let pins = self.policy.pinExpiry.flatMap { $0.moment > moment ? $0.moment : nil }
        return [verified, pins].compactMap { $0 }.min()
    }

    /// Returns the action for expired pins; nil as long as the pins hold.
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
        // Without pins, a policy that accepts invalid certificates would check nothing.
        let waives = self.policy.allowInvalidCertificates && expired != .system
        if let (finding, error) = waivable, !waives {
            throw Refusal(error: error, verifyError: finding.rule.verifyError)
        }
        let waived = waivable?.1
        switch expired {
        case .fail:
            throw Refusal(
                error: self.pinRule.expired(peer: Self.name(of: host)),
                verifyError: X509_V_ERR_APPLICATION_VERIFICATION, chain: anchored.chain, form: anchored.form,
                end: anchored.end)
        case .system: return Acceptance(chain: anchored.chain, form: anchored.form, end: anchored.end)
        case .report, nil: break
        }

        switch self.policy.pinning {
        case .none:
            return Acceptance(chain: anchored.chain, waived: waived, form: anchored.form, end: anchored.end)
        case .publicKey:
            // In an invalid chain only the leaf counts: the handshake proves that the peer has its key, while any peer can
            // append the certificates of others.
            let counted = anchored.finding == nil ? anchored.chain : [peer.leaf.certificate]
            let pin = try self.match(counted, peer, host, anchored)
            return Acceptance(
                chain: anchored.chain, matchedPin: pin, waived: waived, form: anchored.form, end: anchored.end)
        case .certificate:
            let pinned = try self.verifyPinned(peer, host, anchored, at: moment, effort)
            let pin = try self.match(pinned.chain, peer, host, pinned)
            let end = [anchored.end, pinned.end].compactMap { $0 }.min()
            return Acceptance(chain: pinned.chain, matchedPin: pin, waived: waived, form: pinned.form, end: end)
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
            error: mismatch, verifyError: finding.rule.verifyError, chain: anchored.chain, form: anchored.form,
            end: anchored.end)
    }

    /// - Parameters:
    ///   - candidates: the certificates that are compared with the pins.
    ///   - shown: the verification with the chain for the report, if there is one.
    private func match(
        _ candidates: [Certificate], _ peer: PeerChain, _ host: String?, _ shown: ChainVerification
    ) throws(Refusal) -> Pin {
        if let pin = self.pinRule.match(in: ChainEntry.entries(of: candidates)) { return pin }
        let error = self.pinRule.mismatch(
            peer: Self.name(of: host), chain: self.entries(shown.chain, peer),
            beside: shown.chain.isEmpty ? [] : peer.certificates)
        throw Refusal(
            error: error, verifyError: X509_V_ERR_APPLICATION_VERIFICATION, chain: shown.chain, form: shown.form,
            end: shown.end)
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
        waived: TrustError? = nil, reported: TrustError? = nil, form: [FormBreach] = [],
        end: UnixTime? = nil
    ) -> Verdict {
        Verdict(
            outcome: outcome, host: host, chain: self.entries(chain, peer),
            chainOrigin: chain.isEmpty ? .presented : .verified, presented: peer.certificates, matchedPin: matchedPin,
            configuredPins: self.configuredPins, waived: waived, reported: reported, form: form,
            end: end)
    }

    /// Returns the verified chain, or the certificates that the peer sent if none was built.
    private func entries(_ verified: [Certificate], _ peer: PeerChain) -> [ChainEntry] {
        ChainEntry.entries(of: verified.isEmpty ? peer.certificates : verified)
    }
}

extension TrustEvaluator {
    /// Returns the verdict on a chain that was valid until a later part of the handshake showed otherwise.
    func refusal(of verdict: Verdict, by rule: Rule) -> Verdict {
        let leaf = verdict.chain.first.flatMap { try? PathCertificate($0.certificate) }
        let error = RuleFinding(rule, leaf).error(peer: Self.name(of: verdict.host), anchors: "a trusted root")
        return Verdict(
            outcome: .refused(error), host: verdict.host, chain: verdict.chain, chainOrigin: verdict.chainOrigin,
            configuredPins: verdict.configuredPins)
    }
}

/// Verdicts from a program's own decision, without the policy.
extension TrustEvaluator {
    func acceptance(of trust: ServerTrust) -> HandshakeDecision {
        self.ruling(.trusted, on: trust, verifyError: X509_V_OK)
    }

    func refusal(of trust: ServerTrust, reason: String) -> HandshakeDecision {
        let error = TrustError(
            code: .refusedByHook, message: "\(trust.host): the program's own trust decision refused it: \(reason)")
        return self.ruling(.refused(error), on: trust, verifyError: X509_V_ERR_APPLICATION_VERIFICATION)
    }

    /// Returns the refusal of a leaf that cannot be read, about which the program is not asked.
    func unreadableLeaf(host: String) -> HandshakeDecision {
        let error = TrustEvaluator.unreadableLeaf(host)
        return HandshakeDecision(
            verdict: Verdict(
                outcome: .refused(error), host: host, chain: [], configuredPins: self.configuredPins),
            verifyError: X509_V_ERR_UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY)
    }

    private func ruling(_ outcome: Verdict.Outcome, on trust: ServerTrust, verifyError: CInt) -> HandshakeDecision {
        HandshakeDecision(
            verdict: Verdict(
                outcome: outcome, host: trust.host, chain: ChainEntry.entries(of: trust.chain),
                configuredPins: self.configuredPins, decidedByHook: true),
            verifyError: verifyError)
    }
}
