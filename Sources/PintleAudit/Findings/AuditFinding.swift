// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintlePolicy
package import PintleTrust

/// One thing that an audit found.
package struct AuditFinding: Sendable, Hashable {
    package let rule: FindingRule
    package let severity: Severity
    /// The policy's name.
    package let policy: String
    /// The server; nil if the finding is about the policy itself.
    package let authority: Authority?
    /// The addresses at which it was found, sorted; empty if the address does not matter.
    package var addresses: [String]
    /// The kinds of keys with which it was found; empty if they do not matter.
    package var keys: [HandshakeOffer.Keys]
    /// The place in the configuration that it is about; nil for hosts of the command line, and if there is no file.
    package let position: SourcePosition?
    /// The setting at that place: `trust.payments.pins[0]`.
    package let source: String
    /// The description, with the server and the details; may have several lines. Parts of it are text of the server.
    package let message: String

    package init(
        _ rule: FindingRule, severity: Severity? = nil, policy: String, authority: Authority? = nil,
        addresses: [String] = [], keys: [HandshakeOffer.Keys] = [], at position: SourcePosition?, source: String,
        message: String
    ) {
        self.rule = rule
        self.severity = severity ?? rule.severity
        self.policy = policy
        self.authority = authority
        self.addresses = addresses
        self.keys = keys
        self.position = position
        self.source = source
        self.message = message
    }

    /// The parts of a finding that stay equal if it was made at another address or with another kind of key.
    private struct Identity: Hashable {
        let rule: FindingRule
        let severity: Severity
        let policy: String
        let authority: Authority?
        let position: SourcePosition?
        let message: String
    }

    /// Joins findings that differ only by address or kind of key, and sorts them for reports: the most severe first, then
    /// by rule, policy and host.
    static func merged(_ findings: [AuditFinding]) -> [AuditFinding] {
        var places: [Identity: Int] = [:]
        var merged: [AuditFinding] = []
        for finding in findings {
            let identity = Identity(
                rule: finding.rule, severity: finding.severity, policy: finding.policy, authority: finding.authority,
                position: finding.position, message: finding.message)
            if let place = places[identity] {
                merged[place].addresses += finding.addresses.filter { !merged[place].addresses.contains($0) }
                merged[place].keys += finding.keys.filter { !merged[place].keys.contains($0) }
            } else {
                places[identity] = merged.count
                merged.append(finding)
            }
        }
        for index in merged.indices { merged[index].addresses.sort() }
        return merged.sorted { $0.rank < $1.rank }
    }

    private var rank: Rank { Rank(finding: self) }

    private struct Rank: Comparable {
        let finding: AuditFinding

        static func < (left: Rank, right: Rank) -> Bool {
            let (left, right) = (left.finding, right.finding)
            if left.severity != right.severity { return left.severity > right.severity }
            if left.rule != right.rule { return left.rule < right.rule }
            if left.policy != right.policy { return left.policy < right.policy }
            let (host, otherHost) = (left.authority?.description ?? "", right.authority?.description ?? "")
            if host != otherHost { return host < otherHost }
            let start = SourcePosition(line: 0, column: 0)
            if left.position != right.position { return left.position ?? start < right.position ?? start }
            return left.message < right.message
        }

        static func == (left: Rank, right: Rank) -> Bool { left.finding == right.finding }
    }
}
