// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleTrust

/// The findings about one chain that tell what will be demanded of it, or no longer accepted.
struct ComingFindings {
    private static let longestSubject = 200
    /// A limit, because a server may send hundreds of certificates.
    private static let mostDigests = 8

    let target: AuditTarget
    let address: String
    let chain: AuditedChain
    let moment: UnixTime

    var findings: [AuditFinding] { self.lifetime + self.brokenDigests }

    private func finding(_ rule: FindingRule, _ message: String) -> AuditFinding {
        AuditFinding(
            rule, policy: self.target.policy, authority: self.target.authority, addresses: [self.address],
            keys: self.chain.keys, at: self.target.position, source: self.target.source,
            message: "\(self.target.authority.host): \(message)")
    }

    // MARK: Lifetimes

    /// The limits hold for public authorities only. A certificate says by its policies that it is from one: a list of roots
    /// cannot tell, as administrators add their own.
    private var lifetime: [AuditFinding] {
        guard self.chain.verdict.chainOrigin == .verified, let leaf = self.chain.presented.first,
            leaf.claimsBaselineRequirements
        else { return [] }
        let days = leaf.lifetimeDays
        let words =
            "the leaf certificate \"\(leaf.subject.prefix(Self.longestSubject))\" is valid for "
            + ReportText.count(Int(clamping: days), "day")
        if let limit = LifetimeLimit.inForce(at: leaf.notBefore), days > limit.days {
            return [
                self.finding(
                    .lifetimeTooLong,
                    "\(words), and a public authority may give \(limit.days) to one that it issues on "
                        + leaf.notBefore.description.prefix(10))
            ]
        }
        let coming = LifetimeLimit.all.filter { $0.start > self.moment && $0.days < days }
        guard !coming.isEmpty else { return [] }
        let limits = coming.enumerated().map { index, limit in
            index == 0
                ? "certificates issued from \(limit.day) on may be valid for \(limit.days) days"
                : "those from \(limit.day) on for \(limit.days)"
        }
        return [self.finding(.lifetimeShrinking, "\(words); \(limits.joined(separator: ", "))")]
    }

    // MARK: Signatures

    /// Certificates that the server sends with signatures that could be forged. Paths avoid them, if there is another one; a
    /// path that needs one is refused, which is an error of its own. A root's own signature proves nothing.
    private var brokenDigests: [AuditFinding] {
        guard self.chain.verdict.error?.problem != .weak else { return [] }
        let findings = self.chain.presented.lazy.compactMap { certificate -> AuditFinding? in
            guard !certificate.isSelfIssued, let digest = certificate.brokenDigest else { return nil }
            let subject = certificate.subject.prefix(Self.longestSubject)
            return self.finding(
                .brokenDigest, "the server sends the certificate \"\(subject)\", which is signed with \(digest)")
        }
        return Array(findings.prefix(Self.mostDigests))
    }
}
