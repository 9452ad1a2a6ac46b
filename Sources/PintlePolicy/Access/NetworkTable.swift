// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Numbered networks, of which the first that holds an address is found by hashing, however many there are.
struct NetworkTable: Sendable, Equatable {
    private var numbers: [CIDR: Int] = [:]
    private var prefixes = PrefixLengths()

    /// Adds a network. Numbers must not decrease; of equal networks the first counts.
    mutating func insert(_ network: CIDR, number: Int) {
        guard self.numbers[network] == nil else { return }
        self.numbers[network] = number
        self.prefixes.insert(network)
    }

    /// The lowest number of a network that holds the address; nil if none does.
    func first(containing address: IPAddress) -> Int? {
        var best: Int?
        self.prefixes.forEachNetwork(holding: CIDR(address)) { network in
            if let number = self.numbers[network] { best = min(best ?? number, number) }
        }
        return best
    }
}
