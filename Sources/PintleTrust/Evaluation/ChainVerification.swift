// SPDX-License-Identifier: Apache-2.0

/// One search for a path from a peer's leaf to the anchors of one store, for a TLS server.
struct ChainVerification {
    /// The verified chain, leaf first; empty if there is none.
    let chain: [Certificate]
    /// The reason why no valid chain was found; nil if one was.
    let finding: RuleFinding?
    /// Rules of form that a valid chain breaks, if the policy does not demand good form.
    let form: [FormBreach]
    /// The first moment at which the chain is no longer valid, by its dates and those of revocation lists; nil if there is
    /// no valid chain.
    let end: UnixTime?

    /// - Parameters:
    ///   - budget: the limit of work for the search.
    ///   - demandsForm: true if the chain must be of good form below its anchor.
    init(
        of peer: PeerChain, anchors: AnchorStore, rules: PathRules, revocation: RevocationRules?, demandsForm: Bool,
        budget: SearchBudget
    ) {
        OpenSSLErrors.clear()
        var search = PathSearch(
            others: peer.others, anchors: anchors, rules: rules, revocation: revocation, demandsForm: demandsForm,
            budget: budget)
        switch search.run(from: peer.leaf) {
        case .found(let path):
            self.chain = path.certificates.map(\.certificate)
            self.finding = nil
            self.form = search.formFindings(on: path).compactMap(FormBreach.init)
            self.end = [path.end, revocation?.end(on: path, at: rules.moment)].compactMap { $0 }.min()
        case .none(let finding):
            self.chain = []
            self.finding = finding
            self.form = []
            self.end = nil
        }
    }
}
