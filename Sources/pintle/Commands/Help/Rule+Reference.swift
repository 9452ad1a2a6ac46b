// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// The reference of the rules for chains.
extension Rule {
    /// The demand that a breach does not satisfy. RFC alone means RFC 5280; BR are the CA/Browser Forum's baseline requirements.
    var demand: String {
        switch self {
        case .unknownIssuer: "The chain leads to a trust anchor."
        case .selfSigned: "The server's certificate is not signed by itself, unless it is an anchor."
        case .badSignature: "Every signature was made by the key of the issuer."
        case .pathTooComplex:
            "A path is found within the steps, signatures and comparisons of names that any honest chain needs."
        case .expired: "RFC §6.1.3 (a): the certificate has not expired."
        case .notYetValid: "RFC §6.1.3 (a): the certificate's validity has begun."
        case .dateEncoding:
            "RFC §4.1.2.5: dates are UTCTime through 2049 and GeneralizedTime afterwards, with seconds and Z."
        case .notAnAuthority: "RFC §4.2.1.9: an issuer is marked as an authority."
        case .pathLength: "RFC §4.2.1.9: an authority has at most as many authorities below it as it allows."
        case .authorityKeyUsage: "RFC §4.2.1.3: an authority's key signs certificates."
        case .basicConstraintsNotCritical: "RFC §4.2.1.9: authorities mark their basic constraints as critical."
        case .emptySubject: "RFC §4.1.2.6: an authority has a name."
        case .emptyIssuer: "RFC §4.1.2.4: every issuer has a name."
        case .serverPurpose: "RFC §4.2.1.12: the certificate is for TLS servers."
        case .authorityPurpose: "BR: an intermediate authority with purposes has that of TLS servers."
        case .serverKeyUsage: "RFC §4.2.1.3: the key of a server is for handshakes."
        case .endEntityKeyUsage:
            "RFC §4.2.1.9: a certificate that is no authority's does not claim to sign certificates."
        case .anyPurpose: "BR §7.1.2.7.10: a server's certificate is not for every purpose."
        case .purposesCritical: "BR §7.1.2.7.6: the purposes are not critical."
        case .hostName: "RFC 9525: the subjectAltName names the host."
        case .nameConstraint: "RFC §4.2.1.10: every name is one that its authorities may certify."
        case .incomparableNameConstraint: "RFC §4.2.1.10: constraints that cannot be compared with a name forbid it."
        case .malformedNameConstraints: "RFC §4.2.1.10: name constraints are well formed and not empty."
        case .nameConstraintsInEndEntity: "RFC §4.2.1.10: only authorities have name constraints."
        case .leadingDotInNameConstraint: "RFC §4.2.1.10: DNS constraints do not begin with a dot."
        case .malformedName: "RFC §4.2.1.6: alternative names are well formed."
        case .underscoreInName: "RFC §4.2.1.6: DNS names in the preferred syntax have no underscores."
        case .alternativeNamesNotCritical: "RFC §4.2.1.6: alternative names are critical if the subject is empty."
        case .alternativeNamesCritical:
            "BR §7.1.2.7.12: alternative names are not critical if the subject is not empty."
        case .commonNameCopy: "BR §7.1.4.3: a common name that is a host is a copy of an alternative name."
        case .weakKey:
            "BR §6.1.5 and §6.1.6: RSA of 2048 bits with an odd, positive modulus and an odd exponent of 3 to 2^32, "
                + "one of the NIST curves by its name, or an Edwards curve."
        case .malformedKey:
            "RFC 3279 §2.3, RFC 5480 §2: the key has its algorithm's encoding, a point lies on its curve, and no "
                + "bytes follow."
        case .unevenKey: "BR §6.1.5: RSA moduli are whole bytes."
        case .weakSignature: "BR §7.1.3.2: signatures use neither MD5 nor SHA-1."
        case .signatureAlgorithmMismatch: "RFC §4.1.1.2: both fields for the signature's algorithm are equal."
        case .version: "RFC §4.1.2.1: extensions need version 3, and server certificates need extensions."
        case .serialNumber: "RFC §4.1.2.2: the serial number is positive, and has at most 20 bytes."
        case .duplicateExtension: "RFC §4.2: no extension occurs twice."
        case .unknownCriticalExtension: "RFC §4.2: a certificate with an unknown critical extension is refused."
        case .malformedExtension: "Extensions that the evaluation needs can be read."
        case .malformedInformationAccess: "RFC §4.2.2.1: the authority information access can be read."
        case .malformedInformation:
            "Extensions that only inform, which the evaluation does not need, can be read: distribution points, "
                + "qualifiers of policies, timestamps of logs."
        case .informationAccessCritical: "RFC §4.2.2.1: the authority information access is not critical."
        case .authorityKeyIdentifier: "RFC §4.2.1.1: the identifier of the signer's key is present, and not critical."
        case .subjectKeyIdentifier: "RFC §4.2.1.2: the identifier of an authority's key is present, and not critical."
        case .certificatePolicy: "RFC §6.1.3 (f): a chain that demands a policy has one."
        case .policyConstraintsNotCritical: "RFC §4.2.1.11: constraints on policies are critical."
        case .revoked: "RFC §6.3: the certificate is not on its issuer's revocation list."
        case .revocationUnknown:
            "RFC §6.3: if lists are configured for a certificate's issuer, one of them is usable; and a required "
                + "status is stapled."
        }
    }
}
