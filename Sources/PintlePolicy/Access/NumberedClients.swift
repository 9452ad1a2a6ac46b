// SPDX-License-Identifier: Apache-2.0

internal import PintleSession

/// The clients that rules are for, each once, with their numbers. The numbers for a client are found by hashing its names, as far as
/// rules have whole names.
struct NumberedClients: Sendable {
    /// The clients; the place of each is its number.
    private var all: [NamedClients] = []
    private var numbers: [NamedClients: Int] = [:]
    /// The numbers, by whole names of users, else of tags.
    private var byUser: [String: [Int]] = [:]
    private var byTag: [String: [Int]] = [:]
    /// The numbers of those that names are compared with.
    private var others: [Int] = []

    /// True if there are none.
    var isEmpty: Bool { self.all.isEmpty }

    /// The number of the clients, which are added if they are new.
    mutating func number(of clients: NamedClients) -> Int {
        if let number = self.numbers[clients] { return number }
        let number = self.all.count
        self.numbers[clients] = number
        self.all.append(clients)
        if !clients.users.isEmpty, clients.users.allSatisfy(\.isExact) {
            for user in Set(clients.users) { self.byUser[user.description, default: []].append(number) }
        } else if !clients.tags.isEmpty, clients.tags.allSatisfy(\.isExact) {
            for tag in Set(clients.tags) { self.byTag[tag.description, default: []].append(number) }
        } else {
            self.others.append(number)
        }
        return number
    }

    /// The numbers of those that a client is one of.
    func rights(of client: ProxyIdentity) -> ClientRights {
        var numbers = self.others
        if let user = client.user { numbers += self.byUser[user] ?? [] }
        if let tag = client.tag { numbers += self.byTag[tag] ?? [] }
        return ClientRights(rules: numbers.filter { self.all[$0].contains(client) }.sorted())
    }
}
