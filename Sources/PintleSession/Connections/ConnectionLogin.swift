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
    package var logConnectionIn: Bool {
        self.contains(.authorization) && self.haveConnectionScheme(in: FieldName.authorization.spelling)
    }

    /// True if these fields of a response offer a login on the connection, or continue one (RFC 4559 §4).
    var offerConnectionLogin: Bool { self.haveConnectionScheme(in: "WWW-Authenticate") }

    /// True if a challenge, or credentials, in the lines called `name` have a scheme that authenticates connections. One line
    /// may have several challenges. Commas in quoted strings count, too: that errs on the side of a login.
    private func haveConnectionScheme(in name: String) -> Bool {
        var isFound = false
        self.forEachMember(of: name) { member in
            let end = member.firstIndex { $0 == 0x20 || $0 == 0x09 } ?? member.count
            let scheme = UnsafeRawBufferPointer(rebasing: member[..<end])
            isFound = ASCII.equalsIgnoringCase(scheme, "ntlm") || ASCII.equalsIgnoringCase(scheme, "negotiate")
            return !isFound
        }
        return isFound
    }
}
