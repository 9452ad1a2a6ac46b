// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The rules of good form (`Rule.isForm`), applied to a path that is complete.
///
/// Chains of public roots keep them, all but the roots themselves, some of which are older than the rules: the system's
/// store answers for those. Chains of a root that somebody chose need not keep them in a handshake; where the whole
/// profile is asked for, they and their root must.
struct FormRules {
    /// The breach of each certificate at each place where it was judged. One search arrives at anchors by many paths,
    /// and a certificate may have tens of thousands of names.
    struct Memory {
        fileprivate struct Place: Hashable {
            let certificate: ObjectIdentifier
            let isLeaf: Bool
            let isAnchor: Bool
        }

        fileprivate var breaches: [Place: Rule?] = [:]
    }

    /// The first breach from the leaf upwards.
    ///
    /// - Parameters:
    ///   - includesAnchor: whether the anchor is judged too.
    ///   - memory: of the same search, whose certificates live as long as it does.
    static func finding(on path: Path, includesAnchor: Bool, memory: inout Memory) -> Finding? {
        for (index, certificate) in path.certificates.enumerated() {
            let isLeaf = index == 0
            let isAnchor = index == path.certificates.count - 1
            // A leaf that is trusted as it is must still be a proper leaf.
            guard !isAnchor || includesAnchor || isLeaf else { continue }
            let place = Memory.Place(certificate: ObjectIdentifier(certificate), isLeaf: isLeaf, isAnchor: isAnchor)
            let rule: Rule?
            if let known = memory.breaches[place] {
                rule = known
            } else {
                rule = self.breach(of: certificate, isLeaf: isLeaf, isAnchor: isAnchor)
                memory.breaches.updateValue(rule, forKey: place)
            }
            if let rule { return Finding(rule, certificate) }
        }
        return nil
    }

    private static func breach(of certificate: PathCertificate, isLeaf: Bool, isAnchor: Bool) -> Rule? {
        let facts = certificate.facts
        if let rule = self.commonBreach(of: facts) ?? self.identifierBreach(of: certificate, isAnchor: isAnchor) {
            return rule
        }
        if isLeaf { return self.leafBreach(of: facts) }
        if isAnchor && facts.version != 3 { return .version }
        return self.authorityBreach(of: facts, isAnchor: isAnchor)
    }

    private static func commonBreach(of facts: CertificateFacts) -> Rule? {
        let extensions = facts.extensions
        if let defect = extensions.defects.first { return defect }
        if !facts.encodesDatesProperly { return .dateEncoding }
        // Zero is one byte of nothing, and a negative number begins with a one.
        let isPositive = facts.serial.first.map { $0 < 0x80 } == true && facts.serial.contains { $0 != 0 }
        if !isPositive || facts.serial.drop(while: { $0 == 0 }).count > 20 { return .serialNumber }
        if case .rsa(let bits) = facts.key.kind, !bits.isMultiple(of: 8) { return .unevenKey }
        if extensions.critical.contains(.authorityInformationAccess) { return .informationAccessCritical }
        if extensions.policyConstraints != nil && !extensions.critical.contains(.policyConstraints) {
            return .policyConstraintsNotCritical
        }
        return nil
    }

    private static func identifierBreach(of certificate: PathCertificate, isAnchor: Bool) -> Rule? {
        let facts = certificate.facts
        let extensions = facts.extensions
        if extensions.critical.contains(.authorityKeyIdentifier) { return .authorityKeyIdentifier }
        if extensions.critical.contains(.subjectKeyIdentifier) { return .subjectKeyIdentifier }
        let isRoot = isAnchor && facts.isSelfIssued
        if let authority = extensions.authorityKeyIdentifier {
            guard let key = authority.keyIdentifier else { return .authorityKeyIdentifier }
            if isRoot, authority.namesCertificate || (extensions.subjectKeyIdentifier.map { $0 != key } ?? false) {
                return .authorityKeyIdentifier
            }
        } else if !isRoot && !(isAnchor && certificate.isSigned(by: certificate)) {
            // Who distributes a key signed by itself may leave the identifier out, whatever it calls its issuer.
            return .authorityKeyIdentifier
        }
        if extensions.isAuthority && extensions.subjectKeyIdentifier == nil { return .subjectKeyIdentifier }
        return nil
    }

