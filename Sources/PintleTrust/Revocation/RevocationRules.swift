// SPDX-License-Identifier: Apache-2.0

/// Revocation by configured lists (RFC 5280 §6.3).
///
/// An issuer that has a list here must have a usable one: valid at the moment, signed by its key with a digest that
/// certificates may use too, and plain. An issuer without any list is not checked, since it may not publish one.
struct RevocationRules: Sendable {
    private let lists: [DistinguishedName: [ParsedRevocationList]]

    /// - Returns: nil if there are no lists.
    init?(_ lists: [RevocationList]) throws(TrustError) {
        guard !lists.isEmpty else { return nil }
        var index: [DistinguishedName: [ParsedRevocationList]] = [:]
        for list in lists {
            let parsed = try ParsedRevocationList(list, source: "revocation list")
            index[parsed.issuer, default: []].append(parsed)
        }
        self.lists = index
    }

    /// Returns the first certificate from the leaf upwards that is revoked, or has no usable list.
    ///
    /// An issuer that has changed its key signs its lists with the new one: any key of its name on the path is accepted,
    /// since the path proves all of them.
    ///
    /// - Parameters:
    ///   - securityBits: the strength that signatures of lists must have.
    ///   - budget: the remaining work of the path search.
    func finding(
        on path: Path, at moment: UnixTime, securityBits: Int, budget: inout SearchBudget
    ) -> RuleFinding? {
        for (certificate, issuer) in zip(path.certificates, path.certificates.dropFirst()) {
            let name = issuer.facts.subject.name
            guard let named = self.lists[name] else { continue }
            let signers = path.authorities.filter { $0.facts.subject.name == name }
            let usable = named.filter { list in
                list.isPlain && list.validity?.contains(moment) == true && list.facts.namesOneSignatureAlgorithm
                    && list.facts.signatureBits >= securityBits
                    && signers.contains { $0.signed(list, budget: &budget) }
            }
            guard !usable.isEmpty else { return RuleFinding(.revocationUnknown, certificate) }
            if usable.contains(where: certificate.isRevoked(by:)) { return RuleFinding(.revoked, certificate) }
        }
        return nil
    }

    /// Returns the first moment at which an issuer of the path no longer has a current list; nil if no list applies.
    ///
    /// - Parameter path: a path without a finding at that moment.
    func end(on path: Path, at moment: UnixTime) -> UnixTime? {
        path.certificates.dropFirst().compactMap { issuer in
            // The last of their ends counts: one current list is enough.
            (self.lists[issuer.facts.subject.name] ?? []).compactMap(\.validity)
                .filter { $0.contains(moment) }.map(\.upperBound).max()
        }.min().map { $0.advanced(by: .seconds(1)) }
    }
}
