// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Who may use the proxy.
package struct ClientsConfiguration: Sendable, Equatable {
    /// Networks that clients may come from. Default the machine itself: an open proxy is a weapon.
    package var allow: [CIDR] = [
        CIDR(masking: IPAddress(v4: 0x7F00_0000), prefixLength: 8), CIDR(IPAddress(v6High: 0, low: 1)),
    ]
    /// Who must say who they are, and how. Default nobody.
    package var basicAuth: BasicAuthConfiguration?

    package init() {}
}

/// Users with passwords.
package struct BasicAuthConfiguration: Sendable, Equatable {
    /// What clients show to the people whom they ask. Default `pintle`.
    package var realm = "pintle"
    /// As it was when the configuration was loaded.
    package var users: PasswordFile

    init(users: PasswordFile) { self.users = users }
}

/// Where the proxy may connect to. Denials come before permissions, permissions before the default.
package struct DestinationsConfiguration: Sendable, Equatable {
    /// What happens to a destination that no list names.
    package enum Default: String, Sendable, CaseIterable {
        case allow, deny
    }

    /// Whether addresses may be dialled that cannot be reached from everywhere.
    package enum PrivateAddresses: String, Sendable, CaseIterable {
        case allow, deny
        /// Allowed while every listener is on loopback.
        case auto
    }

    /// Which ports requests of a kind may go to.
    package enum Ports: Sendable, Equatable {
        /// Any while every listener is on loopback. Otherwise 443 alone for CONNECT; 80, 443 and above 1023 for the rest.
        case auto
        case any
        case only([UInt16])
    }

    /// Default `allow`.
    package var fallback: Default = .allow
    /// Always allowed, unless denied. Default none.
    package var allow: [HostPattern] = []
    /// Never allowed. Default none.
    package var deny: [HostPattern] = []
    /// Default `auto`: a proxy that others can reach is no way into the networks that it is in.
    package var privateAddresses: PrivateAddresses = .auto
    /// Default `auto`: a proxy that others can reach is no relay to mail servers and shells.
    package var connectPorts: Ports = .auto
    /// For requests other than CONNECT. Default `auto`, as above.
    package var ports: Ports = .auto
    /// Whether names that no rule allows are looked up, where a rule about networks could allow their addresses. Default on.
    package var resolvesNames = true
    /// Whether the ClientHello in a tunnel must name the host that the tunnel was opened to. Default on: what is said of
    /// hosts would say nothing of tunnels otherwise.
    package var requiresSNIMatch = true
    /// Hosts that a ClientHello may go to without a name where `fallback` is `deny`. Default none.
    package var absentSNI: [HostPattern] = []

    package init() {}
}
