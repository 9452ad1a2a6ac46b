// SPDX-License-Identifier: Apache-2.0

/// Revocation by lists that are configured (RFC 5280 §6.3).
///
/// An issuer of which there is a list must have a usable one: valid at the moment, signed by its key, and plain. An
/// issuer without any list is not asked, since nobody said that it has one.
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
    /// - Parameter budget: what the search that arrived here may still spend.
    func finding(on path: Path, at moment: UnixTime, budget: inout WorkBudget) -> Finding? {
        for (certificate, issuer) in zip(path.certificates, path.certificates.dropFirst()) {
            guard let named = self.lists[issuer.facts.subject.name] else { continue }
            let usable = named.filter { list in
                list.isPlain && list.validity?.contains(moment) == true && issuer.signed(list, budget: &budget)
            }
            guard !usable.isEmpty else { return Finding(.revocationUnknown, certificate) }
            if usable.contains(where: certificate.isRevoked(by:)) { return Finding(.revoked, certificate) }
        }
        return nil
    }
}
