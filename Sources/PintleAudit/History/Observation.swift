// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
package import PintleTrust

/// What one audit saw of one kind of key at one address, as the history keeps it.
package struct Observation: Sendable, Hashable {
    /// The leaf certificate that was shown.
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
    /// Empty where the name was not resolved.
    package var address: String
    /// `rsa`, `ecdsa`, `any`; empty where nothing was shown.
    package var keys: String
    /// `trusted`, what was refused, or `unreachable`.
    package var verdict: String
    package var leaf: Leaf?
    /// The verified chain, leaf first, which is what pins are compared with; empty where there was none.
    package var chain: [Certificate] = []
    /// What was sent with keys that no certificate of the verified chain has, at most as many as a chain has places: a
    /// cross-signed root, mostly. In the order of their digests; empty where there was no verified chain.
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
    /// Everything that is worth remembering: one line for each kind of key, or one that says that there was none.
    package var observations: [Observation] {
        self.targets.flatMap { target -> [Observation] in
            func observation(_ address: String, _ keys: String, _ verdict: String) -> Observation {
                Observation(
                    policy: target.target.policy, host: target.target.authority.description, address: address,
                    keys: keys, verdict: verdict)
            }
            guard !target.addresses.isEmpty else { return [observation("", "", "unreachable")] }
            return target.addresses.flatMap { address -> [Observation] in
                guard !address.chains.isEmpty else { return [observation(address.address, "", "unreachable")] }
                return address.chains.flatMap { chain in
                    chain.keys.map { keys in
                        var seen = observation(address.address, keys.rawValue, chain.verdict.word)
                        seen.leaf = chain.presented.first.map(Observation.Leaf.init)
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

extension ChainReport {
    /// A server may send hundreds of certificates.
    private static let mostStrays = 16

    fileprivate var strays: [Certificate] {
        let onPath = Set(self.verdict.chain.map(\.spkiPin))
        let strays = Set(self.presented.filter { !onPath.contains($0.spkiPin) }.prefix(Self.mostStrays))
        return strays.sorted { $0.digest < $1.digest }
    }
}

extension Observation.Leaf {
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
