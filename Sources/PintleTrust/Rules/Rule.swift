// SPDX-License-Identifier: Apache-2.0

/// The rules of the evaluation, each with a permanent identifier.
///
/// RFC means RFC 5280; BR means the CA/Browser Forum's baseline requirements for TLS servers.
public enum Rule: String, Sendable, Hashable, CaseIterable {
    // The path

    /// The chain leads to no trust anchor.
    case unknownIssuer = "unknown-issuer"
    /// The peer's certificate is signed by itself and is no anchor.
    case selfSigned = "self-signed"
    /// A signature was not made by the key that should have made it.
    case badSignature = "bad-signature"
    /// The search for a path took more steps, signatures or comparisons of names than any honest chain needs.
    case pathTooComplex = "path-too-complex"

    // Dates

    /// RFC §6.1.3 (a): the certificate has not expired.
    case expired
    /// RFC §6.1.3 (a): the certificate's validity has begun.
    case notYetValid = "not-yet-valid"
    /// RFC §4.1.2.5: dates are UTCTime through 2049 and GeneralizedTime afterwards, with seconds and Z.
    case dateEncoding = "date-encoding"

    // Authorities

    /// RFC §4.2.1.9: an issuer is marked as an authority.
    case notAnAuthority = "not-an-authority"
    /// RFC §4.2.1.9: an authority has at most as many authorities below it as it allows.
    case pathLength = "path-length"
    /// RFC §4.2.1.3: an authority's key signs certificates.
    case authorityKeyUsage = "authority-key-usage"
    /// RFC §4.2.1.9: authorities mark their basic constraints as critical.
    case basicConstraintsNotCritical = "basic-constraints-not-critical"
    /// RFC §4.1.2.6: an authority has a name.
    case emptySubject = "empty-subject"
    /// RFC §4.1.2.4: every issuer has a name.
    case emptyIssuer = "empty-issuer"

    // Purposes

    /// RFC §4.2.1.12: the certificate is for TLS servers.
    case serverPurpose = "server-purpose"
    /// BR: an intermediate authority with purposes has that of TLS servers.
    case authorityPurpose = "authority-purpose"
    /// RFC §4.2.1.3: the key of a server is for handshakes.
    case serverKeyUsage = "server-key-usage"
    /// RFC §4.2.1.9: a certificate that is no authority's does not claim to sign certificates.
    case endEntityKeyUsage = "end-entity-key-usage"
    /// BR §7.1.2.7.10: a server's certificate is not for every purpose.
    case anyPurpose = "any-purpose"
    /// BR §7.1.2.7.6: the purposes are not critical.
    case purposesCritical = "purposes-critical"

    // Names

    /// RFC 9525: the subjectAltName names the host.
    case hostName = "host-name"
    /// RFC §4.2.1.10: every name is one that its authorities may certify.
    case nameConstraint = "name-constraint"
    /// RFC §4.2.1.10: constraints that cannot be compared with a name forbid it.
    case incomparableNameConstraint = "incomparable-name-constraint"
    /// RFC §4.2.1.10: name constraints are well formed and not empty.
    case malformedNameConstraints = "malformed-name-constraints"
    /// RFC §4.2.1.10: only authorities have name constraints.
    case nameConstraintsInEndEntity = "name-constraints-in-end-entity"
    /// RFC §4.2.1.10: DNS constraints do not begin with a dot.
    case leadingDotInNameConstraint = "leading-dot-in-name-constraint"
    /// RFC §4.2.1.6: alternative names are well formed.
    case malformedName = "malformed-name"
    /// RFC §4.2.1.6: DNS names in the preferred syntax have no underscores.
    case underscoreInName = "underscore-in-name"
    /// RFC §4.2.1.6: alternative names are critical if the subject is empty.
    case alternativeNamesNotCritical = "alternative-names-not-critical"
    /// BR §7.1.2.7.12: alternative names are not critical if the subject is not empty.
    case alternativeNamesCritical = "alternative-names-critical"
    /// BR §7.1.4.3: a common name that is a host is a copy of an alternative name.
    case commonNameCopy = "common-name-copy"

    // Keys and signatures

    /// BR §6.1.5 and §6.1.6: RSA of 2048 bits with an odd, positive modulus and an odd exponent of 3 to 2^32, one of the
    /// NIST curves by its name, or an Edwards curve.
    case weakKey = "weak-key"
    /// RFC 3279 §2.3, RFC 5480 §2: the key has its algorithm's encoding, a point lies on its curve, and no bytes follow.
    case malformedKey = "malformed-key"
    /// BR §6.1.5: RSA moduli are whole bytes.
    case unevenKey = "uneven-key"
    /// BR §7.1.3.2: signatures use neither MD5 nor SHA-1.
    case weakSignature = "weak-signature"
    /// RFC §4.1.1.2: both fields for the signature's algorithm are equal.
    case signatureAlgorithmMismatch = "signature-algorithm-mismatch"

    // The form of certificates

    /// RFC §4.1.2.1: extensions need version 3, and server certificates need extensions.
    case version
    /// RFC §4.1.2.2: the serial number is positive, and has at most 20 bytes.
    case serialNumber = "serial-number"
    /// RFC §4.2: no extension occurs twice.
    case duplicateExtension = "duplicate-extension"
    /// RFC §4.2: a certificate with an unknown critical extension is refused.
    case unknownCriticalExtension = "unknown-critical-extension"
    /// An extension that the evaluation needs cannot be read.
    case malformedExtension = "malformed-extension"
    /// RFC §4.2.2.1: the authority information access can be read.
    case malformedInformationAccess = "malformed-information-access"
    /// Extensions that only inform, which the evaluation does not need, can be read: distribution points, qualifiers of
    /// policies, timestamps of logs.
    case malformedInformation = "malformed-information"
    /// RFC §4.2.2.1: the authority information access is not critical.
    case informationAccessCritical = "information-access-critical"
    /// RFC §4.2.1.1: the identifier of the signer's key is present, and not critical.
    case authorityKeyIdentifier = "authority-key-identifier"
    /// RFC §4.2.1.2: the identifier of an authority's key is present, and not critical.
    case subjectKeyIdentifier = "subject-key-identifier"

    // Policies and revocation

    /// RFC §6.1.3 (f): a chain that demands a policy has one.
    case certificatePolicy = "certificate-policy"
    /// RFC §4.2.1.11: constraints on policies are critical.
    case policyConstraintsNotCritical = "policy-constraints-not-critical"
    /// RFC §6.3: the certificate is not on its issuer's revocation list.
    case revoked
    /// RFC §6.3: if lists are configured for a certificate's issuer, one of them is usable; and a required status is
    /// stapled.
    case revocationUnknown = "revocation-unknown"

    /// True if the rule is about good form: public authorities must keep it, but breaking it deceives no verifier.
    ///
    /// A breach is reported unless the policy is strict, since browsers accept such certificates and sites have them.
    /// Anchors are never checked for form.
    package var isForm: Bool {
        switch self {
        case .dateEncoding, .basicConstraintsNotCritical, .endEntityKeyUsage, .anyPurpose, .purposesCritical,
            .nameConstraintsInEndEntity, .leadingDotInNameConstraint, .malformedName, .underscoreInName,
            .alternativeNamesNotCritical, .alternativeNamesCritical, .commonNameCopy, .unevenKey, .serialNumber,
            .malformedInformationAccess, .malformedInformation, .informationAccessCritical, .authorityKeyIdentifier,
            .subjectKeyIdentifier,
            .policyConstraintsNotCritical:
            true
        default: false
        }
    }
}
