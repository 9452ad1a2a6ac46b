// SPDX-License-Identifier: Apache-2.0

/// The hosts whose tunnels are opened, and in whose name.
package struct InterceptionConfiguration: Sendable, Equatable {
    /// Says whose certificates clients are shown.
    package enum CertificateAuthority: Sendable, Equatable {
        /// The user's own, which `pintle ca init` makes.
        case ofUser
        case files(IdentityFiles)
    }

    /// Default: the user's own.
    package var authority = CertificateAuthority.ofUser
    /// Destinations whose tunnels are intercepted, on routes that do not say otherwise. Default none.
    package var hosts: [HostPattern] = []
    /// True where clients may speak HTTP/2 in an intercepted tunnel. Default on.
    package var http2 = true
    /// True where tunnels to hosts whose clients have refused our certificate are relayed from then on. Default off: what was
    /// to be seen would pass unseen.
    package var passesThroughOnAlert = false

    package init() {}
}
