// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// What an audit did and found: a value from which every format is written.
package struct AuditReport: Sendable, Equatable {
    /// The configuration's file; nil for the embedded default.
    package var file: String?
    /// Of Pintle.
    package var version: String
    package var startedAt: UnixTime
    /// When certificates had to be valid.
    package var moment: UnixTime
    package var duration: Duration
    /// The options that narrowed the audit, as `--host a.example`; empty for one of everything.
    package var scope: [String]
    /// In the order of the configuration.
    package var targets: [TargetReport]
    /// In the order of `Finding.merged`.
    package var findings: [Finding]

    package init(
        file: String?, version: String, startedAt: UnixTime, moment: UnixTime, duration: Duration, scope: [String],
        targets: [TargetReport], findings: [Finding]
    ) {
        self.file = file
        self.version = version
        self.startedAt = startedAt
        self.moment = moment
        self.duration = duration
        self.scope = scope
        self.targets = targets
        self.findings = Finding.merged(findings)
    }

    /// Whether any server showed a chain.
    package var hasJudged: Bool { self.targets.contains { $0.addresses.contains { !$0.chains.isEmpty } } }

    /// How many findings are as severe as that, exactly.
    package func count(of severity: Severity) -> Int { self.findings.count { $0.severity == severity } }

    /// The configuration, as people call it.
    package var configuration: String { self.file ?? "embedded default" }
}

/// One server.
package struct TargetReport: Sendable, Equatable {
    package var target: AuditTarget
    /// In the resolver's order.
    package var addresses: [AddressReport]

    package init(target: AuditTarget, addresses: [AddressReport]) {
        self.target = target
        self.addresses = addresses
    }
}

/// One address of a server.
package struct AddressReport: Sendable, Equatable {
    /// As RFC 5952 writes it, without a port.
    package var address: String
    /// In the order in which they were tried.
    package var handshakes: [HandshakeReport]
    /// The different chains that were shown, in the order in which they came.
    package var chains: [ChainReport]
    package var duration: Duration

    package init(address: String, handshakes: [HandshakeReport], chains: [ChainReport], duration: Duration) {
        self.address = address
        self.handshakes = handshakes
        self.chains = chains
        self.duration = duration
    }

    /// The versions in which a handshake came to its end.
    package var versions: [TLSVersion] {
        Set(self.handshakes.compactMap { $0.negotiated?.version }).sorted()
    }
}

/// One handshake.
package struct HandshakeReport: Sendable, Equatable {
    package var offer: HandshakeOffer
    /// What was agreed on; nil where the handshake failed.
    package var negotiated: NegotiatedTLS?
    /// Why it failed.
    package var failure: String?

    package init(offer: HandshakeOffer, negotiated: NegotiatedTLS?, failure: String?) {
        self.offer = offer
        self.negotiated = negotiated
        self.failure = failure
    }
}

/// One chain that an address showed, whatever the number of handshakes in which it did.
package struct ChainReport: Sendable, Equatable {
    /// The kinds of keys that were asked for, in the order of the handshakes.
    package var keys: [HandshakeOffer.Keys]
    /// What was sent, leaf first.
    package var presented: [Certificate]
    package var verdict: Verdict

    package init(keys: [HandshakeOffer.Keys], presented: [Certificate], verdict: Verdict) {
        self.keys = keys
        self.presented = presented
        self.verdict = verdict
    }

    /// `RSA`, `ECDSA`, both, or `any` where only an old protocol was spoken.
    package var keyName: String { self.keys.map(\.label).joined(separator: "+") }
}

extension HandshakeOffer.Keys {
    /// `RSA`, `ECDSA`, `any`.
    package var label: String { self == .any ? "any" : self.rawValue.uppercased() }
}
