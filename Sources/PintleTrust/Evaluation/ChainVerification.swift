// SPDX-License-Identifier: Apache-2.0

/// One search for a path from a peer's leaf to the anchors of one store, for a TLS server.
struct ChainVerification {
    /// The verified chain, leaf first; empty when there is none.
    let chain: [Certificate]
    /// Nil when the chain is valid.
    let finding: Finding?
    /// What is wrong with the form of a valid chain, where that is not demanded.
    let form: [FormBreach]

    /// - Parameters:
    ///   - budget: what looking for a path may cost.
    ///   - demandsForm: whether the chain must be of good form below its anchor.
    init(
        of peer: PeerChain, anchors: AnchorStore, rules: PathRules, revocation: RevocationRules?, demandsForm: Bool,
        budget: WorkBudget
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
        case .none(let finding):
            self.chain = []
            self.finding = finding
            self.form = []
        }
    }
}
