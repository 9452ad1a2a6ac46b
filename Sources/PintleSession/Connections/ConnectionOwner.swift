// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The connections to origins that belong to one client alone, because somebody logs in on them.
///
/// NTLM and Negotiate authenticate a connection, and not a request (RFC 4559 §6): whatever goes over it later is done in that
/// user's name, and the messages of one login belong together. From the first offer or answer of such a scheme on, a
/// connection carries the requests of its owner only, in HTTP/1.1, and closes with it. One that has no owner is not kept.
package final class ConnectionOwner: @unchecked Sendable {
    // Why @unchecked holds: its client, its requests and its connections are all on one loop, which calls everything here.

    private var connections: [ObjectIdentifier: HTTP1Connection] = [:]
    /// True once the client is gone.
    private(set) var hasEnded = false

    /// Makes the owner that a client is.
    package init() {}

    /// True while there is a connection on which the client has logged in, or may be about to: its requests may have other answers
    /// than those of anybody else.
    package var isBound: Bool { !self.connections.isEmpty }

    func add(_ connection: HTTP1Connection) { self.connections[ObjectIdentifier(connection)] = connection }

    func remove(_ connection: HTTP1Connection) { self.connections[ObjectIdentifier(connection)] = nil }

    /// Closes the connections that are idle; those in use close when their last request is over.
    package func end() {
        self.hasEnded = true
        for connection in Array(self.connections.values) { connection.closeIfIdle() }
    }
}

/// The login on a connection, if there is one, and whose it is.
struct ConnectionLogin {
    private(set) var isBound = false
    private(set) weak var owner: ConnectionOwner?

    /// False if a connection must not carry another request: it belongs to nobody, or its owner is gone.
    var mayBeKept: Bool { !self.isBound || self.owner?.hasEnded == false }

    /// Looks at an exchange for the beginning of a login.
    mutating func look(at head: ResponseHead, to asked: Transfer.Asked, on connection: HTTP1Connection) {
        guard !self.isBound,
            asked.request.fields.logConnectionIn || head.status == 401 && head.fields.offerConnectionLogin
        else { return }
        self.isBound = true
        self.owner = asked.request.owner
        self.owner?.add(connection)
    }

    /// Takes a connection that ends from its owner.
    func end(on connection: HTTP1Connection) { self.owner?.remove(connection) }
}

extension Fields {
    /// True if the client logs a connection in with these fields of a request.
    package var logConnectionIn: Bool { self[.authorization].map(Self.bindsConnection) ?? false }

    /// True if these fields of a response offer to log a connection in, or go on with it (RFC 4559 §4).
    var offerConnectionLogin: Bool { self.values(of: "WWW-Authenticate").contains(where: Self.bindsConnection) }

    /// True if a challenge or credentials are of a scheme that authenticates connections. Several challenges may be in one line.
    private static func bindsConnection(_ value: String) -> Bool {
        value.utf8.split(separator: UInt8(ascii: ",")).contains { part in
            let scheme = part.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
                .prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            let name = String(decoding: scheme.map { $0 | 0x20 }, as: UTF8.self)
            return name == "ntlm" || name == "negotiate"
        }
    }
}
