// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// A verdict for people: the answer, the rule that decided, and the chain with its pins and dates.
struct VerdictReport {
    /// The maximum length of the list, because a peer may send hundreds of certificates.
    private static let longestList = 32

    let lines: [String]

    init(_ verdict: Verdict) {
        var lines: [String] = []
        if let error = verdict.error {
            lines.append("rejected: \(error)")
            if let rule = error.rule { lines.append("rule: \(rule.rawValue)") }
        } else {
            lines.append("trusted: \(verdict.host ?? "the chain, for no host in particular")")
        }
        if let waived = verdict.waived { lines.append("waived by the policy: \(waived)") }
        if let reported = verdict.reported { lines.append("reported, not enforced: \(reported)") }
        lines += verdict.form.map { "form: \($0) (\($0.rule.rawValue))" }
        if !verdict.chain.isEmpty {
            lines.append(verdict.chainOrigin == .verified ? "verified path:" : "as presented:")
            for (index, entry) in verdict.chain.prefix(Self.longestList).enumerated() {
                lines += Self.lines(entry, index: index, isMatch: entry.spkiPin == verdict.matchedPin)
            }
            if verdict.chain.count > Self.longestList {
                lines.append("  and \(verdict.chain.count - Self.longestList) more")
            }
        }
        self.lines = lines
    }

    private static func lines(_ entry: ChainEntry, index: Int, isMatch: Bool) -> [String] {
        let certificate = entry.certificate
        return [
            "  \(index) \(entry.position.rawValue): \(certificate.subject.prefix(200))",
            "    issuer: \(certificate.issuer.prefix(200))",
            "    serial: \(certificate.serial.prefix(128))",
            "    valid: \(certificate.notBefore) to \(certificate.notAfter)",
            "    key: \(certificate.keyType)",
            "    pin: \(entry.spkiPin)\(isMatch ? " (pinned)" : "")",
        ]
    }
}
