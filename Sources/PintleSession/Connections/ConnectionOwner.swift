// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The owner of connections to origins that belong to one client alone, because the client logs in on them.
///
/// NTLM and Negotiate authenticate a connection, not a request (RFC 4559 §6): all later requests on it are made in that user's
/// name, and the messages of one login belong together. From the first offer or answer of such a scheme on, a connection
/// carries only the requests of its owner, in HTTP/1.1, and is closed with the owner. A connection without an owner is not
/// kept.
package final class ConnectionOwner: @unchecked Sendable {
    // Why @unchecked holds: its client, its requests and its connections are all on one loop, which makes all calls here.

    private var connections: [ObjectIdentifier: HTTP1Connection] = [:]
    /// True after the client has gone.
    private(set) var hasEnded = false

    /// Makes an owner for one client.
    package init() {}

    /// True while there is a connection on which the client has logged in, or may be about to: its requests may then get other
    /// responses than those of other clients.
    package var isBound: Bool { !self.connections.isEmpty }

    func add(_ connection: HTTP1Connection) { self.connections[ObjectIdentifier(connection)] = connection }

    func remove(_ connection: HTTP1Connection) { self.connections[ObjectIdentifier(connection)] = nil }

    /// Closes the idle connections; those in use are closed when their last request is over.
    package func end() {
        self.hasEnded = true
        for connection in Array(self.connections.values) { connection.closeIfIdle() }
    }
}

/// The login on a connection, if there is one, and the owner.
struct ConnectionLogin {
    private(set) var isBound = false
    private(set) weak var owner: ConnectionOwner?

    /// False if the connection must not carry another request: its login has no owner, or the owner has ended.
    var mayBeKept: Bool { !self.isBound || self.owner?.hasEnded == false }

    /// Checks an exchange for the beginning of a login.
    mutating func look(at head: ResponseHead, to asked: Transfer.Asked, on connection: HTTP1Connection) {
        guard !self.isBound,
            asked.request.fields.logConnectionIn || head.status == 401 && head.fields.offerConnectionLogin
        else { return }
        self.isBound = true
        self.owner = asked.request.owner
        self.owner?.add(connection)
    }

    /// Removes a connection that ends from its owner.
    func end(on connection: HTTP1Connection) { self.owner?.remove(connection) }
}

extension Fields {
    /// True if these fields of a request log the client in on its connection.
    package var logConnectionIn: Bool { self[.authorization].map(Self.bindsConnection) ?? false }

    /// True if these fields of a response offer a login on the connection, or continue one (RFC 4559 §4).
    var offerConnectionLogin: Bool { self.values(of: "WWW-Authenticate").contains(where: Self.bindsConnection) }

    /// Returns true if a challenge or credentials have a scheme that authenticates connections. One line may have several
    /// challenges.
    private static func bindsConnection(_ value: String) -> Bool {
        value.utf8.split(separator: UInt8(ascii: ",")).contains { part in
            let scheme = part.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
                .prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            let name = String(decoding: scheme.map { $0 | 0x20 }, as: UTF8.self)
            return name == "ntlm" || name == "negotiate"
        }
    }
}
