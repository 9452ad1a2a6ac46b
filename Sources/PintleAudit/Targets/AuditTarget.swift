// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintlePolicy

/// A server that an audit connects to, and the policy that judges it.
package struct AuditTarget: Sendable, Hashable {
    /// The policy's name; `system` where none applies.
    package let policy: String
    /// The policy's place in the configuration; nil for the system's roots and no pins.
    package let policyIndex: Int?
    package let authority: Authority
    /// Where the configuration names the server; nil where only the command line does.
    package let position: SourcePosition?
    /// Who names it: `trust.payments.hosts[0]`, `routes[2].upstream`, `--host`.
    package let source: String

    package init(policy: String, policyIndex: Int?, authority: Authority, position: SourcePosition?, source: String) {
        self.policy = policy
        self.policyIndex = policyIndex
        self.authority = authority
        self.position = position
        self.source = source
    }
}

/// A host pattern that stands for servers which nobody named.
package struct UnnamedHosts: Sendable, Hashable {
    package let policy: String
    package let pattern: HostPattern
    package let position: SourcePosition
    /// `trust.payments.hosts[1]`.
    package let source: String
}
