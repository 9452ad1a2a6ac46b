// SPDX-License-Identifier: Apache-2.0

/// The extensions of a certificate, decoded (RFC 5280 §4.2).
///
/// A damaged, repeated or unknown critical extension does not make the certificate unreadable: it breaks a rule, which
/// `defects` names. Such a certificate does no harm if it is not on the path.
struct CertificateExtensions {
    /// The bits of keyUsage that paths of TLS servers need.
    struct KeyUsage {
        let signsCertificates: Bool
        let signsRevocationLists: Bool
        /// True if the key may be used in a handshake: digitalSignature, keyEncipherment or keyAgreement.
        let servesHandshakes: Bool
    }

    /// The purposes of extendedKeyUsage that matter for servers.
    struct Purposes {
        let includesServers: Bool
        let includesAny: Bool
    }

    struct BasicConstraints {
        let isAuthority: Bool
        let pathLength: Int?
    }

    struct AuthorityKeyIdentifier {
        let keyIdentifier: [UInt8]?
    }

    struct PolicyConstraints {
        let requireExplicitPolicy: Int?
        let inhibitPolicyMapping: Int?
    }

    private(set) var basicConstraints: BasicConstraints?
    private(set) var keyUsage: KeyUsage?
    private(set) var purposes: Purposes?
    private(set) var alternativeNames: [GeneralName]?
    private(set) var nameConstraints: NameConstraints?
    private(set) var subjectKeyIdentifier: [UInt8]?
    private(set) var authorityKeyIdentifier: AuthorityKeyIdentifier?
    private(set) var policies: [OID]?
    /// True if a policy has a qualifier other than the two of RFC 5280 §4.2.1.4, a pointer to a statement and a notice.
    private var hasUnknownQualifier = false
    private(set) var policyMappings: [(OID, OID)] = []
    private(set) var policyConstraints: PolicyConstraints?
    private(set) var inhibitAnyPolicy: Int?
    /// The types of the critical extensions, known or unknown.
    private(set) var critical: Set<OID> = []
    /// The types of all extensions, known or unknown.
    private(set) var present: Set<OID> = []
    /// Rules that the extensions break by themselves, regardless of the certificate's use; each once.
    private(set) var defects: [Rule] = []

    /// The most policies, or mappings of them, that one certificate may have, as each is checked on every path. No
    /// certificate in use has a tenth of it.
    private static let mostPolicies = 256

    /// Critical extensions that the rules apply. CRL distribution points are among them: every verifier knows them, and
    /// they demand nothing of one that fetches no lists.
    private static let understood: Set<OID> = [
        .basicConstraints, .keyUsage, .extendedKeyUsage, .subjectAltName, .nameConstraints, .certificatePolicies,
        .policyMappings, .policyConstraints, .inhibitAnyPolicy, .subjectKeyIdentifier, .authorityKeyIdentifier,
        .authorityInformationAccess, .crlDistributionPoints,
    ]

    /// - Parameter element: the explicitly tagged field; nil if the certificate has none.
    init(_ element: DERElement?) throws(DERError) {
        guard let element else { return }
        var list = try DERReader(sequence: element.content)
        guard !list.isAtEnd else { throw DERError() }
        while !list.isAtEnd {
            var fields = try list.next(DERTag.sequence).elements
            let type = try OID(try fields.next(DERTag.objectIdentifier))
            let isCritical = try fields.flag()
            let value = try fields.next(DERTag.octetString)
            try fields.end()
            guard self.present.insert(type).inserted else {
                self.note(.duplicateExtension)
                continue
            }
            if isCritical {
                self.critical.insert(type)
                if !Self.understood.contains(type) { self.note(.unknownCriticalExtension) }
            }
            do {
                try self.decode(type, value.content)
            } catch {
                self.note(.rule(ofMalformed: type))
                continue
            }
            do {
                try InformationExtensions.check(type, value.content)
            } catch {
                self.note(.malformedInformation)
            }
        }
        // Critical policies require that their qualifiers are understood too (§4.2.1.4).
        if self.hasUnknownQualifier && self.critical.contains(.certificatePolicies) {
            self.note(.unknownCriticalExtension)
        }
    }

    private mutating func note(_ defect: Rule) {
        if !self.defects.contains(defect) { self.defects.append(defect) }
    }

    private mutating func decode(_ type: OID, _ bytes: ArraySlice<UInt8>) throws(DERError) {
        switch type {
        case .basicConstraints: self.basicConstraints = try Self.basicConstraints(bytes)
        case .keyUsage: self.keyUsage = try Self.keyUsage(bytes)
        case .extendedKeyUsage: self.purposes = try Self.purposes(bytes)
        case .subjectAltName: self.alternativeNames = try GeneralName.all(in: bytes)
        case .nameConstraints: self.nameConstraints = try NameConstraints(bytes)
        case .subjectKeyIdentifier:
            let identifier = try DERReader.only(DERTag.octetString, in: bytes).content
            guard !identifier.isEmpty else { throw DERError() }
            self.subjectKeyIdentifier = Array(identifier)
        case .authorityKeyIdentifier: self.authorityKeyIdentifier = try Self.authorityKeyIdentifier(bytes)
        case .certificatePolicies:
            let read = try Self.policies(bytes)
            self.policies = read.policies
            self.hasUnknownQualifier = read.hasUnknownQualifier
        case .policyMappings: self.policyMappings = try Self.policyMappings(bytes)
        case .policyConstraints: self.policyConstraints = try Self.policyConstraints(bytes)
        case .inhibitAnyPolicy:
            self.inhibitAnyPolicy = try DERReader.only(DERTag.integer, in: bytes).smallInteger()
        case .authorityInformationAccess: try InformationExtensions.checkAccessDescriptions(bytes)
        default: break
        }
    }

