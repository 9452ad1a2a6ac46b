// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy

/// Patterns of lists of hosts that stand for all of their entries, as far as there are not too many.
struct ListWitnesses {
    /// The most entries of a list that are tried, and the most of them that are networks.
    private static let (mostEntries, mostNetworks) = (10_000, 500)

    /// The lists that rules name, those of one configuration after those of the other.
    private(set) var lists: [HostList] = []
    /// The patterns of entries about names.
    private(set) var names: [HostPattern] = []
    private(set) var networks: [CIDR] = []
    /// False if there are more entries.
    private(set) var isComplete = true

    init(_ policies: [Policy]) {
        let tables = policies.map(\.configuration.hostLists)
        for (side, policy) in policies.enumerated() {
            let others = tables.indices.filter { $0 != side }
            for name in Set(policy.configuration.destinations.lists).sorted() {
                guard let list = tables[side][name] else { continue }
                self.lists.append(list)
                self.add(list, comparedWith: others.map { tables[$0][name] ?? HostList() })
            }
        }
    }

    private mutating func add(_ list: HostList, comparedWith others: [HostList]) {
        let missing = (0..<list.count).filter { number in others.contains { !$0.contains(number, of: list) } }
        let known = (0..<list.count).lazy.filter { number in others.allSatisfy { $0.contains(number, of: list) } }
        var (entries, networks) = (0, 0)
        for number in missing + known.prefix(Self.mostEntries + 1) {
            guard entries < Self.mostEntries, networks < Self.mostNetworks else {
                self.isComplete = false
                return
            }
            entries += 1
            for pattern in list.patterns(of: number) {
                if let network = pattern.network {
                    networks += 1
                    self.networks.append(network)
                } else {
                    self.names.append(pattern)
                }
            }
        }
    }
}
