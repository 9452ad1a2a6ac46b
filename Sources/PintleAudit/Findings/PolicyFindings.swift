// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleTrust

/// The findings about one policy's pins, given the chains that its servers showed.
struct PolicyFindings {
    let trust: TrustConfiguration
    let policy: SecurityPolicy
    let pins: PinPlaces
    /// The reports on this policy's servers.
    let targets: [TargetReport]
    let moment: UnixTime
    /// True if the audit covered all servers of the policy.
    let isWhole: Bool

    var findings: [AuditFinding] {
        guard self.policy.pinning != .none else { return [] }
        return self.missingBackup + self.expiry + self.unusedPins
    }

    /// Pins that have expired or soon will. If the policy refuses its servers for it, each server has its own finding
    /// instead.
    private var expiry: [AuditFinding] {
        guard let expiry = self.policy.pinExpiry, !self.targets.isEmpty else { return [] }
        let name = "trust.\(self.trust.name)"
        if expiry.moment <= self.moment {
            guard expiry.action != .fail else { return [] }
            let consequence =
                expiry.action == .report ? "keys that are not pinned are only reported" : "no key is compared with them"
            return [
                self.finding(
                    .pinSetExpired, severity: .warning,
                    "the pins of \(name) expired on \(expiry.moment): \(consequence)")
            ]
        }
        guard self.moment.advanced(by: self.trust.warnBeforeExpiry) >= expiry.moment else { return [] }
        return [self.finding(.pinSetExpiring, "the pins of \(name) expire on \(expiry.moment)")]
    }

    private func finding(_ rule: FindingRule, severity: Severity? = nil, _ message: String) -> AuditFinding {
        let place = self.pins.first
        return AuditFinding(
            rule, severity: severity, policy: self.trust.name, at: place?.position ?? self.trust.position,
            source: place?.source ?? "trust.\(self.trust.name)", message: message)
    }

    private var missingBackup: [AuditFinding] {
        guard self.policy.configuredPins.count == 1, !self.targets.isEmpty else { return [] }
        return [
            self.finding(
                .noBackupPin, "trust.\(self.trust.name) pins a single key: when it is replaced nothing gets through")
        ]
    }

    private var unusedPins: [AuditFinding] {
        // Nothing can be said of a single pin if a server was not seen, or if no server had any of the pins.
        let areAllSeen = self.targets.allSatisfy { target in
            !target.addresses.isEmpty && target.addresses.allSatisfy { !$0.chains.isEmpty }
        }
        let chains = self.targets.flatMap { $0.addresses.flatMap(\.chains) }.map(\.verdict)
        let seen = Set(chains.filter { $0.chainOrigin == .verified }.flatMap { $0.chain.map(\.spkiPin) })
        guard self.isWhole, areAllSeen, !self.targets.isEmpty, !seen.isDisjoint(with: self.policy.configuredPins) else {
            return []
        }
        let servers = self.targets.count == 1 ? "server" : "\(self.targets.count) servers"
        return self.pins.places.filter { seen.isDisjoint(with: $0.pins) }.map { place in
            let first = place.pins.first.map { " (\($0))" } ?? ""
            return AuditFinding(
                .unusedPin, policy: self.trust.name, at: place.position, source: place.source,
                message: "\(place.source)\(first) is in no chain of the \(servers) of "
                    + "trust.\(self.trust.name)")
        }
    }
}
