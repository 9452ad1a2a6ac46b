// SPDX-License-Identifier: Apache-2.0

/// One certificate of a peer's chain, as a verdict reports it.
public struct ChainEntry: Sendable, Hashable {
    /// A place in a chain.
    public enum Position: String, Sendable, Hashable, CaseIterable {
        /// The peer's own certificate, even when it is self-signed.
        case leaf
        /// Signed by another and signing others.
        case intermediate
        /// Issued by itself.
        case root
    }

    /// The certificate itself.
    public let certificate: Certificate
    /// Where it stands.
    public let position: Position

    /// Whom the certificate is for, on one line.
    public var subject: String { self.certificate.subject }
    /// Who signed it, on one line.
    public var issuer: String { self.certificate.issuer }
    /// The pin of its key.
    public var spkiPin: Pin { self.certificate.spkiPin }
    /// Last moment of its validity.
    public var notAfter: UnixTime { self.certificate.notAfter }

    /// The entries of a chain that begins with the leaf.
    package static func entries(of chain: [Certificate]) -> [ChainEntry] {
        chain.enumerated().map { index, certificate in
            let above: Position = certificate.isSelfIssued ? .root : .intermediate
            return ChainEntry(certificate: certificate, position: index == 0 ? .leaf : above)
        }
    }

    /// Whether a pin that asks for that place may match here.
    func satisfies(_ match: SecurityPolicy.Match) -> Bool {
        switch match {
        case .any: true
        case .leaf: self.position == .leaf
        case .intermediate: self.position == .intermediate
        case .root: self.position == .root
        }
    }
}

/// A rule of form that a certificate of a verified chain breaks, and that the policy does not enforce.
public struct FormBreach: Sendable, Hashable, CustomStringConvertible {
    /// The rule; one of those that are about form.
    public let rule: Rule
    /// Whose form it is.
    public let certificate: Certificate

    /// Nil for what no certificate did.
    init?(_ finding: Finding) {
        guard let certificate = finding.certificate?.certificate else { return nil }
        self.rule = finding.rule
        self.certificate = certificate
    }

    /// One sentence, for people.
    public var description: String {
        "the certificate \(self.certificate.label) is not of the form that public authorities keep: \(self.rule.words)"
    }
}

/// What a policy made of a peer: the decision and everything a report of it needs.
public struct Verdict: Sendable, Hashable {
    /// The decision.
    public enum Outcome: Sendable, Hashable {
        /// The peer may be talked to.
        case trusted
        /// It may not, and why.
        case refused(TrustError)
    }

    /// Which certificates `chain` lists.
    public enum ChainOrigin: String, Sendable, Hashable {
        /// The chain that was built and verified, from the leaf to a trust anchor.
        case verified
        /// What the peer sent, in its order and unverified.
        case presented
    }

    /// The decision.
    public var outcome: Outcome { self.shared.findings.outcome }
    /// The name or address that the peer should have proved; nil when none was asked for.
    public var host: String? { self.shared.findings.host }
    /// Leaf first; empty only if the peer sent nothing readable.
    public var chain: [ChainEntry] { self.shared.findings.chain }
    /// Whether `chain` is verified or merely presented.
    public var chainOrigin: ChainOrigin { self.shared.findings.chainOrigin }
    /// What the peer sent, in its order, so that another policy can judge it too; empty where nothing was verified.
    package var presented: [Certificate] { self.shared.findings.presented }
    /// The pin that let the peer in; in certificate mode, the pin of the certificate that did.
    public var matchedPin: Pin? { self.shared.findings.matchedPin }
    /// The policy's pins, those of its certificates included, in a fixed order.
    public var configuredPins: [Pin] { self.shared.findings.configuredPins }
    /// What `allow_invalid_certificates` overlooked; nil when the chain is valid or the peer was refused.
    public var waived: TrustError? { self.shared.findings.waived }
    /// The mismatch that a policy which only reports let pass; nil otherwise.
    public var reported: TrustError? { self.shared.findings.reported }
    /// What is wrong with the form of the verified chain, from the leaf upwards, at most once for each certificate. Empty
    /// where the policy is strict, since such a chain is refused.
    public var form: [FormBreach] { self.shared.findings.form }
    /// Whether the program's own trust decision stands here and the policy was not consulted; `chain` is then what the
    /// peer sent.
    public var decidedByHook: Bool { self.shared.findings.decidedByHook }
    /// The first moment at which a verdict of trust holds no longer: a certificate of the chain, the pins or a revocation
    /// list have run out by then. No request goes over a connection, or a resumed TLS session, whose verdict has run out.
    /// Nil for a refusal, and where nothing has an end that counts.
    public var end: UnixTime? { self.shared.findings.end }

    /// Whether the peer may be talked to.
    public var isTrusted: Bool { self.outcome == .trusted }

    /// Why the peer was refused, nil if it was not.
    public var error: TrustError? {
        guard case .refused(let error) = self.outcome else { return nil }
        return error
    }

    private struct Findings: Sendable, Hashable {
        let outcome: Outcome
        let host: String?
        let chain: [ChainEntry]
        let chainOrigin: ChainOrigin
        let presented: [Certificate]
        let matchedPin: Pin?
        let configuredPins: [Pin]
        let waived: TrustError?
        let reported: TrustError?
        let form: [FormBreach]
        let decidedByHook: Bool
        let end: UnixTime?
    }

    /// Every request over a connection copies the verdict that it began with, which is one reference.
    private final class Shared: Sendable {
        let findings: Findings

        init(_ findings: Findings) { self.findings = findings }
    }

    private let shared: Shared

    package init(
        outcome: Outcome, host: String?, chain: [ChainEntry] = [], chainOrigin: ChainOrigin = .presented,
        presented: [Certificate] = [], matchedPin: Pin? = nil, configuredPins: [Pin] = [], waived: TrustError? = nil,
        reported: TrustError? = nil, form: [FormBreach] = [], decidedByHook: Bool = false, end: UnixTime? = nil
    ) {
        self.shared = Shared(
            Findings(
                outcome: outcome, host: host, chain: chain, chainOrigin: chainOrigin, presented: presented,
                matchedPin: matchedPin, configuredPins: configuredPins, waived: waived, reported: reported, form: form,
                decidedByHook: decidedByHook, end: end))
    }

    /// Compares all that they say.
    public static func == (left: Verdict, right: Verdict) -> Bool {
        left.shared === right.shared || left.shared.findings == right.shared.findings
    }

    /// Hashes all that it says.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.shared.findings) }
}
