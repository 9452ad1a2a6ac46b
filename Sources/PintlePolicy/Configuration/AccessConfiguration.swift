// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The clients that may use the proxy.
package struct ClientsConfiguration: Sendable, Equatable {
    /// Networks that clients may come from. Default: the machine itself, since an open proxy is a weapon.
    package var allow: [CIDR] = [
        CIDR(masking: IPAddress(v4: 0x7F00_0000), prefixLength: 8), CIDR(IPAddress(v6High: 0, low: 1)),
    ]
    /// The users and passwords by which clients authenticate. Default nil: no authentication.
    package var basicAuth: BasicAuthConfiguration?

    package init() {}
}

/// Users with passwords.
package struct BasicAuthConfiguration: Sendable, Equatable {
    /// The realm that clients show to their users when they ask for a password. Default `pintle`.
    package var realm = "pintle"
    /// The users and hashes, as the file had them when the configuration was loaded.
    package var users: PasswordFile

    init(users: PasswordFile) { self.users = users }
}

/// The destinations that the proxy may connect to. Denials come before permissions, permissions before the default.
package struct DestinationsConfiguration: Sendable, Equatable {
    /// The treatment of a destination that no list names.
    package enum Default: String, Sendable, CaseIterable {
        case allow, deny
    }

    /// The treatment of addresses that are not globally reachable.
    package enum PrivateAddresses: String, Sendable, CaseIterable {
        case allow, deny
        /// Allowed while every listener is on loopback.
        case auto
    }

    /// The ports that requests of one kind may go to.
    package enum Ports: Sendable, Equatable {
        /// Any if every listener is on loopback. Otherwise 443 alone for CONNECT; 80, 443 and above 1023 for the rest.
        case auto
        case any
        case only([UInt16])
    }

    /// The treatment of destinations that no list names. Default `allow`.
    package var fallback: Default = .allow
    /// Destinations that are always allowed, unless denied. Default none.
    package var allow: [HostPattern] = []
    /// Destinations that are never allowed. Default none.
    package var deny: [HostPattern] = []
    /// The treatment of addresses that are not globally reachable. Default `auto`: a proxy that other machines can reach must
    /// not let them into the networks that it is in.
    package var privateAddresses: PrivateAddresses = .auto
    /// The ports for CONNECT. Default `auto`: a proxy that other machines can reach must not relay to mail servers and shells.
    package var connectPorts: Ports = .auto
    /// The ports for requests other than CONNECT. Default `auto`, as above.
    package var ports: Ports = .auto
    /// True if a name that no rule allows is looked up, in case a rule about networks allows its address. Default on.
    package var resolvesNames = true
    /// True if the ClientHello in a tunnel must name the host that the tunnel was opened to. Default on: otherwise a tunnel
    /// could bypass the rules about hosts.
    package var requiresSNIMatch = true
    /// Hosts to which a ClientHello in a tunnel may lack a server name although `fallback` is `deny`. Default none.
    package var absentSNI: [HostPattern] = []

    package init() {}
}
