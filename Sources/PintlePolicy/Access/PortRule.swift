// SPDX-License-Identifier: Apache-2.0

/// A list of ports, compiled: where requests of one kind may go.
package struct PortRule: Sendable {
    private enum Allowed: Sendable {
        case any
        case only(Set<UInt16>)
        /// Those of the web, and those that any user's program may listen on. Below 1024 are mail, shells and directories.
        case webAndUnprivileged
    }

    private let allowed: Allowed
    /// `destinations.connect_ports [443, 8443]`: as the configuration has it, and why where it leaves it open.
    package let description: String
    /// True where the configuration has the ports, and does not leave them to `auto`.
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

    /// Whether a request of its kind may go to `port`.
    package func allows(_ port: UInt16) -> Bool {
        switch self.allowed {
        case .any: true
        case .only(let ports): ports.contains(port)
        case .webAndUnprivileged: port == 80 || port == 443 || port > 1023
        }
    }
}

extension [ListenAddress] {
    /// The first that other machines may reach, or nil where all are loopback.
    var exposed: ListenAddress? { self.first(where: \.isExposed) }
}
