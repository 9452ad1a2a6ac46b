// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleTrust

/// The certificates that a configuration names, with their places, and those that audits have seen: all that is known about
/// its pins besides their digests.
struct KnownCertificates {
    /// A certificate of `trust.NAME.certificates`.
    struct Named {
        let certificate: Certificate
        /// The file or folder that the certificate comes from.
        let path: Located<String>
        /// The place in the configuration, for example `trust.NAME.certificates[0]`.
        let place: String
    }

    /// The pinned certificates of each policy, in the order of `Configuration.trust`; a certificate occurs as often as it
    /// is named.
    let pinned: [[Named]]
    /// The certificates with each key, including roots; the one with the latest end of validity first.
    private let byPin: [Pin: [Certificate]]

    /// - Parameter seen: certificates that audits have seen.
    init(_ policy: Policy, seen: [Certificate] = []) {
        var byPin: [Pin: Set<Certificate>] = [:]
        self.pinned = policy.configuration.trust.map { configuration in
            configuration.certificates.enumerated().flatMap { index, path in
                // The files were read a moment ago, when the policy was compiled; a file that is gone since then has no
                // findings.
                ((try? Certificate.load(path: path.value)) ?? []).map {
                    Named(certificate: $0, path: path, place: "trust.\(configuration.name).certificates[\(index)]")
                }
            }
        }
        for certificate in seen { byPin[certificate.spkiPin, default: []].insert(certificate) }
        for security in policy.securityPolicies {
            var certificates = security.certificates + security.extraRoots
            if case .only(let roots) = security.roots { certificates += roots }
            for certificate in certificates { byPin[certificate.spkiPin, default: []].insert(certificate) }
        }
        self.byPin = byPin.mapValues { $0.sorted { $0.notAfter > $1.notAfter } }
    }

    /// Returns the certificate with this key that is valid longest, if any is known.
    func longest(_ pin: Pin) -> Certificate? { self.byPin[pin]?.first }
}

extension TrustConfiguration {
    /// The pins that are written as digests, each with its place; the configuration was compiled, so all can be read.
    var readPins: [Located<Pin>] {
        self.pins.compactMap { text in (try? Pin(text.value)).map { Located($0, at: text.position) } }
    }
}
