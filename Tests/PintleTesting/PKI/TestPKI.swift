// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// Mints certificates while a test runs, all of them relative to one instant: no certificate files that expire.
package struct TestPKI: Sendable {
    /// The instant to which all validity is relative.
    package let now: UnixTime

    package init(now: UnixTime = .now) {
        self.now = now
    }

    /// The validity of a certificate, relative to `now`.
    package enum Validity: Sendable {
        /// From a day ago for 90 days.
        case current
        /// Until an hour ago.
        case expired
        /// From an hour after `now`.
        case notYet
        /// From and to these offsets from `now`.
        case window(Duration, Duration)
    }

    package enum KeyKind: Sendable {
        /// NIST P-256: the default, since minting it takes no time.
        case ec
        case rsa(bits: UInt32)
        /// Another elliptic curve, by OpenSSL's name.
        case curve(String)
        case ed25519
    }

    package enum Purpose: String, Sendable {
        case server = "serverAuth"
        case client = "clientAuth"
    }

    /// The names that an authority may certify, and its path length.
    package struct Constraints: Sendable {
        /// The most authorities below this one; nil for any number.
        package var pathLength: Int?
        /// DNS suffixes; empty permits all.
        package var permittedDNS: [String]
        package var excludedDNS: [String]

        package init(pathLength: Int? = nil, permittedDNS: [String] = [], excludedDNS: [String] = []) {
            self.pathLength = pathLength
            self.permittedDNS = permittedDNS
            self.excludedDNS = excludedDNS
        }
    }

    /// Mints a self-signed authority.
    package func root(
        _ commonName: String = "Test Root", validity: Validity = .current, key: KeyKind = .ec,
        constraints: Constraints = Constraints()
    ) throws -> TestIdentity {
        try self.mint(
            .init(commonName: commonName, validity: validity, extensions: Self.authority(constraints)),
            key: TestKey(key), signer: nil)
    }

    /// Mints an authority that is signed by another.
    ///
    /// - Parameter reusing: an identity whose key the new certificate takes over if `commonName` is the same: a
    ///   cross-signed root.
    package func intermediate(
        _ commonName: String = "Test Intermediate", signedBy signer: TestIdentity, validity: Validity = .current,
        key: KeyKind = .ec, reusing existing: TestIdentity? = nil, constraints: Constraints = Constraints()
    ) throws -> TestIdentity {
        try self.mint(
            .init(commonName: commonName, validity: validity, extensions: Self.authority(constraints)),
            key: existing.map(TestKey.init(of:)) ?? TestKey(key), signer: signer)
    }

    /// Mints a certificate for a server, signed by an authority.
    ///
    /// - Parameters:
    ///   - dns: names for the subjectAltName; wildcards are written as they are.
    ///   - ip: addresses for the subjectAltName.
    ///   - commonName: the subject; nil for an empty one. It never makes the certificate valid for a host.
    ///   - reusing: an identity whose key the new certificate takes over, as a renewal does.
    package func leaf(
        _ commonName: String? = "leaf", dns: [String] = [], ip: [String] = [], signedBy signer: TestIdentity,
        validity: Validity = .current, key: KeyKind = .ec, reusing existing: TestIdentity? = nil,
        purpose: Purpose = .server
    ) throws -> TestIdentity {
        try self.mint(
            .init(commonName: commonName, validity: validity, extensions: Self.endEntity(dns, ip, purpose)),
            key: existing.map(TestKey.init(of:)) ?? TestKey(key), signer: signer)
    }

    /// Mints a certificate for a client, signed by an authority.
    package func client(
        _ commonName: String = "client", signedBy signer: TestIdentity, validity: Validity = .current,
        key: KeyKind = .ec
    ) throws -> TestIdentity {
        try self.leaf(commonName, signedBy: signer, validity: validity, key: key, purpose: .client)
    }

    /// Mints a self-signed certificate for a server.
    package func selfSigned(
        _ commonName: String? = "self-signed", dns: [String] = [], ip: [String] = [], validity: Validity = .current,
        key: KeyKind = .ec, reusing existing: TestIdentity? = nil
    ) throws -> TestIdentity {
        try self.mint(
            .init(commonName: commonName, validity: validity, extensions: Self.endEntity(dns, ip, .server)),
            key: existing.map(TestKey.init(of:)) ?? TestKey(key), signer: nil)
    }

    func mint(_ request: MintRequest, key: TestKey, signer: TestIdentity?) throws -> TestIdentity {
        let window = self.window(of: request.validity)
        let certificate = try request.certificate(key: key, signer: signer, from: window.0, to: window.1)
        return TestIdentity(certificate: certificate, keyDER: try key.der(), issuers: signer?.fullChain ?? [])
    }

    func window(of validity: Validity) -> (UnixTime, UnixTime) {
        let hour = Duration.seconds(3600)
        let (from, to): (Duration, Duration) =
            switch validity {
            case .current: (hour * -24, hour * (90 * 24))
            case .expired: (hour * -48, hour * -1)
            case .notYet: (hour, hour * 48)
            case .window(let from, let to): (from, to)
            }
        return (self.now.advanced(by: from), self.now.advanced(by: to))
    }

    private static func authority(_ constraints: Constraints) -> [MintRequest.Extension] {
        let depth = constraints.pathLength.map { ",pathlen:\($0)" } ?? ""
        var extensions: [MintRequest.Extension] = [
            .init(.basicConstraints, "critical,CA:TRUE\(depth)"),
            .init(.keyUsage, "critical,keyCertSign,cRLSign"),
            .init(.subjectKeyIdentifier, "hash"),
        ]
        let trees =
            constraints.permittedDNS.map { "permitted;DNS:\($0)" }
            + constraints.excludedDNS.map { "excluded;DNS:\($0)" }
        if !trees.isEmpty {
            extensions.append(.init(.nameConstraints, "critical,\(trees.joined(separator: ","))"))
        }
        return extensions
    }

    private static func endEntity(
        _ dns: [String], _ ip: [String], _ purpose: Purpose
    ) -> [MintRequest.Extension] {
        var extensions: [MintRequest.Extension] = [
            .init(.basicConstraints, "critical,CA:FALSE"),
            .init(.keyUsage, "critical,digitalSignature,keyEncipherment"),
            .init(.extendedKeyUsage, purpose.rawValue),
            .init(.subjectKeyIdentifier, "hash"),
        ]
        let names = dns.map { "DNS:\($0)" } + ip.map { "IP:\($0)" }
        if !names.isEmpty {
            extensions.append(.init(.subjectAltName, names.joined(separator: ",")))
        }
        return extensions
    }
}