    private static func authorityBreach(of facts: CertificateFacts, isAnchor: Bool) -> Rule? {
        let extensions = facts.extensions
        if !extensions.critical.contains(.basicConstraints) { return .basicConstraintsNotCritical }
        if isAnchor && facts.isSelfIssued && extensions.purposes != nil { return .rootPurpose }
        if extensions.nameConstraints?.usesLeadingDots == true { return .leadingDotInNameConstraint }
        return nil
    }

    private static func leafBreach(of facts: CertificateFacts) -> Rule? {
        let extensions = facts.extensions
        if extensions.nameConstraints != nil && !extensions.isAuthority { return .nameConstraintsInEndEntity }
        if let usage = extensions.keyUsage, usage.signsCertificates != extensions.isAuthority {
            return .endEntityKeyUsage
        }
        if extensions.purposes?.includesAny == true { return .anyPurpose }
        if extensions.critical.contains(.extendedKeyUsage) { return .purposesCritical }
        return self.nameBreach(of: facts)
    }

    private static func nameBreach(of facts: CertificateFacts) -> Rule? {
        guard let names = facts.extensions.alternativeNames else { return nil }
        let isCritical = facts.extensions.critical.contains(.subjectAltName)
        if facts.subject.name.isEmpty && !isCritical { return .alternativeNamesNotCritical }
        if !facts.subject.name.isEmpty && isCritical { return .alternativeNamesCritical }
        for name in names {
            switch name {
            case .dns(let bytes):
                guard let name = DNSName(bytes), !name.looksLikeAddress else { return .malformedName }
                if name.usesUnderscores { return .underscoreInName }
            case .address(let bytes):
                if IPAddress(bytes: bytes) == nil { return .malformedName }
            case .email, .directory, .uri, .unknown: break
            }
        }
        let spelling = CommonNameSpelling(names)
        return facts.subject.commonNames.contains(where: spelling.isNoCopy) ? .commonNameCopy : nil
    }
}

/// Whether a common name that means a host of the alternative names is written as it is there.
///
/// Other common names are free: they do not count, and certificates for organisations have had them for ever.
private struct CommonNameSpelling {
    private let dns: Set<[UInt8]>
    private let folded: Set<[UInt8]>
    private let addresses: Set<IPAddress>

    init(_ names: [GeneralName]) {
        let dns = names.compactMap { if case .dns(let name) = $0 { name } else { nil } }
        self.dns = Set(dns)
        self.folded = Set(dns.map { $0.map(ASCIIByte.lower) })
        self.addresses = Set(
            names.compactMap { if case .address(let bytes) = $0 { IPAddress(bytes: bytes) } else { nil } })
    }

    func isNoCopy(_ commonName: String) -> Bool {
        let bytes = Array(commonName.utf8)
        guard !self.dns.contains(bytes) else { return false }
        // Another spelling of a listed name or address.
        if self.folded.contains(bytes.map(ASCIIByte.lower)) { return true }
        if let address = CommonNameSpelling.address(commonName), self.addresses.contains(address) {
            return address.description != commonName
        }
        // What is read by people can be mistaken for another host in other scripts.
        return CommonNameSpelling.isInternational(bytes)
    }

    /// An address in any notation that system calls understand, octal and hexadecimal too.
    private static func address(_ text: String) -> IPAddress? {
        var address = in_addr()
        if let strict = IPAddress(text) { return strict }
        guard inet_aton(text, &address) != 0 else { return nil }
        return IPAddress(bytes: withUnsafeBytes(of: &address.s_addr) { Array($0) })
    }

    /// A host with letters of other scripts, spelled out or as A-labels (RFC 5890 §2.3.2.1).
    private static func isInternational(_ name: [UInt8]) -> Bool {
        guard name.contains(ASCIIByte.dot), !name.contains(0x20) else { return false }
        if name.contains(where: { $0 >= 0x80 }) { return true }
        guard DNSName(name) != nil else { return false }
        return name.split(separator: ASCIIByte.dot).contains { label in
            label.prefix(4).map(ASCIIByte.lower).elementsEqual("xn--".utf8)
        }
    }
}
