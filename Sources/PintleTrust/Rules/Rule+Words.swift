// SPDX-License-Identifier: Apache-2.0

extension Rule {
    /// A few words that describe the breach; the rule's identifier if that says enough.
    var words: String {
        switch self {
        case .dateEncoding: "its dates are not encoded as RFC 5280 asks"
        case .basicConstraintsNotCritical: "an authority's basic constraints are not critical"
        case .emptySubject: "an authority without a name"
        case .emptyIssuer: "its issuer has no name"
        case .endEntityKeyUsage: "its key usage and its basic constraints contradict each other"
        case .anyPurpose: "it is for any purpose"
        case .purposesCritical: "its extended key usage is critical"
        case .malformedNameConstraints: "its name constraints are malformed or empty"
        case .nameConstraintsInEndEntity: "name constraints, and no authority"
        case .leadingDotInNameConstraint: "a DNS name constraint begins with a dot"
        case .malformedName: "an alternative name is malformed"
        case .underscoreInName: "an alternative name has an underscore"
        case .alternativeNamesNotCritical: "its subject is empty and its subjectAltName not critical"
        case .alternativeNamesCritical: "its subject is not empty and its subjectAltName critical"
        case .commonNameCopy: "its common name is a host that no alternative name spells alike"
        case .malformedKey: "its key cannot be read, or is followed by something else"
        case .unevenKey: "the length of its RSA key is no multiple of eight"
        case .signatureAlgorithmMismatch: "it names two signature algorithms"
        case .version: "not version 3"
        case .serialNumber: "its serial number is not positive, or longer than 20 bytes"
        case .duplicateExtension: "an extension stands there twice"
        case .unknownCriticalExtension: "a critical extension is unknown"
        case .malformedExtension: "an extension cannot be read"
        case .malformedInformation:
            "its distribution points, timestamps or another extension that informs cannot be read"
        case .malformedInformationAccess: "its authority information access cannot be read"
        case .informationAccessCritical: "its authority information access is critical"
        case .authorityKeyIdentifier: "its authority key identifier is missing or improper"
        case .subjectKeyIdentifier: "its subject key identifier is missing or improper"
        case .policyConstraintsNotCritical: "its policy constraints are not critical"
        case .unknownIssuer, .selfSigned, .badSignature, .pathTooComplex, .expired, .notYetValid, .notAnAuthority,
            .pathLength, .authorityKeyUsage, .serverPurpose, .authorityPurpose, .serverKeyUsage, .hostName,
            .nameConstraint, .incomparableNameConstraint, .weakKey, .weakSignature, .certificatePolicy, .revoked,
            .revocationUnknown:
            self.rawValue
        }
    }
}
