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
    /// The place of the certificate in the chain.
    public let position: Position

    /// The subject of the certificate, on one line.
    public var subject: String { self.certificate.subject }
    /// The issuer of the certificate, on one line.
    public var issuer: String { self.certificate.issuer }
    /// The pin of its key.
    public var spkiPin: Pin { self.certificate.spkiPin }
    /// The last moment of its validity.
    public var notAfter: UnixTime { self.certificate.notAfter }

    /// Returns the entries of a chain that begins with the leaf.
    package static func entries(of chain: [Certificate]) -> [ChainEntry] {
        chain.enumerated().map { index, certificate in
            let above: Position = certificate.isSelfIssued ? .root : .intermediate
            return ChainEntry(certificate: certificate, position: index == 0 ? .leaf : above)
        }
    }

    /// True if a pin that must match at the place `match` may match here.
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
    /// The certificate that breaks it.
    public let certificate: Certificate

    /// Makes a breach; nil for a finding that is not about a certificate.
    init?(_ finding: RuleFinding) {
        guard let certificate = finding.certificate?.certificate else { return nil }
        self.rule = finding.rule
        self.certificate = certificate
    }

    /// The breach as one sentence, for people.
    public var description: String {
        "the certificate \(self.certificate.label) is not of the form that public authorities keep: \(self.rule.words)"
    }
}

/// A policy's verdict on a peer: the decision and all data for a report of it.
public struct Verdict: Sendable, Hashable {
    /// The decision.
    public enum Outcome: Sendable, Hashable {
        /// The peer is trusted.
        case trusted
        /// The peer is refused, for this reason.
        case refused(TrustError)
    }

    /// The origin of the certificates in `chain`.
    public enum ChainOrigin: String, Sendable, Hashable {
        /// The chain that was built and verified, from the leaf to a trust anchor.
        case verified
        /// The certificates that the peer sent, in its order and unverified.
        case presented
    }

    /// The decision.
    public var outcome: Outcome { self.shared.findings.outcome }
    /// The name or address that the peer should have proved; nil if none was required.
    public var host: String? { self.shared.findings.host }
    /// The chain, leaf first; empty only if the peer sent nothing readable.
    public var chain: [ChainEntry] { self.shared.findings.chain }
    /// The origin of `chain`: verified, or only presented.
    public var chainOrigin: ChainOrigin { self.shared.findings.chainOrigin }
    /// The certificates that the peer sent, in its order, so that another policy can judge them too; empty if nothing was
    /// verified.
    package var presented: [Certificate] { self.shared.findings.presented }
    /// The pin that matched; in certificate mode, the pin of the certificate that matched.
    public var matchedPin: Pin? { self.shared.findings.matchedPin }
    /// The policy's pins, including those of its certificates, in a fixed order.
    public var configuredPins: [Pin] { self.shared.findings.configuredPins }
    /// The error that `allow_invalid_certificates` waived; nil if the chain is valid or the peer was refused.
    public var waived: TrustError? { self.shared.findings.waived }
    /// The pin mismatch of a peer that was accepted because the evaluator, or the policy since its pins expired, only
    /// reports; nil otherwise.
    public var reported: TrustError? { self.shared.findings.reported }
    /// Rules of form that the verified chain breaks, from the leaf upwards, at most one for each certificate. Empty if the
    /// policy is strict, since such a chain is refused.
    public var form: [FormBreach] { self.shared.findings.form }
    /// True if the program's own trust decision applies and the policy was not consulted; `chain` then is the chain that
    /// the peer sent.
    public var decidedByHook: Bool { self.shared.findings.decidedByHook }
    /// The first moment at which a verdict of trust no longer holds: by then a certificate of the chain, the pins or a
    /// revocation list have expired. After it, connections and resumed TLS sessions with this verdict carry no request. Nil
    /// for a refusal, and if nothing that counts has an end.
    public var end: UnixTime? { self.shared.findings.end }

    /// True if the peer is trusted.
    public var isTrusted: Bool { self.outcome == .trusted }

    /// The reason why the peer was refused; nil if it was not.
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

    /// Shared by copies of a verdict: each request copies the verdict of its connection, which costs one reference.
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

    /// True if all findings of both verdicts are equal.
    public static func == (left: Verdict, right: Verdict) -> Bool {
        left.shared === right.shared || left.shared.findings == right.shared.findings
    }

    /// True if both are copies of one verdict, or nil.
    package static func areSame(_ left: Verdict?, _ right: Verdict?) -> Bool { left?.shared === right?.shared }

    /// Hashes all findings.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.shared.findings) }
}
