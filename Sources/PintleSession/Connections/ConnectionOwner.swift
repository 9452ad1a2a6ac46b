// SPDX-License-Identifier: Apache-2.0

/// The owner of connections to origins that belong to one client alone, because the client logs in on them.
///
/// NTLM and Negotiate authenticate a connection, not a request (RFC 4559 §6): all later requests on it are made in that user's
/// name, and the messages of one login belong together. From the first offer or answer of such a scheme on, a connection
/// carries only the requests of its owner, in HTTP/1.1, and is closed with the owner. A connection without an owner is not
/// kept.
package final class ConnectionOwner: @unchecked Sendable {
    // Why @unchecked holds: its client, its requests and its connections are all on one loop, which makes all calls here.

    private var connections: [ObjectIdentifier: any OwnedConnection] = [:]
    /// True after the client has gone.
    private(set) var hasEnded = false

    /// Makes an owner for one client.
    package init() {}

    /// True while there is a connection on which the client has logged in, or may be about to: its requests may then get other
    /// responses than those of other clients.
    package var isBound: Bool { !self.connections.isEmpty }

    func add(_ connection: any OwnedConnection) { self.connections[ObjectIdentifier(connection)] = connection }

    func remove(_ connection: any OwnedConnection) { self.connections[ObjectIdentifier(connection)] = nil }

    /// Closes the idle connections; those in use are closed when their last request is over.
    package func end() {
        self.hasEnded = true
        for connection in Array(self.connections.values) { connection.closeIfIdle() }
    }
}

/// Owners are compared by identity.
extension ConnectionOwner: Equatable {
    package static func == (left: ConnectionOwner, right: ConnectionOwner) -> Bool { left === right }
}

/// A connection on which a client may log in.
protocol OwnedConnection: AnyObject {
    /// Closes the connection if it is idle; called when its owner has ended.
    func closeIfIdle()
}
