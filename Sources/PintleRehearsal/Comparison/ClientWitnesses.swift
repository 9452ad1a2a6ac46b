// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// Names of clients that stand for all clients as far as the rules of some configurations can tell; the first has none.
struct ClientWitnesses {
    /// The most clients.
    private static let most = 64

    private(set) var all = [ProxyIdentity()]
    /// False if there may be clients that the rules tell from these.
    private(set) var isComplete: Bool

    init(_ policies: [Policy]) {
        let rules = Set(policies.flatMap(\.namedClients))
        let users = PatternWitnesses(names: rules.flatMap(\.users))
        let tags = PatternWitnesses(names: rules.flatMap(\.tags))
        self.isComplete = users.isComplete && tags.isComplete
        // Clients that the same rules hold for are alike; none holds for a client without names.
        var seen: Set<[NamedClients]> = [[]]
        let ordered = rules.sorted { $0.description < $1.description }
        for user in [nil] + users.texts {
            for tag in [nil] + tags.texts {
                let client = ProxyIdentity(user: user, tag: tag)
                guard seen.insert(ordered.filter { $0.contains(client) }).inserted else { continue }
                guard self.all.count < Self.most else {
                    self.isComplete = false
                    return
                }
                self.all.append(client)
            }
        }
    }
}
