// SPDX-License-Identifier: Apache-2.0

/// A compiled list of the ports that requests of one kind may go to.
package struct PortRule: Sendable {
    private enum Allowed: Sendable {
        case any
        case only(Set<UInt16>)
        /// The web's ports and those that any user's program may listen on. Mail, shells and directories listen below 1024.
        case webAndUnprivileged
    }

    private let allowed: Allowed
    /// `destinations.connect_ports [443, 8443]`: the ports as configured, with the reason if `auto` chose them.
    package let description: String
    /// True if the configuration states the ports and does not leave them to `auto`.
    let isWritten: Bool

    /// `destinations.connect_ports`: the ports that a CONNECT may go to.
    static func connecting(_ ports: DestinationsConfiguration.Ports, listeners: [ListenAddress]) -> PortRule {
        PortRule("destinations.connect_ports", ports, listeners, exposed: .only([443]), "443 only")
    }

    /// `destinations.ports`: the ports that every other request may go to.
    static func requesting(_ ports: DestinationsConfiguration.Ports, listeners: [ListenAddress]) -> PortRule {
        PortRule("destinations.ports", ports, listeners, exposed: .webAndUnprivileged, "80, 443 and above 1023 only")
    }

    private init(
        _ key: String, _ ports: DestinationsConfiguration.Ports, _ listeners: [ListenAddress], exposed: Allowed,
        _ words: String
    ) {
        self.isWritten = ports != .auto
        switch ports {
        case .any: (self.allowed, self.description) = (.any, "\(key) any")
        case .only(let ports): (self.allowed, self.description) = (.only(Set(ports)), "\(key) \(ports)")
        case .auto:
            if let listener = listeners.exposed {
                (self.allowed, self.description) = (
                    exposed, "\(key) auto: \(words), because \(listener) is not loopback"
                )
            } else {
                (self.allowed, self.description) = (.any, "\(key) auto: any, because all listeners are loopback")
            }
        }
    }

    /// True if a request of this kind may go to `port`.
    package func allows(_ port: UInt16) -> Bool {
        switch self.allowed {
        case .any: true
        case .only(let ports): ports.contains(port)
        case .webAndUnprivileged: port == 80 || port == 443 || port > 1023
        }
    }
}

extension [ListenAddress] {
    /// The first listener that other machines may reach; nil if all are loopback.
    var exposed: ListenAddress? { self.first(where: \.isExposed) }
}
