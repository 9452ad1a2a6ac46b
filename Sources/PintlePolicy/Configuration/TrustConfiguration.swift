// SPDX-License-Identifier: Apache-2.0

package import PintleTrust

/// One entry of `trust`: plain values; pins and certificates are texts and paths until they are compiled.
package struct TrustConfiguration: Sendable, Equatable {
    /// The entry that applies to https origins that no other entry names.
    package static let defaultName = "default"

    /// What is compared with the pins.
    package enum Pinning: String, Sendable, CaseIterable {
        /// Nothing: the chain must only be valid.
        case none
        /// The public key of a certificate in the verified chain.
        case publicKey = "public_key"
        /// A whole certificate in the verified chain.
        case certificate
    }

    /// Which root certificates are believed.
    package enum Roots: Sendable, Equatable {
        /// The system's store.
        case system
        /// Those in these files, instead of the system's.
        case files([Located<String>])
    }

    /// What routes, logs and metrics call it.
    package var name: String
    /// Where the file has it.
    package var position: SourcePosition
    /// Origins it applies to on every route and tunnel. Default none.
    package var hosts: [Located<HostPattern>] = []
    /// Default `none`.
    package var pinning: Pinning = .none
    /// Pins as the file spells them: `sha256/…` and the other forms. Default none.
    package var pins: [Located<String>] = []
    /// Paths of pinned certificates, files or folders, already relative to the process. Default none.
    package var certificates: [Located<String>] = []
    /// Whether expiry and chain are waived; a pin is then all that protects. Default false.
    package var allowInvalidCertificates = false
    /// Whether the certificate must name the host. Default true.
    package var validatesDomainName = true
    /// Default the system's.
    package var roots: Roots = .system
    /// Files of roots that are believed as well. Default none.
    package var extraRoots: [Located<String>] = []
    /// Which place of the chain must be pinned. Default `any`.
    package var match: SecurityPolicy.Match = .any
    /// What becomes of chains that break rules of form. Default `report`.
    package var form: SecurityPolicy.Form = .report
    /// Whether a common name counts for a certificate without alternative names. Default false.
    package var allowCommonName = false
    /// The oldest version of TLS; nil leaves it to OpenSSL.
    package var minTLS: TLSVersion?
    /// Files of revocation lists. Default none.
    package var revocationLists: [Located<String>] = []
    /// Whether handshakes ask for a stapled status. Default `off`.
    package var stapling: SecurityPolicy.Stapling = .off
    /// When the pins expire; nil for never.
    package var expires: UnixTime?
    /// What happens then. Default `fail`.
    package var onExpiry: PinExpiry.Action = .fail
    /// How long before their end `check` warns. Default 30 days.
    package var warnBeforeExpiry: Duration = .seconds(30 * 86400)
    /// What servers are shown that ask for a certificate; nil shows none.
    package var clientCertificate: IdentityFiles?
    /// Overrides the configuration's `enforcement`; nil follows it.
    package var enforcement: Enforcement?

    package init(name: String, position: SourcePosition) {
        self.name = name
        self.position = position
    }
}
