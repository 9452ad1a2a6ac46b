// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleTrust

/// The findings about one chain of one server.
struct ChainFindings {
    /// Certificates that expire within this time are reported. Short-lived ones, for which this is always so, are reported
    /// if less than a third of their lifetime is left: by then they should have been renewed.
    static let warningTime = Duration.seconds(30 * 86_400)

    let target: AuditTarget
    let address: String
    let chain: AuditedChain
    /// The places of the policy's pins in the configuration.
    let pins: PinPlaces
    let moment: UnixTime
    /// True if the policy refuses every chain because its pins have expired.
    let refusesByExpiry: Bool
    /// The verdict on the same chain without a host name to match; set only for chains whose name is wrong.
    let unnamedVerdict: Verdict?

    var findings: [AuditFinding] {
        var findings: [AuditFinding] = []
        let verdict = self.chain.verdict
        if let error = verdict.error { findings.append(self.finding(error)) }
        if verdict.error?.problem == .wrongName, let further = self.unnamedVerdict?.error {
            findings.append(self.finding(further))
        }
        // The traffic passes, because the configuration lets it.
        if let reported = verdict.reported { findings.append(self.finding(reported, severity: .warning)) }
        if let waived = verdict.waived { findings.append(self.finding(waived, severity: .note)) }
        return findings + self.badForm + self.expiring
    }

    private var badForm: [AuditFinding] {
        self.chain.verdict.form.map { breach in
            AuditFinding(
                .badForm, policy: self.target.policy, authority: self.target.authority, addresses: [self.address],
                keys: self.chain.keys, at: self.target.position, source: self.target.source,
                message: "\(self.target.authority.host): \(breach) (\(breach.rule.rawValue))")
        }
    }

    private func finding(_ error: TrustError, severity: Severity? = nil) -> AuditFinding {
        let rule = self.rule(for: error)
        let pin = rule == .pinMismatch || rule == .pinSetExpired ? self.pins.first : nil
        return AuditFinding(
            rule, severity: severity, policy: self.target.policy, authority: self.target.authority,
            addresses: [self.address], keys: self.chain.keys, at: pin?.position ?? self.target.position,
            source: pin?.source ?? self.target.source, message: error.description)
    }

    private func rule(for error: TrustError) -> FindingRule {
        guard error.code == .certificateInvalid else {
            guard error.code == .pinMismatch else { return .certificateInvalid }
            return self.refusesByExpiry ? .pinSetExpired : .pinMismatch
        }
        switch error.problem {
        case .expired: return .expired
        case .notYetValid: return .notYetValid
        case .selfSigned: return .selfSigned
        case .wrongName: return .nameMismatch
        case .weak: return .weakKey
        case .unknownIssuer: return self.lacksIssuer ? .chainIncomplete : .untrustedChain
        default: return .certificateInvalid
        }
    }

    /// True if the server did not send the issuer of its certificate. If it did, the certificate that is missing is the
    /// root, which servers need not send.
    private var lacksIssuer: Bool {
        guard let leaf = self.chain.presented.first, !leaf.isSelfIssued else { return false }
        return !self.chain.presented.dropFirst().contains { $0.subject == leaf.issuer }
    }

    private var expiring: [AuditFinding] {
        guard self.chain.verdict.chainOrigin == .verified else { return [] }
        return self.chain.verdict.chain.compactMap { entry in
            let certificate = entry.certificate
            let left = certificate.notAfter.seconds - self.moment.seconds
            let life = certificate.notAfter.seconds - certificate.notBefore.seconds
            guard left >= 0, left < min(Self.warningTime.components.seconds, life / 3) else { return nil }
            let subject = certificate.subject.prefix(200)
            return AuditFinding(
                .certificateExpiring, policy: self.target.policy, authority: self.target.authority,
                addresses: [self.address], keys: self.chain.keys, at: self.target.position, source: self.target.source,
                message: "\(self.target.authority.host): the \(entry.position.rawValue) certificate \"\(subject)\" has "
                    + "\(Self.distance(left)) left: it expires on \(certificate.notAfter)")
        }
    }

    private static func distance(_ seconds: Int64) -> String {
        let days = seconds / 86_400
        return days > 0 ? "\(days) days" : "\(seconds / 3600) hours"
    }
}
