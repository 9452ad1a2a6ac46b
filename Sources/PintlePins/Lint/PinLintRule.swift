// SPDX-License-Identifier: Apache-2.0

package import PintlePolicy

/// The rules of `pintle pins lint`. Their ids never change, since scripts name them.
package enum PinLintRule: String, Sendable, Hashable, CaseIterable {
    /// A policy has a single key.
    case noBackup = "PINTLE0201"
    /// A pinned certificate of a server is replaced so often that its key cannot be relied on.
    case shortLivedLeaf = "PINTLE0202"
    /// Audits never saw the key of a pin, which is more than the one backup that a policy needs.
    case neverMatched = "PINTLE0203"
    /// Two certificates of a policy have one key, or one is named twice.
    case duplicate = "PINTLE0204"
    /// A pinned certificate has expired.
    case expiredCertificate = "PINTLE0205"
    /// A pinned certificate will expire soon.
    case expiringCertificate = "PINTLE0206"
    /// The pins of a policy have expired.
    case expiredPins = "PINTLE0207"
    /// The pins of a policy will expire soon.
    case expiringPins = "PINTLE0208"
    /// A pinned key, or the key of a pinned certificate, is too weak.
    case weakKey = "PINTLE0209"
    /// No host and no route uses a policy.
    case unusedPolicy = "PINTLE0210"
    /// Two policies claim one host.
    case twoPolicies = "PINTLE0211"
    /// Servers send a certificate with the key of a pin, but the verified chains do not contain it.
    case besidePath = "PINTLE0212"

    /// The rule's name in words, which is printed after its id.
    package var name: String {
        switch self {
        case .noBackup: "no-backup"
        case .shortLivedLeaf: "short-lived-leaf"
        case .neverMatched: "never-matched"
        case .duplicate: "duplicate"
        case .expiredCertificate: "expired-certificate"
        case .expiringCertificate: "expiring-certificate"
        case .expiredPins: "expired-pins"
        case .expiringPins: "expiring-pins"
        case .weakKey: "weak-key"
        case .unusedPolicy: "unused-policy"
        case .twoPolicies: "two-policies"
        case .besidePath: "beside-path"
        }
    }
}

/// One problem with the pins of a valid configuration.
package struct PinFinding: Sendable, Equatable {
    package let rule: PinLintRule
    package let position: SourcePosition
    /// The place in the configuration, for example `trust.payments.certificates[0]`.
    package let path: String
    /// The problem and the remedy.
    package let message: String

    /// Returns the printed line: `file:line:column: PINTLE0201 no-backup: trust.payments: …`.
    package func line(file: String) -> String {
        "\(self.position.description(inMain: file)): \(self.rule.rawValue) \(self.rule.name): \(self.path): \(self.message)"
    }
}
