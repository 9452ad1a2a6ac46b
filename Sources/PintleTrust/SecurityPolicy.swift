// SPDX-License-Identifier: Apache-2.0

/// Whom a session believes: AFNetworking's security policy as an immutable value.
///
/// A policy that exists makes sense: settings that exclude each other, or would do nothing, are refused when it is
/// built. `TrustEvaluator` carries it out.
public struct SecurityPolicy: Sendable, Hashable {
    /// What the peer's chain is compared with, on top of being valid.
    public enum PinningMode: String, Sendable, Hashable, CaseIterable {
        /// Nothing: a valid chain suffices.
        case none
        /// A key of the chain must be pinned.
        case publicKey = "public_key"
        /// The chain must lead to a pinned certificate and contain one, byte for byte.
        case certificate
    }

    /// Where a chain may end.
    public enum Roots: Sendable, Hashable {
        /// The operating system's trusted roots, found as OpenSSL finds them (`SSL_CERT_FILE` is honoured).
        case system
        /// These certificates and no others; they are anchors as they are, intermediates too.
        case only([Certificate])
    }

    /// Which place in the chain a pinned key or certificate must hold.
    public enum Match: String, Sendable, Hashable, CaseIterable {
        /// Any place.
        case any
        /// The peer's own.
        case leaf
        /// One between the peer's and the anchor.
        case intermediate
        /// One that is issued by itself.
        case root
    }

    /// What becomes of the status that a server may staple to its certificate (RFC 6066 §8).
    public enum Stapling: String, Sendable, Hashable, CaseIterable {
        /// It is not asked for.
        case off
        /// It is asked for, and must be good where it comes.
        case check
        /// It must come, and be good.
        case require
    }

    /// What becomes of a chain that breaks rules of form (`Rule.isForm`) below its anchor.
    public enum Form: String, Sendable, Hashable, CaseIterable {
        /// The verdict says so, and that is all.
        case report
        /// It is refused.
        case strict
    }

    /// Default: none. It is fixed for the policy's life.
    public let pinning: PinningMode
    /// Pins given as digests.
    public let pins: Set<Pin>
    /// Pinned certificates, each once; in public-key mode they stand for their keys.
    public let certificates: [Certificate]
    /// Default: any.
    public let match: Match
    /// Waives dates and issuers (never the pins, and not the name). Default: false.
    public let allowInvalidCertificates: Bool
    /// Whether the subjectAltName must name the host (RFC 9525). Default: true, in every mode.
    public let validatesDomainName: Bool
    /// Default: system.
    public let roots: Roots
    /// Anchors in addition to `roots`.
    public let extraRoots: [Certificate]

    /// Whether a common name counts as a host where a certificate has no alternative names at all. Default: false.
    public let allowsCommonName: Bool
    /// The oldest version of TLS that a handshake may agree on. Default: OpenSSL's own, nil.
    public let minimumTLS: TLSVersion?
    /// When the pins lose their meaning; nil for never.
    public let pinExpiry: PinExpiry?
    /// Lists that certificates must not be on; each issuer that has one here must have one that is valid. Default: none.
    public let revocationLists: [RevocationList]

    /// Whether handshakes ask for a stapled status. Default: off.
    public let stapling: Stapling

    /// Whether bad form is refused. No anchor is ever asked for form. Default: report.
    public let form: Form

    /// System roots, no pins, names checked, nothing waived.
    public static let `default` = SecurityPolicy(
        unchecked: .none, pins: [], certificates: [], allowInvalidCertificates: false, validatesDomainName: true,
        roots: .system, extraRoots: [], match: .any)

    /// Builds a policy.
    ///
    /// - Throws: `.contradiction` for a pinning mode with nothing to compare with, pins that the mode would ignore,
    ///   names validated on certificates that anybody can make up, and a store without roots.
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

    /// Builds a policy that may contradict itself, so that tests reach the evaluator's own refusal.
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

    /// The same policy over other anchors, and no others.
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

    /// Whether the policy would check a name that any self-made certificate can carry.
    ///
    /// AFNetworking's step 1; asked when a policy is built, and again by every evaluation that has a host.
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
