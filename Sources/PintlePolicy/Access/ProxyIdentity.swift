// SPDX-License-Identifier: Apache-2.0

/// The names that a client gives with Proxy-Authorization.
package struct ProxyIdentity: Sendable, Hashable {
    /// A user of `clients.basic_auth`, who has proved to be that.
    package var user: String?
    /// A word of the client's own choice, by which its exchanges can be found: `suite-42` of `alice+suite-42`, or the whole name if
    /// the configuration has no users.
    package var tag: String?

    package init(user: String? = nil, tag: String? = nil) {
        self.user = user
        self.tag = tag
    }
}

extension PasswordFile {
    /// Reads a name of a client. A name that the file has is a user's as a whole, even with a `+` in it.
    package func identity(named name: String) -> ProxyIdentity {
        guard !self.has(user: name), let plus = name.utf8.firstIndex(of: UInt8(ascii: "+")) else {
            return ProxyIdentity(user: name)
        }
        return ProxyIdentity(user: String(name[..<plus]), tag: String(name[name.utf8.index(after: plus)...]))
    }
}
