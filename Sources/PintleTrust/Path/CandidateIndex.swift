// SPDX-License-Identifier: Apache-2.0

/// A certificate that may have issued another one, judging by its name.
struct Candidate {
    let certificate: PathCertificate
    /// Set if the candidate is an anchor, which ends the path.
    let anchor: Anchor?
    /// True if the other certificate names this one's key as its issuer's (RFC 5280 §4.2.1.1).
    let isNamedByKey: Bool
}

/// The certificates that a peer sent beside its leaf, found by name; it marks those that can lead to an anchor.
struct CandidateIndex {
    private let bySubject: [DistinguishedName: [PathCertificate]]
    private let isConnected: Set<ObjectIdentifier>

    init(_ certificates: [PathCertificate], anchors: AnchorStore) {
        var seen: Set<Certificate> = []
        let distinct = certificates.filter { seen.insert($0.certificate).inserted }
        self.bySubject = Dictionary(grouping: distinct) { $0.facts.subject.name }

        // From the anchors downwards, by names alone: trying a certificate that is not reached here would be in vain.
        let byIssuer = Dictionary(grouping: distinct) { $0.facts.issuer }
        var connected = Set<ObjectIdentifier>()
        var pending = byIssuer.keys.filter { !anchors.anchors(named: $0).isEmpty }
        var visited = Set(pending)
        while let name = pending.popLast() {
            for certificate in byIssuer[name] ?? [] {
                connected.insert(ObjectIdentifier(certificate))
                if visited.insert(certificate.facts.subject.name).inserted {
                    pending.append(certificate.facts.subject.name)
                }
            }
        }
        self.isConnected = connected
    }

    /// Returns the possible issuers of a certificate, the likeliest first: those with the key that it names, then anchors
    /// before others, then those that are valid now.
    ///
    /// The key's identifier only decides the order. An issuer with another identifier is not excluded, as it may have
    /// changed, and one with the right identifier is not yet trusted: the signature decides.
    ///
    /// - Parameter includesUnconnected: true to include those that lead to no anchor.
    func issuers(
        of certificate: PathCertificate, anchors: AnchorStore, at moment: UnixTime, includesUnconnected: Bool = false
    ) -> [Candidate] {
        let name = certificate.facts.issuer
        let known = anchors.anchors(named: name)
        let sent = (self.bySubject[name] ?? []).filter { issuer in
            (includesUnconnected || self.isConnected.contains(ObjectIdentifier(issuer)))
                && !known.contains { $0.certificate.certificate == issuer.certificate }
        }
        let all =
            known.map { self.candidate($0.certificate, $0, of: certificate) }
            + sent.map { self.candidate($0, nil, of: certificate) }
        guard all.count > 1 else { return all }
        return all.enumerated().map { (rank: self.rank($1, of: certificate, at: moment), order: $0, candidate: $1) }
            .sorted { ($0.rank, $0.order) < ($1.rank, $1.order) }
            .map(\.candidate)
    }

    private func candidate(_ issuer: PathCertificate, _ anchor: Anchor?, of issued: PathCertificate) -> Candidate {
        let wanted = issued.facts.extensions.authorityKeyIdentifier?.keyIdentifier
        let isNamed = wanted != nil && wanted == issuer.facts.extensions.subjectKeyIdentifier
        return Candidate(certificate: issuer, anchor: anchor, isNamedByKey: isNamed)
    }

    /// Returns a number that is smaller for likelier candidates.
    private func rank(_ candidate: Candidate, of certificate: PathCertificate, at moment: UnixTime) -> Int {
        let hasNone =
            candidate.certificate.facts.extensions.subjectKeyIdentifier == nil
            || certificate.facts.extensions.authorityKeyIdentifier?.keyIdentifier == nil
        let byKey = candidate.isNamedByKey ? 0 : (hasNone ? 1 : 2)
        let byPlace = candidate.anchor != nil ? 0 : 1
        let byDate = candidate.certificate.isValid(at: moment) ? 0 : 1
        return byKey << 4 | byPlace << 2 | byDate
    }
}
