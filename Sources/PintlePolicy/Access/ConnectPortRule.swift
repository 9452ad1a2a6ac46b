// SPDX-License-Identifier: Apache-2.0

/// `destinations.connect_ports`, compiled: the ports that a CONNECT may go to.
package struct ConnectPortRule: Sendable {
    /// Nil for every port.
    private let allowed: Set<UInt16>?
    /// `destinations.connect_ports [443, 8443]`: as the configuration has it, and why where it leaves it open.
    package let description: String

    init(_ ports: DestinationsConfiguration.ConnectPorts, listeners: [ListenAddress]) {
        let key = "destinations.connect_ports"
        switch ports {
        case .any: (self.allowed, self.description) = (nil, "\(key) any")
        case .only(let ports): (self.allowed, self.description) = (Set(ports), "\(key) \(ports)")
        case .auto:
            if let exposed = listeners.exposed {
                (self.allowed, self.description) = ([443], "\(key) auto: 443 only, because \(exposed) is not loopback")
            } else {
                (self.allowed, self.description) = (nil, "\(key) auto: any, because all listeners are loopback")
            }
        }
    }

    /// Whether a CONNECT may go to `port`.
    package func allows(_ port: UInt16) -> Bool { self.allowed?.contains(port) ?? true }
}

extension [ListenAddress] {
    /// The first that other machines may reach, or nil where all are loopback.
    var exposed: ListenAddress? { self.first(where: \.isExposed) }
}
