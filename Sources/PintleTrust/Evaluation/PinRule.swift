// SPDX-License-Identifier: Apache-2.0

/// Compares a chain with the pins of a policy.
struct PinRule {
    /// The most certificates that a message lists. A peer may send hundreds; a verified chain is shorter than this.
    private static let longestList = 20

    private let policy: SecurityPolicy
    private let pins: Set<Pin>
    private let certificates: Set<Certificate>

    init(_ policy: SecurityPolicy) {
        self.policy = policy
        self.pins = Set(policy.configuredPins)
        self.certificates = Set(policy.certificates)
    }

    /// Returns the pin of the entry that matches; nil if none does.
    ///
    /// Searches from the root to the leaf, as AFNetworking does.
    func match(in chain: [ChainEntry]) -> Pin? {
        chain.reversed().first { entry in
            guard entry.satisfies(self.policy.match) else { return false }
            switch self.policy.pinning {
            case .none: return false
            case .publicKey: return self.pins.contains(entry.spkiPin)
            case .certificate: return self.certificates.contains(entry.certificate)
            }
        }?.spkiPin
    }

    /// Returns the refusal of a chain without a match: it lists both sides of the comparison, ready to be copied.
    ///
    /// - Parameter sent: the certificates that the peer sent, if `chain` is verified and may not contain all of them.
    func mismatch(
        peer: String, chain: [ChainEntry], beside sent: [Certificate] = [], cause: String? = nil
    ) -> TrustError {
        let wanted = self.policy.pinning == .certificate ? "pinned certificate" : "pinned key"
        let place = self.policy.match == .any ? "the chain" : "the \(self.policy.match.rawValue)"
        var lines = ["\(peer): \(place) does not contain a \(wanted).", "  Peer's chain:"]
        lines += chain.prefix(Self.longestList).map { entry in
            "    \(entry.spkiPin) \(entry.position.rawValue) \(entry.certificate.label)\(self.serial(entry.certificate))"
        }
        if chain.count > Self.longestList { lines.append("    and \(chain.count - Self.longestList) more") }
        lines += self.strays(sent, beside: chain)
        lines.append("  Configured \(wanted)s:")
        if self.policy.pinning == .certificate {
            lines += self.policy.certificates.map { "    \($0.spkiPin) \($0.label)\(self.serial($0))" }
        } else {
            lines += self.policy.configuredPins.map { "    \($0)" }
        }
        lines.append(
            "  If the owner of \(peer) announced the change, add the new pin; otherwise somebody is in between.")
        return TrustError(code: .pinMismatch, message: lines.joined(separator: "\n"), cause: cause)
    }

    /// Returns lines about certificates that were sent with a pinned key but do not count: servers send cross-signed roots,
    /// while the verified path ends at another one.
    private func strays(_ sent: [Certificate], beside chain: [ChainEntry]) -> [String] {
        let onPath = Set(chain.map(\.spkiPin))
        let strays = sent.filter { self.pins.contains($0.spkiPin) && !onPath.contains($0.spkiPin) }.withoutDuplicates()
        guard let end = chain.last, !strays.isEmpty else { return [] }
        return ["  Sent with a pinned key, but not on the chain above, which is the one that was verified:"]
            + strays.prefix(Self.longestList).map { "    \($0.spkiPin) \($0.label)" }
            + ["  That chain ends at \(end.certificate.label): pin a key of its own, or name the other end in roots."]
    }

    /// Returns the refusal because of expired pins.
    func expired(peer: String) -> TrustError {
        let date = self.policy.pinExpiry.map { " on \($0.moment)" } ?? ""
        return TrustError(
            code: .pinMismatch,
            message: "\(peer): the pins of its trust policy expired\(date), so no key is pinned any longer; "
                + "check that they are still right and set expires anew")
    }

    /// Returns the serial number, which tells certificates with one key apart; their pins are equal.
    private func serial(_ certificate: Certificate) -> String {
        self.policy.pinning == .certificate ? " serial \(certificate.serial)" : ""
    }
}