    private static func basicConstraints(_ bytes: ArraySlice<UInt8>) throws(DERError) -> BasicConstraints {
        var fields = try DERReader(sequence: bytes)
        let isAuthority = try fields.flag()
        let length = try fields.optional(DERTag.integer)
        try fields.end()
        // Only authorities have paths below them (RFC 5280 §4.2.1.9).
        guard isAuthority || length == nil else { throw DERError() }
        return BasicConstraints(isAuthority: isAuthority, pathLength: try length?.smallInteger())
    }

    private static func keyUsage(_ bytes: ArraySlice<UInt8>) throws(DERError) -> KeyUsage {
        let bits = try DERReader.only(DERTag.bitString, in: bytes).bits()
        func has(_ bit: Int) -> Bool { bit < bits.count && bits[bit] }
        return KeyUsage(
            signsCertificates: has(5), signsRevocationLists: has(6), servesHandshakes: has(0) || has(2) || has(4))
    }

    private static func purposes(_ bytes: ArraySlice<UInt8>) throws(DERError) -> Purposes {
        var list = try DERReader(sequence: bytes)
        guard !list.isAtEnd else { throw DERError() }
        var (servers, any) = (false, false)
        while !list.isAtEnd {
            let purpose = try OID(try list.next(DERTag.objectIdentifier))
            servers = servers || purpose == .serverAuthentication
            any = any || purpose == .anyExtendedKeyUsage
        }
        return Purposes(includesServers: servers, includesAny: any)
    }

    private static func authorityKeyIdentifier(
        _ bytes: ArraySlice<UInt8>
    ) throws(DERError) -> AuthorityKeyIdentifier {
        var fields = try DERReader(sequence: bytes)
        let identifier = try fields.optional(DERTag.implicit(0))
        // Issuer and serial number are a second way to name the issuer, which is not used here.
        _ = try fields.optional(DERTag.constructed(1))
        _ = try fields.optional(DERTag.implicit(2))
        try fields.end()
        return AuthorityKeyIdentifier(keyIdentifier: identifier.map { Array($0.content) })
    }

    private static func policies(
        _ bytes: ArraySlice<UInt8>
    ) throws(DERError) -> (policies: [OID], hasUnknownQualifier: Bool) {
        var list = try DERReader(sequence: bytes)
        var policies: [OID] = []
        var hasUnknownQualifier = false
        while !list.isAtEnd {
            var information = try list.next(DERTag.sequence).elements
            policies.append(try OID(try information.next(DERTag.objectIdentifier)))
            if let qualifiers = try information.optional(DERTag.sequence) {
                let areKnown = try Self.areKnown(qualifiers)
                hasUnknownQualifier = hasUnknownQualifier || !areKnown
            }
            try information.end()
        }
        guard !policies.isEmpty, policies.count <= Self.mostPolicies, Set(policies).count == policies.count else {
            throw DERError()
        }
        return (policies, hasUnknownQualifier)
    }

    private static func areKnown(_ qualifiers: DERElement) throws(DERError) -> Bool {
        var list = qualifiers.elements
        guard !list.isAtEnd else { throw DERError() }
        var areKnown = true
        while !list.isAtEnd {
            var qualifier = try list.next(DERTag.sequence).elements
            let type = try OID(try qualifier.next(DERTag.objectIdentifier))
            _ = try qualifier.next()
            try qualifier.end()
            areKnown = areKnown && (type == .practiceStatement || type == .userNotice)
        }
        return areKnown
    }

    private static func policyMappings(_ bytes: ArraySlice<UInt8>) throws(DERError) -> [(OID, OID)] {
        var list = try DERReader(sequence: bytes)
        var mappings: [(OID, OID)] = []
        while !list.isAtEnd {
            var pair = try list.next(DERTag.sequence).elements
            let issuers = try OID(try pair.next(DERTag.objectIdentifier))
            let subjects = try OID(try pair.next(DERTag.objectIdentifier))
            try pair.end()
            guard issuers != .anyPolicy, subjects != .anyPolicy else { throw DERError() }
            mappings.append((issuers, subjects))
        }
        guard !mappings.isEmpty, mappings.count <= Self.mostPolicies else { throw DERError() }
        return mappings
    }

    private static func policyConstraints(_ bytes: ArraySlice<UInt8>) throws(DERError) -> PolicyConstraints {
        var fields = try DERReader(sequence: bytes)
        let explicit = try fields.optional(DERTag.implicit(0))
        let mapping = try fields.optional(DERTag.implicit(1))
        try fields.end()
        guard explicit != nil || mapping != nil else { throw DERError() }
        return PolicyConstraints(
            requireExplicitPolicy: try explicit?.smallInteger(), inhibitPolicyMapping: try mapping?.smallInteger())
    }
}

extension Rule {
    fileprivate static func rule(ofMalformed type: OID) -> Rule {
        switch type {
        case .nameConstraints: .malformedNameConstraints
        case .authorityInformationAccess: .malformedInformationAccess
        default: .malformedExtension
        }
    }
}
