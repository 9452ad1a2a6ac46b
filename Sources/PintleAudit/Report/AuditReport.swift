// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// The result of an audit, from which every format is written.
package struct AuditReport: Sendable, Equatable {
    /// The path of the configuration; nil for the embedded default.
    package var file: String?
    /// The version of Pintle.
    package var version: String
    package var startedAt: UnixTime
    /// The time at which certificates had to be valid.
    package var moment: UnixTime
    package var duration: Duration
    /// The options that narrowed the audit, as `--host a.example`; empty if everything was audited.
    package var scope: [String]
    /// The audited servers, in the order of the configuration.
    package var targets: [TargetReport]
    /// All findings, in the order of `AuditFinding.merged`.
    package var findings: [AuditFinding]

    package init(
        file: String?, version: String, startedAt: UnixTime, moment: UnixTime, duration: Duration, scope: [String],
        targets: [TargetReport], findings: [AuditFinding]
    ) {
        self.file = file
        self.version = version
        self.startedAt = startedAt
        self.moment = moment
        self.duration = duration
        self.scope = scope
        self.targets = targets
        self.findings = AuditFinding.merged(findings)
    }

    /// True if at least one server showed a chain.
    package var hasJudged: Bool { self.targets.contains { $0.addresses.contains { !$0.chains.isEmpty } } }

    /// Returns the number of findings of exactly this severity.
    package func count(of severity: Severity) -> Int { self.findings.count { $0.severity == severity } }

    /// The name of the configuration for people.
    package var configuration: String { self.file ?? "embedded default" }
}

/// The results for one server.
package struct TargetReport: Sendable, Equatable {
    package var target: AuditTarget
    /// The results for each address, in the resolver's order.
    package var addresses: [AddressReport]
    /// The CAA records of the names in its certificates; empty if they were not asked for.
    package var caa: [CAAReport]

    package init(target: AuditTarget, addresses: [AddressReport], caa: [CAAReport] = []) {
        self.target = target
        self.addresses = addresses
        self.caa = caa
    }
}

/// The results for one address of a server.
package struct AddressReport: Sendable, Equatable {
    /// The address in the form of RFC 5952, without a port.
    package var address: String
    /// All handshakes, in the order in which they were tried.
    package var handshakes: [HandshakeReport]
    /// The different chains that the address showed, in the order in which they came.
    package var chains: [AuditedChain]
    /// The post-quantum groups; nil if the address does not accept TLS 1.3, or no time was left to ask.
    package var keyExchange: KeyExchangeReport?
    package var duration: Duration

    package init(
        address: String, handshakes: [HandshakeReport], chains: [AuditedChain], keyExchange: KeyExchangeReport? = nil,
        duration: Duration
    ) {
        self.address = address
        self.handshakes = handshakes
        self.chains = chains
        self.keyExchange = keyExchange
        self.duration = duration
    }

    /// The TLS versions with which a handshake succeeded.
    package var versions: [TLSVersion] {
        Set(self.handshakes.compactMap { $0.negotiated?.version }).sorted()
    }

    /// True if the server chose TLS 1.2 although it was offered TLS 1.3 with everything else at its widest.
    package var isWithoutTLS13: Bool {
        self.handshakes.contains { $0.offer == HandshakeOffer() && $0.negotiated?.version == .tls12 }
    }
}

/// The result of one handshake.
package struct HandshakeReport: Sendable, Equatable {
    package var offer: HandshakeOffer
    /// The negotiated parameters; nil if the handshake failed.
    package var negotiated: NegotiatedTLS?
    /// The reason of the failure.
    package var failure: String?

    package init(offer: HandshakeOffer, negotiated: NegotiatedTLS?, failure: String?) {
        self.offer = offer
        self.negotiated = negotiated
        self.failure = failure
    }
}

/// One chain that an address showed, in one handshake or several.
package struct AuditedChain: Sendable, Equatable {
    /// The kinds of keys that the client offered, in the order of the handshakes.
    package var keys: [HandshakeOffer.Keys]
    /// The certificates that the server sent, leaf first.
    package var presented: [Certificate]
    package var verdict: Verdict

    package init(keys: [HandshakeOffer.Keys], presented: [Certificate], verdict: Verdict) {
        self.keys = keys
        self.presented = presented
        self.verdict = verdict
    }

    /// The kinds of keys: `RSA`, `ECDSA`, `RSA+ECDSA`, or `any` if the chain came only with an old protocol.
    package var keyName: String { self.keys.map(\.label).joined(separator: "+") }
}

extension HandshakeOffer.Keys {
    /// The name for people: `RSA`, `ECDSA`, `any`.
    package var label: String { self == .any ? "any" : self.rawValue.uppercased() }
}
