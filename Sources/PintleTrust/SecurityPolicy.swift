// SPDX-License-Identifier: Apache-2.0

/// The rules by which a session trusts its peers: AFNetworking's security policy as an immutable value.
///
/// A policy that exists makes sense: building one fails if settings exclude each other or would do nothing.
/// `TrustEvaluator` applies it.
public struct SecurityPolicy: Sendable, Hashable {
    /// The pins that the peer's chain is compared with, in addition to being valid.
    public enum PinningMode: String, Sendable, Hashable, CaseIterable {
        /// Nothing: a valid chain suffices.
        case none
        /// A key of the chain must be pinned.
        case publicKey = "public_key"
        /// The chain must lead to a pinned certificate and contain one, byte for byte.
        case certificate
    }

    /// The certificates that a chain may end at.
    public enum Roots: Sendable, Hashable {
        /// The operating system's trusted roots, found as OpenSSL finds them (`SSL_CERT_FILE` is honoured).
        case system
        /// These certificates and no others; they are anchors as they are, intermediates too.
        case only([Certificate])
    }

    /// The place in the chain at which a key or certificate must match a pin.
    public enum Match: String, Sendable, Hashable, CaseIterable {
        /// Any place.
        case any
        /// The peer's own certificate.
        case leaf
        /// A certificate between the peer's and the anchor.
        case intermediate
        /// A certificate that is issued by itself.
        case root
    }

    /// The treatment of the status that a server may staple to its certificate (RFC 6066 §8).
    public enum Stapling: String, Sendable, Hashable, CaseIterable {
        /// Handshakes do not ask for a status.
        case off
        /// Handshakes ask for a status, which must be good if it comes.
        case check
        /// Handshakes ask for a status, which must come and be good.
        case require
    }

    /// The treatment of a chain that breaks rules of form (`Rule.isForm`) below its anchor.
    public enum Form: String, Sendable, Hashable, CaseIterable {
        /// The verdict lists the broken rules; the chain is accepted.
        case report
        /// The chain is refused.
        case strict
    }

    /// The pinning mode; fixed for the policy's life. Default: none.
    public let pinning: PinningMode
    /// Pins given as digests.
    public let pins: Set<Pin>
    /// Pinned certificates, each once; in public-key mode they stand for their keys.
    public let certificates: [Certificate]
    /// The place at which a pin must match. Default: any.
    public let match: Match
    /// True to waive dates and issuers (never the pins, and not the name). Default: false.
    public let allowInvalidCertificates: Bool
    /// True if the subjectAltName must name the host (RFC 9525). Default: true, in every mode.
    public let validatesDomainName: Bool
    /// The trusted roots. Default: system.
    public let roots: Roots
    /// Anchors in addition to `roots`.
    public let extraRoots: [Certificate]

    /// True if a common name counts as a host name in a certificate without any alternative names. Default: false.
    public let allowsCommonName: Bool
    /// The oldest version of TLS that a handshake may agree on. Default: nil, OpenSSL's own.
    public let minimumTLS: TLSVersion?
    /// The expiry of the pins; nil for never.
    public let pinExpiry: PinExpiry?
    /// Lists that certificates must not be on. If an issuer has lists here, one of them must be valid. Default: none.
    public let revocationLists: [RevocationList]

    /// The treatment of stapled statuses, which handshakes ask for unless it is off. Default: off.
    public let stapling: Stapling

    /// The treatment of bad form. Anchors are never checked for form. Default: report.
    public let form: Form

    /// System roots, no pins, names checked, nothing waived.
    public static let `default` = SecurityPolicy(
        unchecked: .none, pins: [], certificates: [], allowInvalidCertificates: false, validatesDomainName: true,
        roots: .system, extraRoots: [], match: .any)

    /// Builds a policy.
    ///
    /// - Throws: `.contradiction` for a pinning mode with nothing to compare with, pins that the mode would ignore, names
    ///   validated on certificates that anyone can make, and a store without roots.
    public init(
        pinning: PinningMode, pins: Set<Pin> = [], certificates: [Certificate] = [],
        allowInvalidCertificates: Bool = false, validatesDomainName: Bool = true, roots: Roots = .system,
        extraRoots: [Certificate] = [], match: Match = .any, allowsCommonName: Bool = false,
        minimumTLS: TLSVersion? = nil, pinExpiry: PinExpiry? = nil, revocationLists: [RevocationList] = [],
        stapling: Stapling = .off, form: Form = .report
    ) throws(TrustError) {
        self.init(
            unchecked: pinning, pins: pins, certificates: certificates,
            allowInvalidCertificates: allowInvalidCertificates, validatesDomainName: validatesDomainName,
            roots: roots, extraRoots: extraRoots, match: match, allowsCommonName: allowsCommonName,
            minimumTLS: minimumTLS, pinExpiry: pinExpiry, revocationLists: revocationLists, stapling: stapling,
            form: form)
        if let contradiction = self.contradiction {
            throw TrustError(code: .contradiction, message: contradiction)
        }
    }

