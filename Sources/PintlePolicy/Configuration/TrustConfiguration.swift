// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// One entry of `trust`: plain values; pins and certificates are texts and paths until they are compiled.
package struct TrustConfiguration: Sendable, Equatable {
    /// The entry that applies to https origins that no other entry names.
    package static let defaultName = "default"

    /// The part of a chain that is compared with the pins.
    package enum Pinning: String, Sendable, CaseIterable {
        /// Nothing: the chain must only be valid.
        case none
        /// The public key of a certificate in the verified chain.
        case publicKey = "public_key"
        /// A whole certificate in the verified chain.
        case certificate
    }

    /// The root certificates that are trusted.
    package enum Roots: Sendable, Equatable {
        /// Those of the system's store.
        case system
        /// Those in these files, instead of the system's.
        case files([Located<String>])
    }

    /// The name in routes, logs and metrics.
    package var name: String
    /// The place of the entry in the file.
    package var position: SourcePosition
    /// Origins that the entry applies to on every route and tunnel. Default none.
    package var hosts: [Located<HostPattern>] = []
    /// The part of a chain that is compared with the pins. Default `none`.
    package var pinning: Pinning = .none
    /// Pins as the file spells them: `sha256/…` and the other forms. Default none.
    package var pins: [Located<String>] = []
    /// Paths of pinned certificates, files or folders, already relative to the process. Default none.
    package var certificates: [Located<String>] = []
    /// True if expiry and chain are not checked; a pin is then the only protection. Default false.
    package var allowInvalidCertificates = false
    /// True if the certificate must name the host. Default true.
    package var validatesDomainName = true
    /// The root certificates that are trusted. Default: the system's.
    package var roots: Roots = .system
    /// Files of further trusted roots. Default none.
    package var extraRoots: [Located<String>] = []
    /// The place in the chain that must be pinned. Default `any`.
    package var match: SecurityPolicy.Match = .any
    /// The treatment of chains that break rules of form. Default `report`.
    package var form: SecurityPolicy.Form = .report
    /// True if a common name counts for a certificate without alternative names. Default false.
    package var allowCommonName = false
    /// The oldest accepted version of TLS; nil leaves it to OpenSSL.
    package var minTLS: TLSVersion?
    /// Files of revocation lists. Default none.
    package var revocationLists: [Located<String>] = []
    /// The use of the certificate status that servers staple. Default `off`.
    package var stapling: SecurityPolicy.Stapling = .off
    /// The time when the pins expire; nil for never.
    package var expires: UnixTime?
    /// The treatment of origins after that time. Default `fail`.
    package var onExpiry: PinExpiry.Action = .fail
    /// The time before expiry from which `check` warns. Default 30 days.
    package var warnBeforeExpiry: Duration = .seconds(30 * 86400)
    /// The certificate for servers that ask for one; nil shows none.
    package var clientCertificate: IdentityFiles?
    /// Overrides the configuration's `enforcement`; nil follows it.
    package var enforcement: Enforcement?

    package init(name: String, position: SourcePosition) {
        self.name = name
        self.position = position
    }
}
