// SPDX-License-Identifier: Apache-2.0

/// Revocation by lists that are configured (RFC 5280 §6.3).
///
/// An issuer of which there is a list must have a usable one: valid at the moment, signed by its key with a digest that
/// certificates may have too, and plain. An issuer without any list is not asked, since nobody said that it has one.
struct RevocationRules: Sendable {
    private let lists: [DistinguishedName: [ParsedRevocationList]]

    /// - Returns: nil for no lists at all.
    init?(_ lists: [RevocationList]) throws(TrustError) {
        guard !lists.isEmpty else { return nil }
        var index: [DistinguishedName: [ParsedRevocationList]] = [:]
        for list in lists {
            let parsed = try ParsedRevocationList(list, source: "revocation list")
            index[parsed.issuer, default: []].append(parsed)
        }
        self.lists = index
    }

    /// The first certificate from the leaf upwards that is revoked, or of which nobody can say.
    ///
    /// An issuer that has rolled its key over signs its lists with the new one: any key of its name on the path will do, since
    /// the path vouches for all of them.
    ///
    /// - Parameters:
    ///   - securityBits: those that signatures of lists must have.
    ///   - budget: what the search that arrived here may still spend.
    func finding(
        on path: Path, at moment: UnixTime, securityBits: Int, budget: inout WorkBudget
    ) -> Finding? {
        for (certificate, issuer) in zip(path.certificates, path.certificates.dropFirst()) {
            let name = issuer.facts.subject.name
            guard let named = self.lists[name] else { continue }
            let signers = path.authorities.filter { $0.facts.subject.name == name }
            let usable = named.filter { list in
                list.isPlain && list.validity?.contains(moment) == true && list.facts.namesOneSignatureAlgorithm
                    && list.facts.signatureBits >= securityBits
                    && signers.contains { $0.signed(list, budget: &budget) }
            }
            guard !usable.isEmpty else { return Finding(.revocationUnknown, certificate) }
            if usable.contains(where: certificate.isRevoked(by:)) { return Finding(.revoked, certificate) }
        }
        return nil
    }
}
