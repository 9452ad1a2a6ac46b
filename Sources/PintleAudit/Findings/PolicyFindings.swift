// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleTrust

/// What is wrong with one policy's pins, in the light of what its servers showed.
struct PolicyFindings {
    let trust: TrustConfiguration
    let policy: SecurityPolicy
    let pins: PinPlaces
    /// Of this policy.
    let targets: [TargetReport]
    /// Whether these are all of its servers.
    let isWhole: Bool

    var findings: [Finding] {
        guard self.policy.pinning != .none else { return [] }
        return self.missingBackup + self.unusedPins
    }

    private var missingBackup: [Finding] {
        guard self.policy.configuredPins.count == 1, !self.targets.isEmpty else { return [] }
        let place = self.pins.first
        return [
            Finding(
                .noBackupPin, policy: self.trust.name, at: place?.position ?? self.trust.position,
                source: place?.source ?? "trust.\(self.trust.name)",
                message: "trust.\(self.trust.name) pins a single key: when it is replaced nothing gets through")
        ]
    }

    private var unusedPins: [Finding] {
        // Where a server was not seen, or none had any of the pins, nothing can be said of a single one.
        let areAllSeen = self.targets.allSatisfy { target in
            !target.addresses.isEmpty && target.addresses.allSatisfy { !$0.chains.isEmpty }
        }
        let chains = self.targets.flatMap { $0.addresses.flatMap(\.chains) }.map(\.verdict)
        let seen = Set(chains.filter { $0.chainOrigin == .verified }.flatMap { $0.chain.map(\.spkiPin) })
        guard self.isWhole, areAllSeen, !self.targets.isEmpty, !seen.isDisjoint(with: self.policy.configuredPins) else {
            return []
        }
        return self.pins.places.filter { seen.isDisjoint(with: $0.pins) }.map { place in
            let first = place.pins.first.map { " (\($0))" } ?? ""
            return Finding(
                .unusedPin, policy: self.trust.name, at: place.position, source: place.source,
                message: "\(place.source)\(first) is in no chain of the \(self.targets.count) servers of "
                    + "trust.\(self.trust.name)")
        }
    }
}
