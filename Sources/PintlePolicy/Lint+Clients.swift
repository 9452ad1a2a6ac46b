// SPDX-License-Identifier: Apache-2.0

// Findings about rules for named clients.
extension Lint {
    /// Warns of denials for named clients that an earlier denial covers.
    var uselessDenials: [LintFinding] {
        let destinations = self.configuration.destinations
        // Without rules for named clients none is looked at.
        guard destinations.deny.contains(where: { $0.clients != nil }) else { return [] }
        let covers = DestinationCovers(destinations.deny, lists: [:])
        return zip(destinations.deny, covers.earlier).enumerated().compactMap { index, rule in
            let (entry, place) = rule
            guard entry.clients != nil, let earlier = place.map({ destinations.deny[$0] }) else { return nil }
            let name = "destinations.deny[\(index)]"
            return self.warning(
                destinations.places[name] ?? .start, name,
                "\(entry.quoted) is never used: \(earlier.quoted) comes first, and denies it to the same clients")
        }
    }

    /// Warns of names that no user of `clients.basic_auth` has.
    var unknownUsers: [LintFinding] {
        guard let users = self.configuration.clients.basicAuth?.users.names else { return [] }
        let known = Set(users.map { ArraySlice($0.utf8) })
        let destinations = self.configuration.destinations
        var rules: [(name: String, position: SourcePosition, clients: NamedClients?)] = []
        for (list, entries) in [("destinations.allow", destinations.allow), ("destinations.deny", destinations.deny)] {
            rules += entries.enumerated().map { index, entry in
                let name = "\(list)[\(index)]"
                return ("\(name).users", destinations.places[name] ?? .start, entry.clients)
            }
        }
        rules += self.configuration.routes.enumerated().map { index, route in
            ("routes[\(index)].match.users", route.position, route.match.clients)
        }
        return rules.flatMap { name, position, clients in
            (clients?.users ?? []).compactMap { user in
                let isKnown = user.isExact ? known.contains(user.beginning) : users.contains { user.matches($0) }
                guard !isKnown else { return nil }
                let words = user.isExact ? "is no user of clients.basic_auth" : "matches no user of clients.basic_auth"
                let hint = user.isExact ? user.description.hint(of: users) : ""
                return self.warning(position, name, "\"\(user)\" \(words)\(hint)")
            }
        }
    }
}
