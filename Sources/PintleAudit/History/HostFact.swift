// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// One fact about a server that an audit found and that is no certificate, as the history stores it.
package struct HostFact: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The post-quantum groups of one of its addresses.
        case postQuantum = "post-quantum"
        /// The CAA records of one of its names.
        case caa
    }

    package var policy: String
    /// `HOST:PORT`.
    package var host: String
    package var kind: Kind
    /// The fact in words for people.
    package var value: String

    package init(policy: String, host: String, kind: Kind, value: String) {
        self.policy = policy
        self.host = host
        self.kind = kind
        self.value = value
    }
}

extension AuditReport {
    /// The facts to store, each once. Groups and records that are not known are left out.
    package var facts: [HostFact] {
        self.targets.flatMap { target -> [HostFact] in
            func facts(_ kind: HostFact.Kind, _ values: [String]) -> [HostFact] {
                // SQLite would end a text at a zero byte.
                Set(values.map(ReportText.line)).sorted().map {
                    HostFact(
                        policy: target.target.policy, host: target.target.authority.description, kind: kind, value: $0)
                }
            }
            let groups = target.addresses.compactMap(\.keyExchange).filter { !$0.groups.isEmpty || $0.isNone }
            return facts(.postQuantum, groups.map { $0.groups.isEmpty ? $0.summary : $0.sortedNames })
                + facts(.caa, target.caa.filter { $0.failure == nil }.map(\.summary))
        }
    }
}

extension KeyExchangeReport {
    /// The names in a fixed order: servers may choose in one of their own each time.
    fileprivate var sortedNames: String {
        PostQuantumGroup.allCases.filter(self.groups.contains).map(\.description).joined(separator: " ")
    }
}
