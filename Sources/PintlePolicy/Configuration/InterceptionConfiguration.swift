// SPDX-License-Identifier: Apache-2.0

/// The hosts whose tunnels are intercepted, and the authority that signs the certificates for them.
package struct InterceptionConfiguration: Sendable, Equatable {
    /// The authority that signs the certificates that clients are shown.
    package enum CertificateAuthority: Sendable, Equatable {
        /// The user's own authority, which `pintle ca init` makes.
        case ofUser
        case files(IdentityFiles)
    }

    /// The authority that signs the certificates that clients are shown. Default: the user's own.
    package var authority = CertificateAuthority.ofUser
    /// Destinations whose tunnels are intercepted, on routes that do not say otherwise. Default none.
    package var hosts: [HostPattern] = []
    /// True if clients may speak HTTP/2 in an intercepted tunnel. Default on.
    package var http2 = true
    /// True if tunnels to a host are relayed uninspected after a client has refused our certificate for it. Default off:
    /// otherwise traffic could escape the inspection that was asked for.
    package var passesThroughOnAlert = false

    package init() {}
}
