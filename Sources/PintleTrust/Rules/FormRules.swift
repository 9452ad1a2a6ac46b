// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The rules of good form (`Rule.isForm`), applied to a complete path.
///
/// The anchor is not checked: a path only takes its name, key and dates (RFC 5280 §6.1.1 (d)), and many roots are older
/// than the rules.
struct FormRules {
    /// The breach of each certificate at each place where it was judged, remembered because one search reaches anchors by
    /// many paths, and a certificate may have tens of thousands of names.
    struct Memory {
        fileprivate struct Place: Hashable {
            let certificate: ObjectIdentifier
            let isLeaf: Bool
        }

        fileprivate var breaches: [Place: Rule?] = [:]
    }

    /// Returns the first breach of each certificate below the anchor, from the leaf upwards.
    ///
    /// - Parameter memory: the memory of one search; the certificates live as long as the search.
    static func findings(on path: Path, memory: inout Memory) -> [RuleFinding] {
        var findings: [RuleFinding] = []
        for (index, certificate) in path.certificates.dropLast().enumerated() {
            let isLeaf = index == 0
            let place = Memory.Place(certificate: ObjectIdentifier(certificate), isLeaf: isLeaf)
            let rule: Rule?
            if let known = memory.breaches[place] {
                rule = known
            } else {
                rule = self.breach(of: certificate.facts, isLeaf: isLeaf)
                memory.breaches.updateValue(rule, forKey: place)
            }
            if let rule { findings.append(RuleFinding(rule, certificate)) }
        }
        return findings
    }

    private static func breach(of facts: CertificateFacts, isLeaf: Bool) -> Rule? {
        if let rule = self.commonBreach(of: facts) ?? self.identifierBreach(of: facts.extensions) { return rule }
        return isLeaf ? self.leafBreach(of: facts) : self.authorityBreach(of: facts.extensions)
    }

    private static func commonBreach(of facts: CertificateFacts) -> Rule? {
        let extensions = facts.extensions
        if let defect = extensions.defects.first { return defect }
        if !facts.encodesDatesProperly { return .dateEncoding }
        // Zero is a byte without a set bit, and a negative number begins with a set bit.
        let isPositive = facts.serial.first.map { $0 < 0x80 } == true && facts.serial.contains { $0 != 0 }
        if !isPositive || facts.serial.drop(while: { $0 == 0 }).count > 20 { return .serialNumber }
        if case .rsa(let bits) = facts.key.kind, !bits.isMultiple(of: 8) { return .unevenKey }
        if extensions.critical.contains(.authorityInformationAccess) { return .informationAccessCritical }
        if extensions.policyConstraints != nil && !extensions.critical.contains(.policyConstraints) {
            return .policyConstraintsNotCritical
        }
        return nil
    }

    private static func identifierBreach(of extensions: CertificateExtensions) -> Rule? {
        if extensions.critical.contains(.authorityKeyIdentifier) { return .authorityKeyIdentifier }
        if extensions.critical.contains(.subjectKeyIdentifier) { return .subjectKeyIdentifier }
        if extensions.authorityKeyIdentifier?.keyIdentifier == nil { return .authorityKeyIdentifier }
        if extensions.isAuthority && extensions.subjectKeyIdentifier == nil { return .subjectKeyIdentifier }
        return nil
    }

    private static func authorityBreach(of extensions: CertificateExtensions) -> Rule? {
        if !extensions.critical.contains(.basicConstraints) { return .basicConstraintsNotCritical }
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
                if IPAddressName(bytes: bytes) == nil { return .malformedName }
            case .email, .directory, .uri, .unknown: break
            }
        }
        let spelling = CommonNameSpelling(names)
        return facts.subject.commonNames.contains(where: spelling.isNoCopy) ? .commonNameCopy : nil
    }
}

/// Checks that a common name is spelled like the alternative name that stands for its host.
///
/// Other common names are not restricted: they do not count, and certificates for organisations have always had them.
private struct CommonNameSpelling {
    private let dns: Set<[UInt8]>
    private let folded: Set<[UInt8]>
    private let addresses: Set<IPAddressName>

    init(_ names: [GeneralName]) {
        let dns = names.compactMap { if case .dns(let name) = $0 { name } else { nil } }
        self.dns = Set(dns)
        self.folded = Set(dns.map { $0.map(ASCIIByte.lower) })
        self.addresses = Set(
            names.compactMap { if case .address(let bytes) = $0 { IPAddressName(bytes: bytes) } else { nil } })
    }

    func isNoCopy(_ commonName: String) -> Bool {
        let bytes = Array(commonName.utf8)
        guard !self.dns.contains(bytes) else { return false }
        // True for another spelling of a listed name or address.
        if self.folded.contains(bytes.map(ASCIIByte.lower)) { return true }
        if let address = CommonNameSpelling.address(commonName), self.addresses.contains(address) {
            return address.description != commonName
        }
        // Names in other scripts can be mistaken by people for another host.
        return CommonNameSpelling.isInternational(bytes)
    }

    /// Returns the address in any notation that system calls understand, including octal and hexadecimal.
    private static func address(_ text: String) -> IPAddressName? {
        var address = in_addr()
        if let strict = IPAddressName(text) { return strict }
        guard inet_aton(text, &address) != 0 else { return nil }
        return IPAddressName(bytes: withUnsafeBytes(of: &address.s_addr) { Array($0) })
    }

    /// True for a host with letters of other scripts, spelled out or as A-labels (RFC 5890 §2.3.2.1).
    private static func isInternational(_ name: [UInt8]) -> Bool {
        guard name.contains(ASCIIByte.dot), !name.contains(0x20) else { return false }
        if name.contains(where: { $0 >= 0x80 }) { return true }
        guard DNSName(name) != nil else { return false }
        return name.split(separator: ASCIIByte.dot).contains { label in
            label.prefix(4).map(ASCIIByte.lower).elementsEqual("xn--".utf8)
        }
    }
}
