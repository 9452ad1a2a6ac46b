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
    public let outcome: Outcome
    /// The name or address that the peer should have proved; nil when none was asked for.
    public let host: String?
    /// Leaf first; empty only if the peer sent nothing readable.
    public let chain: [ChainEntry]
    /// Whether `chain` is verified or merely presented.
    public let chainOrigin: ChainOrigin
    /// What the peer sent, in its order, so that another policy can judge it too; empty where nothing was verified.
    package let presented: [Certificate]
    /// The pin that let the peer in; in certificate mode, the pin of the certificate that did.
    public let matchedPin: Pin?
    /// The policy's pins, those of its certificates included, in a fixed order.
    public let configuredPins: [Pin]
    /// What `allow_invalid_certificates` overlooked; nil when the chain is valid or the peer was refused.
    public let waived: TrustError?
    /// The mismatch that a policy which only reports let pass; nil otherwise.
    public let reported: TrustError?
    /// What is wrong with the form of the verified chain, from the leaf upwards, at most once for each certificate. Empty
    /// where the policy is strict, since such a chain is refused.
    public let form: [FormBreach]
    /// Whether the program's own trust decision stands here and the policy was not consulted; `chain` is then what the
    /// peer sent.
    public let decidedByHook: Bool

    /// Whether the peer may be talked to.
    public var isTrusted: Bool { self.outcome == .trusted }

    /// Why the peer was refused, nil if it was not.
    public var error: TrustError? {
        guard case .refused(let error) = self.outcome else { return nil }
        return error
    }

    package init(
        outcome: Outcome, host: String?, chain: [ChainEntry] = [], chainOrigin: ChainOrigin = .presented,
        presented: [Certificate] = [], matchedPin: Pin? = nil, configuredPins: [Pin] = [], waived: TrustError? = nil,
        reported: TrustError? = nil, form: [FormBreach] = [], decidedByHook: Bool = false
    ) {
        self.outcome = outcome
        self.host = host
        self.chain = chain
        self.chainOrigin = chainOrigin
        self.presented = presented
        self.matchedPin = matchedPin
        self.configuredPins = configuredPins
        self.waived = waived
        self.reported = reported
        self.form = form
        self.decidedByHook = decidedByHook
    }
}
