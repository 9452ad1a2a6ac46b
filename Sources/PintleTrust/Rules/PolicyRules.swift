// SPDX-License-Identifier: Apache-2.0

/// Certificate policies, processed by RFC 5280 §6.1 for a verifier that accepts any policy.
///
/// Such a verifier needs policies only if an authority demands that there be one. It then must know if any policy is left
/// at the leaf, but not which one: the lowest level of the tree of §6.1.2 is enough.
struct PolicyRules {
    private var accepted: Set<OID> = [.anyPolicy]
    private var explicitPolicy: Int
    private var inhibitAnyPolicy: Int
    private var policyMapping: Int

    /// Returns the certificate at which the last policy is lost, if a policy is demanded.
    static func finding(on path: Path) -> RuleFinding? {
        // Nearly always, no certificate demands one.
        guard path.certificates.contains(where: { $0.facts.extensions.policyConstraints != nil }) else { return nil }
        // The anchor's constraints apply to the certificates below it.
        let chain = Array(path.certificates.reversed())
        var rules = PolicyRules(length: chain.count)
        for (index, certificate) in chain.enumerated() {
            let isLeaf = index == chain.count - 1
            if index > 0 {
                rules.enter(certificate.facts, isLeaf: isLeaf)
                if rules.explicitPolicy == 0 && rules.accepted.isEmpty {
                    return RuleFinding(.certificatePolicy, certificate)
                }
            }
            rules.leave(certificate.facts, isLeaf: isLeaf)
        }
        return rules.explicitPolicy == 0 && rules.accepted.isEmpty ? RuleFinding(.certificatePolicy, path.leaf) : nil
    }

    private init(length: Int) {
        self.explicitPolicy = length + 1
        self.inhibitAnyPolicy = length + 1
        self.policyMapping = length + 1
    }

    /// Processes a certificate by §6.1.3 (d) to (f).
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

    /// Prepares for the next certificate by §6.1.4, or ends at the leaf by §6.1.5 (a) and (b).
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
            // §6.1.5 (a), for self-issued leaves too.
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
