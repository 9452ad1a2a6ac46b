// SPDX-License-Identifier: Apache-2.0

/// The checks before a CONNECT tunnel opens.
package struct TunnelsConfiguration: Sendable, Equatable {
    /// Destinations that must prove their identity, on routes that do not say otherwise. Networks apply to destinations that
    /// the client names by address. Default none.
    package var verify: [HostPattern] = []
    /// True if destinations in the `hosts` of a trust policy must prove their identity, too; `verify: off` makes it false.
    /// Default true.
    package var verifiesTrusted = true
    /// The time for which a destination's proof holds for further tunnels to the same address. Default 60 s.
    package var verifyTTL: Duration = .seconds(60)

    package init() {}
}

/// The treatment of a CONNECT.
package enum ConnectMode: String, Sendable, CaseIterable {
    /// Bytes are relayed.
    case tunnel
    /// The destination proves its identity in a handshake with the proxy before bytes are relayed.
    case verify
    /// The client is shown a certificate of the proxy's own, and each request inside is judged like any other.
    case intercept
    /// No tunnel is opened.
    case deny
}
