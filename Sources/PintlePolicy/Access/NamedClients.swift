// SPDX-License-Identifier: Apache-2.0

/// The clients that a rule is for, by the names that they give with Proxy-Authorization. A client without a name is none of
/// them.
package struct NamedClients: Sendable, Hashable, CustomStringConvertible {
    /// The forms of users, one of which a client must have. Empty: any client, also one without a user.
    package let users: [Glob]
    /// The forms of tags, one of which a client must have. Empty: any client, also one without a tag.
    package let tags: [Glob]

    /// Makes clients with one of the users and one of the tags. Names of at least one kind are given.
    package init(users: [Glob] = [], tags: [Glob] = []) {
        precondition(!users.isEmpty || !tags.isEmpty, "BUG: a rule for named clients names none")
        (self.users, self.tags) = (users, tags)
    }

    /// `users alice, ops-* and tags ci`.
    package var description: String {
        [("users", self.users), ("tags", self.tags)].filter { !$0.1.isEmpty }
            .map { Self.spelled($0.0, $0.1) }.joined(separator: " and ")
    }

    private static func spelled(_ kind: String, _ forms: [Glob]) -> String {
        "\(kind) \(forms.map(\.description).joined(separator: ", "))"
    }

    /// The names of which the client has none, as in `tags ci`: those of users, if it lacks both; nil if it is one of the clients.
    func missing(_ client: ProxyIdentity) -> String? {
        if !Self.isIn(self.users, client.user) { return Self.spelled("users", self.users) }
        return Self.isIn(self.tags, client.tag) ? nil : Self.spelled("tags", self.tags)
    }

    /// True if the client is one of them.
    package func contains(_ client: ProxyIdentity) -> Bool {
        Self.isIn(self.users, client.user) && Self.isIn(self.tags, client.tag)
    }

    private static func isIn(_ forms: [Glob], _ name: String?) -> Bool {
        if forms.isEmpty { return true }
        guard let name else { return false }
        return forms.contains { $0.matches(name) }
    }

    /// True if all clients of `other` are among these, as far as that is obvious.
    func covers(_ other: NamedClients) -> Bool {
        Self.covers(self.users, other.users) && Self.covers(self.tags, other.tags)
    }

    private static func covers(_ forms: [Glob], _ others: [Glob]) -> Bool {
        if forms.isEmpty { return true }
        return !others.isEmpty && others.allSatisfy { other in forms.contains { $0.covers(other) } }
    }
}

extension Optional<NamedClients> {
    /// True if the client is one of those that the rule is for; nil is for every client.
    func includes(_ client: ProxyIdentity) -> Bool { self?.contains(client) ?? true }

    /// True if all clients of `other` are among these, as far as that is obvious.
    func covers(_ other: NamedClients?) -> Bool {
        guard let self else { return true }
        return other.map(self.covers) ?? false
    }
}
