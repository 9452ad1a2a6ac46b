// SPDX-License-Identifier: Apache-2.0

package import PintlePolicy
package import PintleTrust

/// Checks the pins of a configuration, without network.
package struct PinLint {
    /// The longest validity, in seconds, of a server's certificate that is taken for one that a program renews, by default
    /// with a new key. Certificates that an authority's customers renew by hand are valid longer.
    private static let shortLife: Int64 = 100 * 86_400

    private let policy: Policy
    private let now: UnixTime
    private let known: KnownCertificates
    private let seen: [String: SeenKeys]
    private var trust: [TrustConfiguration] { self.policy.configuration.trust }

    /// - Parameter seen: the keys that audits have seen, by the names of policies.
    package init(_ policy: Policy, now: UnixTime, seen: [String: SeenKeys] = [:]) {
        self.policy = policy
        self.now = now
        self.seen = seen
        self.known = KnownCertificates(policy, seen: seen.values.flatMap(\.certificates))
    }

    /// The findings in the order of the file.
    package var findings: [PinFinding] {
        var findings: [PinFinding] = []
        let named = Set(self.policy.configuration.routes.compactMap { $0.trust?.value })
        for (configuration, certificates) in zip(self.trust, self.known.pinned) {
            findings += self.unused(configuration, named)
            guard configuration.pinning != .none else { continue }
            findings += self.expiry(configuration)
            findings += self.missingBackup(configuration, certificates)
            findings += self.neverMatched(configuration, certificates)
            findings += self.duplicates(certificates)
            for named in certificates { findings += self.judge(named, configuration) }
            findings += self.weakPins(configuration)
        }
        findings += HostOverlaps(self.policy).findings
        return findings.enumerated().sorted { left, right in
            (left.element.position, left.offset) < (right.element.position, right.offset)
        }.map(\.element)
    }

    /// Returns the pins that never apply, because an earlier policy has their hosts. Commands that use a configuration warn
    /// about them, since such pins protect nothing.
    package static func shadowedPins(_ policy: Policy) -> [PinFinding] { HostOverlaps(policy).shadowedPins }

    // MARK: Policies

    /// - Parameter named: the policies that routes name.
    private func unused(_ configuration: TrustConfiguration, _ named: Set<String>) -> [PinFinding] {
        guard configuration.hosts.isEmpty, !named.contains(configuration.name),
            configuration.name != TrustConfiguration.defaultName
        else {
            return []
        }
        return [
            PinFinding(
                rule: .unusedPolicy, position: configuration.position, path: "trust.\(configuration.name)",
                message: "no host and no route uses it; give it hosts, name it in a route, or take it out")
        ]
    }

    private func expiry(_ configuration: TrustConfiguration) -> [PinFinding] {
        guard let end = configuration.expires, end <= self.now.advanced(by: configuration.warnBeforeExpiry) else {
            return []
        }
        let isOver = end <= self.now
        let result = configuration.onExpiry.result
        return [
            PinFinding(
                rule: isOver ? .expiredPins : .expiringPins, position: configuration.position,
                path: "trust.\(configuration.name)",
                message: isOver
                    ? "the pins expired on \(end.day): \(result); look them over and set expires anew"
                    : "the pins expire on \(end.day), and then \(result); look them over and set expires anew")
        ]
    }

    private func missingBackup(
        _ configuration: TrustConfiguration, _ certificates: [KnownCertificates.Named]
    ) -> [PinFinding] {
        let isWhole = configuration.pinning == .certificate
        let count =
            isWhole
            ? Set(certificates.map(\.certificate)).count
            : Set(configuration.readPins.map(\.value) + certificates.map(\.certificate.spkiPin)).count
        guard count < 2 else { return [] }
        let message =
            isWhole
            ? "has a single certificate: when the server shows another one nothing gets through; add the next one"
            : "has a single key: when it is lost or replaced nothing gets through; add the pin of a backup key that is "
                + "kept elsewhere"
        return [
            PinFinding(
                rule: .noBackup, position: configuration.position, path: "trust.\(configuration.name)",
                message: message)
        ]
    }

    /// Returns pins that no audit saw on a verified chain. A single one beside pins that were seen is the backup and is
    /// left out, unless servers send its key without it being on the chain.
    private func neverMatched(
        _ configuration: TrustConfiguration, _ certificates: [KnownCertificates.Named]
    ) -> [PinFinding] {
        guard let seen = self.seen[configuration.name], seen.audits > 0 else { return [] }
        let path = "trust.\(configuration.name)"
        let digests = configuration.readPins.enumerated().map { index, pin in
            (pin: pin.value, position: pin.position, place: "\(path).pins[\(index)]")
        }
        let pins = digests + certificates.map { ($0.certificate.spkiPin, $0.path.position, $0.place) }
        let shown = Set(seen.certificates.map(\.spkiPin))
        let missing = pins.filter { !shown.contains($0.pin) }
        let besidePath = missing.compactMap { pin in
            seen.strays.first { $0.spkiPin == pin.pin }.map { stray in
                PinFinding(
                    rule: .besidePath, position: pin.position, path: pin.place,
                    message: "servers send \(stray.shortLabel), which has this key, but the chains that were verified "
                        + "do not go by it\(Self.ends(of: seen)); pin a key that they have")
            }
        }
        let unseen = missing.filter { pin in !seen.strays.contains { $0.spkiPin == pin.pin } }
        return besidePath + self.neverMatched(unseen, of: pins.count, seen)
    }

    /// Returns the ends of the verified chains, as a part of a sentence.
    private static func ends(of seen: SeenKeys) -> String {
        let roots = seen.certificates.filter(\.isSelfIssued).prefix(3).map(\.shortLabel)
        return roots.isEmpty ? "" : ": they end at \(roots.joined(separator: ", "))"
    }

    private func neverMatched(
        _ unseen: [(pin: Pin, position: SourcePosition, place: String)], of count: Int, _ seen: SeenKeys
    ) -> [PinFinding] {
        guard unseen.count > 1 || unseen.count == count else { return [] }
        let audits = seen.audits == 1 ? "the audit" : "\(seen.audits) audits"
        return unseen.map { pin in
            PinFinding(
                rule: .neverMatched, position: pin.position, path: pin.place,
                message:
                    "\(audits) since \(seen.since.day) never saw the key of \(pin.pin); keep one such pin as a backup, "
                    + "and take out what nobody can account for")
        }
    }

    private func duplicates(_ certificates: [KnownCertificates.Named]) -> [PinFinding] {
        var findings: [PinFinding] = []
        for (index, named) in certificates.enumerated() {
            let earlier = certificates[..<index]
            let message: String
            if let same = earlier.first(where: { $0.certificate == named.certificate }) {
                message = "\(named.certificate.shortLabel) is also in \(same.place); it counts once"
            } else if let same = earlier.first(where: { $0.certificate.spkiPin == named.certificate.spkiPin }) {
                message =
                    "\(named.certificate.shortLabel) has the key of \(same.certificate.shortLabel) in \(same.place); a "
                    + "backup is another key"
            } else {
                continue
            }
            findings.append(self.finding(.duplicate, named, message))
        }
        return findings
    }

    // MARK: Certificates

    private func judge(
        _ named: KnownCertificates.Named, _ configuration: TrustConfiguration
    ) -> [PinFinding] {
        let certificate = named.certificate
        let label = certificate.shortLabel
        let isWhole = configuration.pinning == .certificate
        var findings: [PinFinding] = []
        if certificate.notAfter < self.now {
            let rest = isWhole ? "it matches nothing" : "what replaced it may have another key"
            findings.append(
                self.finding(
                    .expiredCertificate, named,
                    "\(label), is over: \(rest); put the certificate in its place that the server has now"))
        } else if certificate.notAfter < self.now.advanced(by: configuration.warnBeforeExpiry) {
            let rest = isWhole ? "from then on it matches nothing" : "what replaces it may have another key"
            findings.append(
                self.finding(.expiringCertificate, named, "\(label): \(rest); add its successor before"))
        }
        // A certificate with an unreadable key was refused when the policy was compiled.
        guard let key = try? CertificateKey(of: certificate) else { return findings }
        if let weakness = key.weakness {
            findings.append(self.finding(.weakKey, named, "\(label) has \(weakness); ask for one with a new key"))
        }
        let days = (certificate.notAfter.seconds - certificate.notBefore.seconds) / 86_400
        if !key.isAuthority, certificate.notAfter.seconds - certificate.notBefore.seconds <= Self.shortLife {
            let rest =
                isWhole
                ? "its renewal is another certificate, which does not match"
                : "its renewal has another key unless the renewing program is told to keep it"
            findings.append(
                self.finding(
                    .shortLivedLeaf, named,
                    "\(label), is a server's own and valid for \(days) days: \(rest); pin a key that is kept, or the "
                        + "authority's"))
        }
        return findings
    }

    /// Returns findings about pins that are written as digests, if a known certificate shows that their key is weak.
    private func weakPins(_ configuration: TrustConfiguration) -> [PinFinding] {
        let own = Set(configuration.certificates.isEmpty ? [] : self.ownKeys(configuration))
        return configuration.readPins.enumerated().compactMap { index, pin in
            guard !own.contains(pin.value), let certificate = self.known.longest(pin.value),
                let weakness = (try? CertificateKey(of: certificate))?.weakness
            else { return nil }
            return PinFinding(
                rule: .weakKey, position: pin.position, path: "trust.\(configuration.name).pins[\(index)]",
                message: "\(certificate.shortLabel) has \(weakness); ask for one with a new key")
        }
    }

    private func ownKeys(_ configuration: TrustConfiguration) -> [Pin] {
        zip(self.trust, self.known.pinned).first { $0.0.name == configuration.name }?.1.map(\.certificate.spkiPin) ?? []
    }

    private func finding(_ rule: PinLintRule, _ named: KnownCertificates.Named, _ message: String) -> PinFinding {
        PinFinding(rule: rule, position: named.path.position, path: named.place, message: message)
    }
}

extension PinExpiry.Action {
    /// The consequence of the action, as the end of a sentence.
    var result: String {
        switch self {
        case .fail: "nothing gets through"
        case .report: "other keys are only reported"
        case .system: "every valid chain gets through"
        }
    }
}
