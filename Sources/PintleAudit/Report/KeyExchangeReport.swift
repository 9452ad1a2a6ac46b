// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// The post-quantum groups that an address supports for the key exchange of TLS 1.3.
package struct KeyExchangeReport: Sendable, Equatable {
    /// The groups, in the order in which the server chose them.
    package var groups: [PostQuantumGroup]
    /// The end of the last question, which offered all other groups; nil if there are no others.
    package var failure: String?
    /// True if the last question was refused, and not left without an answer.
    package var isConclusive: Bool

    package init(groups: [PostQuantumGroup], failure: String?, isConclusive: Bool) {
        self.groups = groups
        self.failure = failure
        self.isConclusive = isConclusive
    }

    /// True if the server supports no post-quantum group.
    package var isNone: Bool { self.groups.isEmpty && self.isConclusive }

    /// The names of the groups, `none`, or `unknown`.
    package var summary: String {
        guard self.groups.isEmpty else { return self.groups.map(\.description).joined(separator: " ") }
        return self.isConclusive ? "none" : "unknown"
    }
}

extension AddressReport {
    /// The post-quantum groups for people; `-` if the address was not asked, because it does not accept TLS 1.3.
    package var keyExchangeSummary: String { self.keyExchange?.summary ?? "-" }
}
