// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
internal import PintleSystem

/// The names that a client gives with Proxy-Authorization.
package struct ProxyIdentity: Sendable, Hashable, CustomStringConvertible {
    /// A user of `clients.basic_auth`, who has proved to be that.
    package var user: String?
    /// A word of the client's own choice, by which its exchanges can be found: `suite-42` of `alice+suite-42`, or the whole name if
    /// the configuration has no users.
    package var tag: String?

    package init(user: String? = nil, tag: String? = nil) {
        self.user = user
        self.tag = tag
    }

    /// The length of the names together.
    package var byteCount: Int { (self.user?.utf8.count ?? 0) + (self.tag?.utf8.count ?? 0) }

    /// `user alice with tag ci`, or `a client without a name`.
    package var description: String {
        switch (self.user, self.tag) {
        case (nil, nil): "a client without a name"
        case (let user?, nil): "user \(user.showable(keepingLines: false))"
        case (nil, let tag?): "tag \(tag.showable(keepingLines: false))"
        case (let user?, let tag?):
            "user \(user.showable(keepingLines: false)) with tag \(tag.showable(keepingLines: false))"
        }
    }
}

extension Policy {
    /// The names of a client that a person gives, to ask about its requests.
    ///
    /// - Throws: the reason if no client has such names under this configuration.
    package func identity(user: String?, tag: String?) throws(Malformed) -> ProxyIdentity {
        guard let users = self.configuration.clients.basicAuth?.users else {
            if user != nil { throw Malformed("no client has a user: the configuration has no clients.basic_auth") }
            return ProxyIdentity(tag: tag)
        }
        guard let user else {
            if tag != nil { throw Malformed("a client with a tag has a user, too, by clients.basic_auth; name one") }
            return ProxyIdentity()
        }
        guard let known = users.spelling(of: user) else {
            throw Malformed("clients.basic_auth has no user \"\(user.excerpt)\"\(user.hint(of: users.names))")
        }
        return ProxyIdentity(user: known, tag: tag)
    }

    /// The names of the client of a saved request, by its Proxy-Authorization. Without the field it is a client without a name that may
    /// use the proxy. Takes as long as bcrypt does if the configuration has users.
    ///
    /// - Throws: the problem that the client would get, if a user's name or password is not right.
    package func identity(by fields: Fields) throws(Problem) -> ProxyIdentity {
        guard let value = fields[.proxyAuthorization] else { return ProxyIdentity() }
        let given = BasicCredentials(value)
        guard let basicAuth = self.configuration.clients.basicAuth else { return ProxyIdentity(tag: given?.user) }
        guard let credentials = given, fields.values(of: "Proxy-Authorization").count == 1 else {
            throw basicAuth.refusal(hasTried: true)
        }
        let identity = basicAuth.users.identity(named: credentials.user)
        guard basicAuth.users.has(user: identity.user ?? "", password: credentials.password) else {
            throw basicAuth.refusal(hasTried: true)
        }
        return identity
    }
}

extension PasswordFile {
    /// Reads a name of a client. A name that the file has is a user's as a whole, even with a `+` in it.
    ///
    /// - Returns: the user as the file spells it, so that no other spelling of the name is beyond the rules for it.
    package func identity(named name: String) -> ProxyIdentity {
        if let user = self.spelling(of: name) { return ProxyIdentity(user: user) }
        guard let plus = name.utf8.firstIndex(of: UInt8(ascii: "+")) else { return ProxyIdentity(user: name) }
        let user = String(name[..<plus])
        return ProxyIdentity(user: self.spelling(of: user) ?? user, tag: String(name[name.utf8.index(after: plus)...]))
    }
}
