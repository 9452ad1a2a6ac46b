// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A list of rules about destinations, with the means to find the first that covers a pattern or another rule without trying each.
///
/// Useless rules are compared with no later one: the rule that covers such a one also covers all that it would cover.
struct DestinationCovers {
    /// For each rule the place of the first before it that covers it; nil if none does.
    private(set) var earlier: [Int?] = []
    /// The number of pairs of rules that were compared.
    private(set) var compared = 0

    private let entries: [DestinationEntry]
    private var hosts = CoverTable()
    private var clients = ClientCovers()
    /// The lists of hosts, with the places of their rules, which rise.
    private var lists: [(number: Int, hosts: HostList)] = []

    /// - Parameter lists: the lists of hosts, by their names.
    init(_ entries: [DestinationEntry], lists: [String: HostList]) {
        self.entries = entries
        for (number, entry) in entries.enumerated() {
            let found = self.first(covering: entry.subject, for: entry.clients)
            self.earlier.append(found)
            guard found == nil else { continue }
            self.hosts.insert([entry.subject], rule: number)
            self.clients.insert(entry.clients, rule: number)
            if let name = entry.list, let hosts = lists[name] { self.lists.append((number, hosts)) }
        }
    }

    /// The first rule that decides about all requests of the clients for which a pattern matches, as decisions name it; nil if there
    /// is none.
    mutating func rule(covering pattern: HostPattern, for clients: NamedClients?) -> String? {
        let number = self.first(covering: .pattern(pattern), for: clients)
        for list in self.lists {
            if let number, number < list.number { break }
            let rule = self.entries[list.number]
            guard rule.clients.covers(clients), let entry = list.hosts.first(covering: pattern) else { continue }
            return "\(rule.quoted) with \"\(list.hosts.text(of: entry))\" in line \(list.hosts.line(of: entry))"
        }
        return number.map { self.entries[$0].quoted }
    }

    /// The first rule with the same list, or with a pattern that covers the one of `subject`, for all of the clients.
    private mutating func first(covering subject: DestinationEntry.Subject, for clients: NamedClients?) -> Int? {
        let keys = self.hosts.keys(covering: subject)
        let candidates = [self.hosts.candidates(keys)] + self.clients.candidates(covering: clients)
        var compared = 0
        let found = candidates.min { $0.count < $1.count }?.first { number in
            compared += 1
            return self.entries[number].clients.covers(clients) && self.hosts.has(keys, rule: number)
        }
        self.compared += compared
        return found
    }
}
