// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// Host patterns compiled for look-up: finds the lowest number with a pattern that matches an authority.
///
/// Exact names, suffixes and networks are found by hashing, so a thousand patterns cost no more than one. Networks are looked
/// up once for each length of prefix that they have, and only for hosts that are addresses. A look-up allocates nothing.
package struct HostIndex: Sendable {
    /// A pattern's number, which is its rank, and its port.
    private struct Entry: Sendable {
        let number: Int
        let port: UInt16?
    }

    private var exact: [String: [Entry]] = [:]
    private var suffixes: [Substring: [Entry]] = [:]
    private var everywhere: [Entry] = []
    private var networks: [CIDR: [Entry]] = [:]
    private var prefixes = PrefixLengths()

    /// Makes an empty index.
    package init() {}

    /// True if a pattern for networks was inserted.
    package var hasNetworks: Bool { !self.networks.isEmpty }

    /// Adds a pattern under `number`. Numbers must not decrease from one call to the next.
    package mutating func insert(_ pattern: HostPattern, number: Int) {
        let entry = Entry(number: number, port: pattern.port)
        switch pattern.host {
        case .exact(let name): self.exact[name, default: []].append(entry)
        case .suffix(let suffix): self.suffixes[Substring(suffix), default: []].append(entry)
        case .any: self.everywhere.append(entry)
        case .network(let network):
            self.networks[network, default: []].append(entry)
            self.prefixes.insert(network)
        }
    }

    /// Adds every host on every port under `number`.
    package mutating func insertEverywhere(number: Int) {
        self.everywhere.append(Entry(number: number, port: nil))
    }

    /// The lowest number that `accepts` takes and that has a pattern that matches `authority`; nil if there is none.
    ///
    /// `accepts` is called for matching numbers only, in rising order for equal patterns, and never for numbers above one that it
    /// has taken.
    package func first(_ authority: Authority, where accepts: (Int) -> Bool) -> Int? {
        var best: Int?
        if !self.exact.isEmpty, let entries = self.exact[authority.host] {
            Self.scan(entries, authority.port, &best, accepts)
        }
        if !self.suffixes.isEmpty { self.scanSuffixes(authority, &best, accepts) }
        if !self.networks.isEmpty, let address = IPAddress(authority.host) {
            self.scanNetworks(address, authority.port, &best, accepts)
        }
        Self.scan(self.everywhere, authority.port, &best, accepts)
        return best
    }

    /// The number of patterns that ``first(_:where:)`` may have to look at.
    func patternCount(for authority: Authority) -> Int {
        var count = self.everywhere.count + (self.exact[authority.host]?.count ?? 0)
        let host = authority.host
        var rest = host[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[host.utf8.index(after: dot)...]
            count += self.suffixes[rest]?.count ?? 0
        }
        guard !self.networks.isEmpty, let address = IPAddress(host) else { return count }
        self.prefixes.forEachNetwork(holding: CIDR(address)) { count += self.networks[$0]?.count ?? 0 }
        return count
    }

    /// The numbers of all patterns that match `authority`, each once, in rising order.
    package func all(_ authority: Authority) -> [Int] {
        var numbers: [Int] = []
        // No number is taken, so that all are looked at.
        _ = self.first(authority) { number in
            numbers.append(number)
            return false
        }
        return Set(numbers).sorted()
    }

    /// The lowest number that `accepts` takes and that has a network that holds `address`; nil if there is none.
    package func firstNetwork(containing address: IPAddress, port: UInt16, where accepts: (Int) -> Bool) -> Int? {
        var best: Int?
        self.scanNetworks(address, port, &best, accepts)
        return best
    }

    private func scanSuffixes(_ authority: Authority, _ best: inout Int?, _ accepts: (Int) -> Bool) {
        let host = authority.host
        var rest = host[...]
        while let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[host.utf8.index(after: dot)...]
            if let entries = self.suffixes[rest] { Self.scan(entries, authority.port, &best, accepts) }
        }
    }

    private func scanNetworks(
        _ address: IPAddress, _ port: UInt16, _ best: inout Int?, _ accepts: (Int) -> Bool
    ) {
        self.prefixes.forEachNetwork(holding: CIDR(address)) { network in
            if let entries = self.networks[network] { Self.scan(entries, port, &best, accepts) }
        }
    }

    private static func scan(_ entries: [Entry], _ port: UInt16, _ best: inout Int?, _ accepts: (Int) -> Bool) {
        for entry in entries {
            if let best, entry.number >= best { return }
            guard entry.port == nil || entry.port == port else { continue }
            if accepts(entry.number) { best = entry.number }
        }
    }
}
