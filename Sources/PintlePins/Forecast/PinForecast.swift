// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintlePolicy
package import PintleTrust

/// A forecast of the moment from which no pin of a policy is sure to match.
///
/// A pin is sure to match as long as a certificate with its key is valid: the server can continue to show it. The next
/// certificate may have that key too, but this is not certain. Nothing is known about a pin without a certificate.
package struct PinForecast: Sendable {
    /// The forecast of a policy's pins for one host pattern.
    package struct Entry: Sendable, Equatable {
        package let policy: String
        /// The pattern, or words for the hosts that the policy is for.
        package let host: String
        /// The place of the policy in the configuration.
        package let position: SourcePosition
        /// The first moment at which no pin is sure to match; nil if no certificate is known.
        package let date: UnixTime?
        package let reason: String
        package let pins: [KnownPin]
    }

    /// A pin and the certificate that is known for it.
    package struct KnownPin: Sendable, Equatable {
        package let pin: Pin
        /// The label of the certificate with the key; nil if none is known.
        package let subject: String?
        /// The last moment of that certificate's validity.
        package let until: UnixTime?
    }

    /// The entries, the earliest date first, those without a date last.
    package let entries: [Entry]

    /// - Parameter seen: the certificates that audits have seen.
    package init(_ policy: Policy, now: UnixTime, seen: [Certificate] = []) {
        let known = KnownCertificates(policy, seen: seen)
        var entries: [Entry] = []
        for (index, configuration) in policy.configuration.trust.enumerated() where configuration.pinning != .none {
            let pins = Self.pins(configuration, known.pinned[index].map(\.certificate), known)
            let (date, reason) = Self.judge(pins, configuration, now)
            for host in Self.hosts(of: configuration, policy) {
                entries.append(
                    Entry(
                        policy: configuration.name, host: host, position: configuration.position, date: date,
                        reason: reason, pins: pins))
            }
        }
        self.entries = entries.enumerated().sorted { left, right in
            let (first, second) = (left.element.date, right.element.date)
            guard first != second else { return left.offset < right.offset }
            guard let first else { return false }
            return second.map { first < $0 } ?? true
        }.map(\.element)
    }

    private static func pins(
        _ configuration: TrustConfiguration, _ certificates: [Certificate], _ known: KnownCertificates
    ) -> [KnownPin] {
        if configuration.pinning == .certificate {
            return Set(certificates).sorted { ($0.notAfter, $0.subject) < ($1.notAfter, $1.subject) }
                .map { KnownPin(pin: $0.spkiPin, subject: $0.shortLabel, until: $0.notAfter) }
        }
        var seen: Set<Pin> = []
        return (configuration.readPins.map(\.value) + certificates.map(\.spkiPin)).filter { seen.insert($0).inserted }
            .map { pin in
                let certificate = known.longest(pin)
                return KnownPin(pin: pin, subject: certificate?.shortLabel, until: certificate?.notAfter)
            }
    }

    /// Returns the end of the certificates, or that of the set of pins if it is earlier, and the reason.
    private static func judge(
        _ pins: [KnownPin], _ configuration: TrustConfiguration, _ now: UnixTime
    ) -> (UnixTime?, String) {
        let (date, reason) = Self.judge(pins, isWhole: configuration.pinning == .certificate)
        guard let expires = configuration.expires, date.map({ expires <= $0 }) ?? true else {
            return (date, date.map { $0 <= now } == true ? "already past: \(reason)" : reason)
        }
        let rest = date == nil ? "; \(reason)" : ""
        let end = "the pins of the policy expire then: \(configuration.onExpiry.result)\(rest)"
        return (expires, expires <= now ? "already past: \(end)" : end)
    }

    private static func judge(_ pins: [KnownPin], isWhole: Bool) -> (UnixTime?, String) {
        let bare = pins.filter { $0.until == nil }
        let dated = pins.filter { $0.until != nil }
        guard let last = dated.max(by: { ($0.until?.seconds ?? 0) < ($1.until?.seconds ?? 0) }), let until = last.until
        else {
            let subject = bare.count == 1 ? "its pin" : "any of its \(bare.count) pins"
            return (nil, "no certificate is known for \(subject), so no date can be told; name it under certificates")
        }
        let date = until.advanced(by: .seconds(1))
        let kind = isWhole ? "pinned certificate" : "certificate with a pinned key"
        var reason = dated.count == 1 ? "the only known \(kind) ends then: " : "the last known \(kind) ends then: "
        reason += last.subject ?? ""
        if !bare.isEmpty {
            let rest = bare.count == 1 ? "\(bare[0].pin)" : "\(bare.count) other pins"
            reason += "; no certificate is known for \(rest), which may match longer"
        }
        return (date, reason)
    }

    /// Returns the hosts that a policy is for.
    private static func hosts(of configuration: TrustConfiguration, _ policy: Policy) -> [String] {
        var hosts = configuration.hosts.map { "\($0.value)" }
        for (index, route) in policy.configuration.routes.enumerated() where route.trust?.value == configuration.name {
            if let upstream = route.upstream, upstream.scheme == .https {
                hosts.append("\(upstream.authority.description(for: .https))")
            } else if route.match.hosts.isEmpty {
                hosts.append("every host of routes[\(index)]")
            } else {
                hosts += route.match.hosts.map { "\($0)" }
            }
        }
        if configuration.name == TrustConfiguration.defaultName { hosts.append("every other host") }
        var seen: Set<String> = []
        hosts = hosts.filter { seen.insert($0).inserted }
        return hosts.isEmpty ? ["no host"] : hosts
    }
}
