// SPDX-License-Identifier: Apache-2.0

/// What is done before a CONNECT tunnel opens.
package struct TunnelsConfiguration: Sendable, Equatable {
    /// Destinations that must prove themselves, on routes that do not say otherwise. Networks stand for destinations that
    /// are asked for by address. Default none.
    package var verify: [HostPattern] = []
    /// True if destinations that the `hosts` of a trust policy name must prove themselves, too; false by `verify: off`. Default
    /// true.
    package var verifiesTrusted = true
    /// How long a destination's proof holds for further tunnels to the same address. Default 60 s.
    package var verifyTTL: Duration = .seconds(60)

    package init() {}
}

/// What becomes of a CONNECT.
package enum ConnectMode: String, Sendable, CaseIterable {
    /// Bytes are relayed.
    case tunnel
    /// The destination proves itself to a handshake of our own before bytes are relayed.
    case verify
    /// The client is shown a certificate of our own, and each request inside is judged as any other.
    case intercept
    /// There is no tunnel.
    case deny
}
