// SPDX-License-Identifier: Apache-2.0

/// The rules that a path must keep, regardless of its anchor's origin.
///
/// They are applied from the leaf upwards as the path grows, so that a wrong path is abandoned at once. They apply to an
/// anchor as to any certificate, except that its own signature does not matter: its dates, its key, its marking as an
/// authority, its path length, its purposes and its name constraints count. To trust a certificate is to trust its
/// contents.
struct PathRules {
    /// The moment at which the certificates must be valid.
    let moment: UnixTime
    /// Bits of security that keys and signatures must have.
    let securityBits: Int
    /// True if a common name replaces missing alternative names; name constraints then apply to it too.
    let usesCommonName: Bool

    /// Returns the bits of OpenSSL's security level, but at least those of RSA with 2048 bits.
    static func securityBits(ofLevel level: CInt) -> Int {
        switch level {
        case ...2: 112
        case 3: 128
        case 4: 192
        default: 256
        }
    }

    /// Returns the rule that the peer's certificate breaks by itself, if any.
    ///
    /// - Parameter isAnchor: true if exactly this certificate is trusted.
    func finding(onLeaf leaf: PathCertificate, isAnchor: Bool) -> RuleFinding? {
        let facts = leaf.facts
        if let rule = self.commonFinding(leaf, isAnchor: isAnchor) { return RuleFinding(rule, leaf) }
        if facts.version != 3 && !isAnchor { return RuleFinding(.version, leaf) }
        if facts.issuer.isEmpty { return RuleFinding(.emptyIssuer, leaf) }
        if let purposes = facts.extensions.purposes, !purposes.includesServers {
            return RuleFinding(.serverPurpose, leaf)
        }
        // An authority may serve with its own certificate, which has the keyUsage of an authority.
        if let usage = facts.extensions.keyUsage, !usage.servesHandshakes,
            !(facts.extensions.isAuthority && usage.signsCertificates)
        {
            return RuleFinding(.serverKeyUsage, leaf)
        }
        return nil
    }

    /// Returns the reason why a certificate cannot have issued the top of a path, if any; the signature is not checked.
    func finding(onIssuer issuer: PathCertificate, isAnchor: Bool, of path: Path, budget: inout SearchBudget)
        -> RuleFinding?
    {
        let facts = issuer.facts
        let extensions = facts.extensions
        if let rule = self.commonFinding(issuer, isAnchor: isAnchor) { return RuleFinding(rule, issuer) }
        if facts.subject.name.isEmpty { return RuleFinding(.emptySubject, issuer) }
        // Roots of version 1 cannot be marked as authorities; a user who configures one means it to be one.
        let isOldRoot = isAnchor && facts.version == 1
        guard extensions.isAuthority || isOldRoot else { return RuleFinding(.notAnAuthority, issuer) }
        if facts.version != 3 && !isOldRoot { return RuleFinding(.version, issuer) }
        if extensions.keyUsage?.signsCertificates == false { return RuleFinding(.authorityKeyUsage, issuer) }
        if let limit = extensions.basicConstraints?.pathLength,
            path.authorities.count(where: { !$0.facts.isSelfIssued }) > limit
        {
            return RuleFinding(.pathLength, issuer)
        }
        if let purposes = extensions.purposes, !purposes.includesServers && !purposes.includesAny {
            return RuleFinding(.authorityPurpose, issuer)
        }
        return self.nameFinding(under: issuer, path: path, budget: &budget)
    }

    /// Returns the rule that any certificate may break, if it is broken.
    private func commonFinding(_ certificate: PathCertificate, isAnchor: Bool) -> Rule? {
        let facts = certificate.facts
        if certificate.certificate.notBefore > self.moment { return .notYetValid }
        if certificate.certificate.notAfter < self.moment { return .expired }
        if let defect = facts.extensions.defects.first(where: { !$0.isForm }) { return defect }
        if !facts.namesOneSignatureAlgorithm { return .signatureAlgorithmMismatch }
        if !facts.key.isWellFormed { return .malformedKey }
        if facts.key.securityBits < self.securityBits { return .weakKey }
        if !certificate.hasUsableKey { return .malformedKey }
        if !isAnchor && facts.signatureBits < self.securityBits { return .weakSignature }
        return nil
    }

    /// Applies an authority's name constraints to everything below it (§6.1.4 (g)).
    private func nameFinding(under issuer: PathCertificate, path: Path, budget: inout SearchBudget) -> RuleFinding? {
        guard let constraints = issuer.facts.extensions.nameConstraints else { return nil }
        for (index, certificate) in path.certificates.enumerated() {
            // Self-issued authorities are exempt, so that an authority can change its key; a self-issued leaf is not.
            if index > 0 && certificate.facts.isSelfIssued { continue }
            for name in self.names(of: certificate, isLeaf: index == 0) {
                budget.comparisons -= constraints.cost(of: name)
                guard budget.comparisons > 0 else { return RuleFinding(.pathTooComplex, issuer) }
                switch constraints.ruling(on: name) {
                case .allowed: break
                case .forbidden: return RuleFinding(.nameConstraint, certificate)
                case .incomparable: return RuleFinding(.incomparableNameConstraint, certificate)
                }
            }
        }
        return nil
    }

    /// Returns the names that constraints apply to: the subject, mail addresses in it, and the alternative names.
    private func names(of certificate: PathCertificate, isLeaf: Bool) -> [GeneralName] {
        let subject = certificate.facts.subject
        var names = certificate.facts.extensions.alternativeNames ?? []
        let hasAlternatives = !names.isEmpty
        if !subject.name.isEmpty { names.append(.directory(subject.name)) }
        names += subject.emailAddresses.map { .email($0) }
        if isLeaf && self.usesCommonName && !hasAlternatives {
            names += subject.commonNames.map(GeneralName.init(commonName:))
        }
        return names
    }
}

extension CertificateExtensions {
    var isAuthority: Bool { self.basicConstraints?.isAuthority == true }
}
