// SPDX-License-Identifier: Apache-2.0

/// Certificate policies as RFC 5280 §6.1 processes them for a verifier that accepts any policy.
///
/// Such a verifier looks at policies only where an authority demands that there be one. Then it needs to know whether
/// any policy is left at the leaf, not which: of the tree of §6.1.2 the lowest level is enough.
struct PolicyRules {
    private var accepted: Set<OID> = [.anyPolicy]
    private var explicitPolicy: Int
    private var inhibitAnyPolicy: Int
    private var policyMapping: Int

    /// The certificate at which the last policy is lost, when one is demanded.
    static func finding(on path: Path) -> Finding? {
        // Nobody demands one, as nearly always.
        guard path.certificates.contains(where: { $0.facts.extensions.policyConstraints != nil }) else { return nil }
        // The anchor's constraints count from below it.
        let chain = Array(path.certificates.reversed())
        var rules = PolicyRules(length: chain.count)
        for (index, certificate) in chain.enumerated() {
            let isLeaf = index == chain.count - 1
            if index > 0 {
                rules.enter(certificate.facts, isLeaf: isLeaf)
                if rules.explicitPolicy == 0 && rules.accepted.isEmpty {
                    return Finding(.certificatePolicy, certificate)
                }
            }
            rules.leave(certificate.facts, isLeaf: isLeaf)
        }
        return rules.explicitPolicy == 0 && rules.accepted.isEmpty ? Finding(.certificatePolicy, path.leaf) : nil
    }

    private init(length: Int) {
        self.explicitPolicy = length + 1
        self.inhibitAnyPolicy = length + 1
        self.policyMapping = length + 1
    }

    /// §6.1.3 (d) to (f).
    private mutating func enter(_ facts: CertificateFacts, isLeaf: Bool) {
        guard let policies = facts.extensions.policies else {
            self.accepted = []
            return
        }
        let acceptsAny = self.accepted.contains(.anyPolicy)
        var next = Set(policies.filter { $0 != .anyPolicy && (acceptsAny || self.accepted.contains($0)) })
        let mayUseAny = self.inhibitAnyPolicy > 0 || (!isLeaf && facts.isSelfIssued)
        if policies.contains(.anyPolicy) && mayUseAny { next.formUnion(self.accepted) }
        self.accepted = next
    }

    /// §6.1.4, and §6.1.5 (a) and (b) for the leaf.
    private mutating func leave(_ facts: CertificateFacts, isLeaf: Bool) {
        let extensions = facts.extensions
        if !isLeaf {
            self.map(extensions.policyMappings)
            if !facts.isSelfIssued {
                self.explicitPolicy = max(0, self.explicitPolicy - 1)
                self.policyMapping = max(0, self.policyMapping - 1)
                self.inhibitAnyPolicy = max(0, self.inhibitAnyPolicy - 1)
            }
        } else {
            // Whether the leaf is issued by itself or not, §6.1.5 (a).
            self.explicitPolicy = max(0, self.explicitPolicy - 1)
        }
        if let demanded = extensions.policyConstraints?.requireExplicitPolicy {
            if !isLeaf || demanded == 0 { self.explicitPolicy = min(self.explicitPolicy, demanded) }
        }
        guard !isLeaf else { return }
        if let limit = extensions.policyConstraints?.inhibitPolicyMapping {
            self.policyMapping = min(self.policyMapping, limit)
        }
        if let limit = extensions.inhibitAnyPolicy { self.inhibitAnyPolicy = min(self.inhibitAnyPolicy, limit) }
    }

    private mutating func map(_ mappings: [(OID, OID)]) {
        guard !mappings.isEmpty else { return }
        let before = self.accepted
        for (issuers, _) in mappings { self.accepted.remove(issuers) }
        guard self.policyMapping > 0 else { return }
        for (issuers, subjects) in mappings where before.contains(issuers) || before.contains(.anyPolicy) {
            self.accepted.insert(subjects)
        }
    }
}
