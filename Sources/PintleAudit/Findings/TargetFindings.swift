// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// The findings about one server that do not concern a single chain.
struct TargetFindings {
    private static let longestList = 8

    let report: TargetReport
    /// The oldest version that the policy accepts; nil leaves it to OpenSSL.
    let minimumTLS: TLSVersion?

    private var target: AuditTarget { self.report.target }

    var findings: [AuditFinding] {
        self.report.addresses.flatMap { self.oldProtocols($0) + self.keyExchange($0) } + self.disagreements
    }

    private func finding(
        _ rule: FindingRule, severity: Severity? = nil, addresses: [String], keys: [HandshakeOffer.Keys] = [],
        _ message: String
    ) -> AuditFinding {
        AuditFinding(
            rule, severity: severity, policy: self.target.policy, authority: self.target.authority,
            addresses: addresses, keys: keys, at: self.target.position, source: self.target.source, message: message)
    }

    /// A server that accepts both old and new versions is a risk only to clients that accept old ones too. A server that
    /// accepts only old versions will not be reached.
    private func oldProtocols(_ address: AddressReport) -> [AuditFinding] {
        if let minimumTLS, let newest = address.versions.last, newest < minimumTLS {
            return [
                self.finding(
                    .oldProtocol, addresses: [address.address],
                    "\(self.target.authority): the server accepts \(newest) and nothing newer, and trust."
                        + "\(self.target.policy) demands \(minimumTLS)")
            ]
        }
        let old = address.versions.filter { $0 < .tls12 }
        guard !old.isEmpty else { return [] }
        let isOnly = old == address.versions
        let names = old.map(\.description).joined(separator: " and ")
        return [
            self.finding(
                .oldProtocol, severity: isOnly ? .error : .warning, addresses: [address.address],
                "\(self.target.authority): the server accepts \(names)\(isOnly ? " and nothing newer" : "")")
        ]
    }

    /// Versions and groups that clients will demand one day.
    private func keyExchange(_ address: AddressReport) -> [AuditFinding] {
        if let keyExchange = address.keyExchange {
            guard keyExchange.isNone else { return [] }
            let ending = keyExchange.failure.map { ": offered these alone, \($0)" } ?? ""
            return [
                self.finding(
                    .noPostQuantum, addresses: [address.address],
                    "\(self.target.authority): the server supports no post-quantum group for the key exchange\(ending)")
            ]
        }
        // A server that is too old for the policy has an error.
        guard address.isWithoutTLS13, self.minimumTLS ?? .tls12 <= .tls12 else { return [] }
        return [
            self.finding(
                .noTLS13, addresses: [address.address],
                "\(self.target.authority): the server accepts TLS 1.2 and nothing newer")
        ]
    }

    // MARK: Addresses

    private var disagreements: [AuditFinding] {
        HandshakeOffer.Keys.allCases.compactMap { keys in
            let shown = self.report.addresses.compactMap { address -> (address: String, chain: AuditedChain)? in
                address.chains.first { $0.keys.contains(keys) }.map { (address.address, $0) }
            }
            guard let first = shown.first, shown.contains(where: { $0.chain.pins != first.chain.pins }) else {
                return nil
            }
            let isKey = shown.contains { $0.chain.pins.first != first.chain.pins.first }
            let lines = shown.prefix(Self.longestList).map { address, chain in
                "  \(address): \(chain.presented.first?.spkiPin.description ?? "") "
                    + "issued by \"\(chain.presented.first?.issuer.prefix(200) ?? "")\""
            }
            let more = shown.count > Self.longestList ? ["  and \(shown.count - Self.longestList) more"] : []
            let what = isKey ? "different \(keys.label) keys" : "one \(keys.label) key with different chains"
            return self.finding(
                .addressDisagreement, addresses: shown.map(\.address), keys: [keys],
                (["\(self.target.authority): the addresses show \(what):"] + lines + more).joined(separator: "\n"))
        }
    }
}

extension AuditedChain {
    /// The keys of the chain. Addresses of the same service share them even if their certificates differ for a while.
    fileprivate var pins: [Pin] { self.presented.map(\.spkiPin) }
}