    /// Builds a policy that may contradict itself, so that tests reach the evaluator's own check.
    init(
        unchecked pinning: PinningMode, pins: Set<Pin>, certificates: [Certificate], allowInvalidCertificates: Bool,
        validatesDomainName: Bool, roots: Roots, extraRoots: [Certificate], match: Match,
        allowsCommonName: Bool = false, minimumTLS: TLSVersion? = nil, pinExpiry: PinExpiry? = nil,
        revocationLists: [RevocationList] = [], stapling: Stapling = .off, form: Form = .report
    ) {
        self.pinning = pinning
        self.pins = pins
        self.certificates = certificates.withoutDuplicates()
        self.match = match
        self.allowInvalidCertificates = allowInvalidCertificates
        self.validatesDomainName = validatesDomainName
        self.roots = roots
        self.extraRoots = extraRoots.withoutDuplicates()
        self.allowsCommonName = allowsCommonName
        self.minimumTLS = minimumTLS
        self.pinExpiry = pinExpiry
        self.revocationLists = revocationLists.withoutDuplicates()
        self.stapling = stapling
        self.form = form
    }

    /// Returns this policy with other anchors, and no further ones.
    package func trusting(only roots: [Certificate]) -> SecurityPolicy {
        SecurityPolicy(
            unchecked: self.pinning, pins: self.pins, certificates: self.certificates,
            allowInvalidCertificates: self.allowInvalidCertificates, validatesDomainName: self.validatesDomainName,
            roots: .only(roots), extraRoots: [], match: self.match, allowsCommonName: self.allowsCommonName,
            minimumTLS: self.minimumTLS, pinExpiry: self.pinExpiry, revocationLists: self.revocationLists,
            stapling: self.stapling, form: self.form)
    }

    /// Every pin that counts, those of the pinned certificates included, in a fixed order.
    public var configuredPins: [Pin] {
        self.pins.union(self.certificates.map(\.spkiPin)).sorted()
    }

    /// True if the policy would check a name that any self-made certificate can carry.
    ///
    /// This is AFNetworking's step 1; checked when a policy is built, and by every evaluation that has a host.
    var validatesNamesInVain: Bool {
        let pinsNothing = self.pinning == .none || (self.pins.isEmpty && self.certificates.isEmpty)
        return self.allowInvalidCertificates && self.validatesDomainName && pinsNothing
    }

    static let namesInVain =
        "allow_invalid_certificates accepts anybody's certificate, so validates_domain_name would "
        + "prove nothing; pin a key or a certificate, or set validates_domain_name: false"

    private var contradiction: String? {
        if self.validatesNamesInVain { return SecurityPolicy.namesInVain }
        if self.roots == .only([]) && self.extraRoots.isEmpty {
            return "roots names no certificate, so no chain could be valid; name one, or write roots: system"
        }
        if self.allowsCommonName && !self.validatesDomainName {
            return "validates_domain_name: false would ignore allow_common_name; remove one of them"
        }
        if self.allowInvalidCertificates && !self.revocationLists.isEmpty {
            return "allow_invalid_certificates would overlook what crl_files revoke; remove one of them"
        }
        if self.allowInvalidCertificates && self.stapling != .off {
            return "allow_invalid_certificates would overlook a stapled status; remove ocsp_stapling"
        }
        if self.pinning == .none && self.pinExpiry != nil {
            return "pinning: none has no pins that could expire; remove expires, or pin something"
        }
        switch self.pinning {
        case .none:
            guard self.pins.isEmpty && self.certificates.isEmpty else {
                return "pinning: none would ignore the configured pins; write pinning: public_key or remove them"
            }
            guard self.match == .any else {
                return "pinning: none would ignore match: \(self.match.rawValue); remove it, or pin something"
            }
            return nil
        case .publicKey:
            guard !self.pins.isEmpty || !self.certificates.isEmpty else {
                return "pinning: public_key with no pin would refuse every destination; add pins or certificates"
            }
            return nil
        case .certificate:
            guard self.pins.isEmpty else {
                return "pinning: certificate compares whole certificates and would ignore the configured pins; "
                    + "write pinning: public_key, or give certificates only"
            }
            guard !self.certificates.isEmpty else {
                return "pinning: certificate with no certificate would refuse every destination; add certificates"
            }
            return nil
        }
    }
}
