// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import PintleLoop
package import PintleMessage
internal import PintlePolicy

/// The sockets of a command's network, and the names behind the addresses to which its programs connect.
///
/// In the network of a command (`pintle run --isolate`) each name has an address of its own, which its programs learn from the
/// stub resolver: so the name is known whatever the protocol is. Connections that are redirected from other networks go to
/// addresses as they are.
package struct CapturedSockets: Sendable {
    /// The meaning of an address.
    package enum Meaning: Sendable, Equatable {
        /// It stands for this name.
        case name(String)
        /// It stands for a name that no program has asked for.
        case noName
        /// It is itself the destination.
        case address
    }

    /// Sockets that listen for connections to any address, beside the listeners of the configuration.
    let listeners: [Int32]
    /// Asks for sockets of the network, by which the processes of its clients are found; nil if they are in this process's own.
    let diagnosis: SocketQuery?
    private let meaning: @Sendable (IPAddress) -> Meaning

    /// - Parameter meaning: returns the meaning of an address.
    package init(
        listeners: [Int32], diagnosis: SocketQuery?, meaning: @escaping @Sendable (IPAddress) -> Meaning
    ) {
        (self.listeners, self.diagnosis, self.meaning) = (listeners, diagnosis, meaning)
    }

    /// No network besides this process's own.
    package static let none = CapturedSockets(listeners: [], diagnosis: nil) { _ in .address }

    /// True if an accepted connection is one of this machine.
    func isOfMachine(_ descriptor: Int32) -> Bool {
        self.diagnosis != nil || SocketAddress(boundTo: descriptor).flatMap(IPAddress.init)?.isLoopback == true
    }

    /// The destination of a captured connection; nil if the kernel does not tell it, or if it stands for no name.
    ///
    /// - Parameter descriptor: the accepted socket.
    func destination(of descriptor: Int32) -> Authority? {
        guard let address = SocketAddress(redirectedFrom: descriptor), let ip = IPAddress(address),
            let port = address.port.flatMap({ UInt16(exactly: $0) }), port > 0
        else { return nil }
        return switch self.meaning(ip) {
        case .name(let name): Authority(name, defaultPort: port).map { Authority(host: $0.host, port: port) }
        case .address: Authority(host: ip.description, port: port)
        case .noName: nil
        }
    }
}
