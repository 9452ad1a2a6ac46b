// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The login on a connection, if there is one, and the owner.
struct ConnectionLogin {
    private(set) var isBound = false
    private(set) weak var owner: ConnectionOwner?

    /// False if the connection must not carry another request: its login has no owner, or the owner has ended.
    var mayBeKept: Bool { !self.isBound || self.owner?.hasEnded == false }

    /// Checks an exchange for the beginning of a login.
    mutating func look(at head: ResponseHead, to asked: AskedRequest, on connection: any OwnedConnection) {
        // The login is known already, or none begins.
        guard !self.isBound,
            asked.request.fields.logConnectionIn || head.status == 401 && head.fields.offerConnectionLogin
        else { return }
        self.isBound = true
        self.owner = asked.request.owner
        self.owner?.add(connection)
    }

    /// Removes a connection that ends from its owner.
    func end(on connection: any OwnedConnection) { self.owner?.remove(connection) }
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
