// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintlePolicy

/// A server to audit, and the policy that applies to it.
package struct AuditTarget: Sendable, Hashable {
    /// The policy's name; `system` if no policy applies.
    package let policy: String
    /// The policy's index in the configuration; nil for the system's roots without pins.
    package let policyIndex: Int?
    package let authority: Authority
    /// The place in the configuration that names the server; nil if only the command line does.
    package let position: SourcePosition?
    /// The setting or option that names the server: `trust.payments.hosts[0]`, `routes[2].upstream`, `--host`.
    package let source: String

    package init(policy: String, policyIndex: Int?, authority: Authority, position: SourcePosition?, source: String) {
        self.policy = policy
        self.policyIndex = policyIndex
        self.authority = authority
        self.position = position
        self.source = source
    }
}

/// A host pattern that does not say which servers exist, so that none can be audited for it.
package struct UnnamedHosts: Sendable, Hashable {
    package let policy: String
    package let pattern: HostPattern
    package let position: SourcePosition
    /// The setting's name: `trust.payments.hosts[1]`.
    package let source: String
}
