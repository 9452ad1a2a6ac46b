// SPDX-License-Identifier: Apache-2.0

/// The extensions of a certificate, decoded (RFC 5280 §4.2).
///
/// A damaged, repeated or unknown critical one does not make the certificate unreadable: it breaks a rule, which
/// `defects` names, and the certificate may stand beside a path without harm to it.
struct CertificateExtensions {
    /// keyUsage, as far as paths of TLS servers need it.
    struct KeyUsage {
        let signsCertificates: Bool
        let signsRevocationLists: Bool
        /// Good for a handshake: digitalSignature, keyEncipherment or keyAgreement.
        let servesHandshakes: Bool
    }

    struct BasicConstraints {
        let isAuthority: Bool
        let pathLength: Int?
    }

    struct AuthorityKeyIdentifier {
        let keyIdentifier: [UInt8]?
        /// Issuer and serial number, which RFC 5280 has and the web's profile forbids.
        let namesCertificate: Bool
    }

    struct PolicyConstraints {
        let requireExplicitPolicy: Int?
        let inhibitPolicyMapping: Int?
    }

    private(set) var basicConstraints: BasicConstraints?
    private(set) var keyUsage: KeyUsage?
    private(set) var purposes: [OID]?
    private(set) var alternativeNames: [GeneralName]?
    private(set) var nameConstraints: NameConstraints?
    private(set) var subjectKeyIdentifier: [UInt8]?
    private(set) var authorityKeyIdentifier: AuthorityKeyIdentifier?
    private(set) var policies: [OID]?
    private(set) var policyMappings: [(OID, OID)] = []
    private(set) var policyConstraints: PolicyConstraints?
    private(set) var inhibitAnyPolicy: Int?
    /// What is critical, known to us or not.
    private(set) var critical: Set<OID> = []
    /// What is there, known to us or not.
    private(set) var present: Set<OID> = []
    /// Rules that the extensions break by themselves, whatever the certificate is used for.
    private(set) var defects: [Rule] = []

    /// Critical ones that the rules carry out. CRL distribution points are known by every verifier and demand nothing
    /// of one that fetches no lists.
    private static let understood: Set<OID> = [
        .basicConstraints, .keyUsage, .extendedKeyUsage, .subjectAltName, .nameConstraints, .certificatePolicies,
        .policyMappings, .policyConstraints, .inhibitAnyPolicy, .subjectKeyIdentifier, .authorityKeyIdentifier,
        .authorityInformationAccess, .crlDistributionPoints,
    ]

    /// - Parameter element: the explicitly tagged field; nil where the certificate has none.
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
                self.defects.append(.duplicateExtension)
                continue
            }
            if isCritical {
                self.critical.insert(type)
                if !Self.understood.contains(type) { self.defects.append(.unknownCriticalExtension) }
            }
            do {
                try self.decode(type, value.content)
            } catch {
                self.defects.append(.rule(ofMalformed: type))
            }
        }
    }

    private mutating func decode(_ type: OID, _ bytes: ArraySlice<UInt8>) throws(DERError) {
        switch type {
        case .basicConstraints: self.basicConstraints = try Self.basicConstraints(bytes)
        case .keyUsage: self.keyUsage = try Self.keyUsage(bytes)
        case .extendedKeyUsage: self.purposes = try Self.identifiers(bytes)
        case .subjectAltName: self.alternativeNames = try GeneralName.all(in: bytes)
        case .nameConstraints: self.nameConstraints = try NameConstraints(bytes)
        case .subjectKeyIdentifier:
            let identifier = try DERReader.only(DERTag.octetString, in: bytes).content
            guard !identifier.isEmpty else { throw DERError() }
            self.subjectKeyIdentifier = Array(identifier)
        case .authorityKeyIdentifier: self.authorityKeyIdentifier = try Self.authorityKeyIdentifier(bytes)
        case .certificatePolicies: self.policies = try Self.policies(bytes)
        case .policyMappings: self.policyMappings = try Self.policyMappings(bytes)
        case .policyConstraints: self.policyConstraints = try Self.policyConstraints(bytes)
        case .inhibitAnyPolicy:
            self.inhibitAnyPolicy = try DERReader.only(DERTag.integer, in: bytes).smallInteger()
        case .authorityInformationAccess: try Self.checkAccessDescriptions(bytes)
        default: break
        }
    }

    private static func basicConstraints(_ bytes: ArraySlice<UInt8>) throws(DERError) -> BasicConstraints {
        var fields = try DERReader(sequence: bytes)
        let isAuthority = try fields.flag()
        let length = try fields.optional(DERTag.integer)
        try fields.end()
        return BasicConstraints(isAuthority: isAuthority, pathLength: try length?.smallInteger())
    }

    private static func keyUsage(_ bytes: ArraySlice<UInt8>) throws(DERError) -> KeyUsage {
        let bits = try DERReader.only(DERTag.bitString, in: bytes).bits()
        func has(_ bit: Int) -> Bool { bit < bits.count && bits[bit] }
        return KeyUsage(
            signsCertificates: has(5), signsRevocationLists: has(6), servesHandshakes: has(0) || has(2) || has(4))
    }

    private static func identifiers(_ bytes: ArraySlice<UInt8>) throws(DERError) -> [OID] {
        var list = try DERReader(sequence: bytes)
        var identifiers: [OID] = []
        while !list.isAtEnd { identifiers.append(try OID(try list.next(DERTag.objectIdentifier))) }
        guard !identifiers.isEmpty else { throw DERError() }
        return identifiers
    }

    private static func authorityKeyIdentifier(
        _ bytes: ArraySlice<UInt8>
    ) throws(DERError) -> AuthorityKeyIdentifier {
        var fields = try DERReader(sequence: bytes)
        let identifier = try fields.optional(DERTag.implicit(0))
        let issuer = try fields.optional(DERTag.constructed(1))
        let serial = try fields.optional(DERTag.implicit(2))
        try fields.end()
        return AuthorityKeyIdentifier(
            keyIdentifier: identifier.map { Array($0.content) }, namesCertificate: issuer != nil || serial != nil)
    }

    private static func policies(_ bytes: ArraySlice<UInt8>) throws(DERError) -> [OID] {
        var list = try DERReader(sequence: bytes)
        var policies: [OID] = []
        while !list.isAtEnd {
            var information = try list.next(DERTag.sequence).elements
            policies.append(try OID(try information.next(DERTag.objectIdentifier)))
            _ = try information.optional(DERTag.sequence)
            try information.end()
        }
        guard !policies.isEmpty, Set(policies).count == policies.count else { throw DERError() }
        return policies
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
        guard !mappings.isEmpty else { throw DERError() }
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

    private static func checkAccessDescriptions(_ bytes: ArraySlice<UInt8>) throws(DERError) {
        var list = try DERReader(sequence: bytes)
        guard !list.isAtEnd else { throw DERError() }
        while !list.isAtEnd {
            var description = try list.next(DERTag.sequence).elements
            _ = try OID(try description.next(DERTag.objectIdentifier))
            _ = try description.next()
            try description.end()
        }
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
