// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintleTrust

/// The result of one audit for one kind of key at one address, as the history stores it.
package struct KeyObservation: Sendable, Hashable {
    /// The leaf certificate that the server sent.
    package struct Leaf: Sendable, Hashable {
        package var pin: String
        /// SHA-256 of the certificate, in hexadecimal.
        package var digest: String
        package var serial: String
        package var subject: String
        package var issuer: String
        package var notBefore: UnixTime
        package var notAfter: UnixTime

        package init(
            pin: String, digest: String, serial: String, subject: String, issuer: String, notBefore: UnixTime,
            notAfter: UnixTime
        ) {
            self.pin = pin
            self.digest = digest
            self.serial = serial
            self.subject = subject
            self.issuer = issuer
            self.notBefore = notBefore
            self.notAfter = notAfter
        }
    }

    package var policy: String
    /// `HOST:PORT`.
    package var host: String
    /// The IP address; empty if the name was not resolved.
    package var address: String
    /// The kind of key: `rsa`, `ecdsa` or `any`; empty if the server sent no certificate.
    package var keys: String
    /// The verdict: `trusted`, the reason for the refusal, or `unreachable`.
    package var verdict: String
    package var leaf: Leaf?
    /// The verified chain, leaf first, with which pins are compared; empty if no chain was verified.
    package var chain: [Certificate] = []
    /// Certificates that were sent, but whose keys the verified chain does not have: a cross-signed root, mostly. Sorted by
    /// digest, at most 16; empty if no chain was verified.
    package var strays: [Certificate] = []

    package init(
        policy: String, host: String, address: String, keys: String, verdict: String, leaf: Leaf? = nil
    ) {
        self.policy = policy
        self.host = host
        self.address = address
        self.keys = keys
        self.verdict = verdict
        self.leaf = leaf
    }
}

extension AuditReport {
    /// The observations to store: one for each kind of key, or a single one that says `unreachable`.
    package var observations: [KeyObservation] {
        self.targets.flatMap { target -> [KeyObservation] in
            func observation(_ address: String, _ keys: String, _ verdict: String) -> KeyObservation {
                KeyObservation(
                    policy: target.target.policy, host: target.target.authority.description, address: address,
                    keys: keys, verdict: verdict)
            }
            guard !target.addresses.isEmpty else { return [observation("", "", "unreachable")] }
            return target.addresses.flatMap { address -> [KeyObservation] in
                guard !address.chains.isEmpty else { return [observation(address.address, "", "unreachable")] }
                return address.chains.flatMap { chain in
                    chain.keys.map { keys in
                        var seen = observation(address.address, keys.rawValue, chain.verdict.word)
                        seen.leaf = chain.presented.first.map(KeyObservation.Leaf.init)
                        if chain.verdict.chainOrigin == .verified {
                            seen.chain = chain.verdict.chain.map(\.certificate)
                            seen.strays = chain.strays
                        }
                        return seen
                    }
                }
            }
        }
    }
}

extension AuditedChain {
    /// A limit, because a server may send hundreds of certificates.
    private static let mostStrays = 16

    fileprivate var strays: [Certificate] {
        let onPath = Set(self.verdict.chain.map(\.spkiPin))
        let strays = Set(self.presented.filter { !onPath.contains($0.spkiPin) }.prefix(Self.mostStrays))
        return strays.sorted { $0.digest < $1.digest }
    }
}

extension KeyObservation.Leaf {
    init(_ certificate: Certificate) {
        self.init(
            pin: certificate.spkiPin.description, digest: certificate.digest,
            serial: certificate.serial, subject: certificate.subject, issuer: certificate.issuer,
            notBefore: certificate.notBefore, notAfter: certificate.notAfter)
    }
}

extension Certificate {
    /// SHA-256 of the encoding, in hexadecimal.
    var digest: String {
        // OpenSSL always has SHA-256: pins are made of it.
        let digest = (try? MessageDigest.sha256.digest(of: self.der)) ?? []
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
