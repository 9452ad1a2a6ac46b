// SPDX-License-Identifier: Apache-2.0

extension NamedClients {
    /// The longest form of a name in bytes, more than any program shows.
    private static let longestName = 256

    /// Reads `users` and `tags` of a rule.
    ///
    /// - Returns: nil if the rule is for every client, and after a fault was reported.
    init?(_ map: StrictMap) {
        let nodes = (users: map["users"], tags: map["tags"])
        if let node = nodes.users, !node.context.hasUsers {
            node.report("no client has a user without clients.basic_auth; configure it, or name tags")
        }
        guard let users = Self.names(nodes.users), let tags = Self.names(nodes.tags), !users.isEmpty || !tags.isEmpty
        else { return nil }
        self.init(users: users, tags: tags)
    }

    /// The names of a key, none if it is missing; nil after a fault was reported.
    private static func names(_ node: StrictNode?) -> [Glob]? {
        guard let node else { return [] }
        return node.values(Self.name)
    }

    private static func name(_ node: StrictNode) -> Glob? {
        node.parsed { text throws(Malformed) in
            guard !text.isEmpty else { throw Malformed("no client has an empty name; write \"*\" for any") }
            guard !text.contains(":") else {
                throw Malformed("a name has no colon, which ends it in Proxy-Authorization")
            }
            guard text.utf8.count <= Self.longestName else {
                throw Malformed("a form of a name has at most \(Self.longestName) bytes")
            }
            return Glob(text)
        }
    }
}
