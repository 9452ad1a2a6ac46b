// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The variable `no_proxy`, understood as curl does: words between commas and blanks.
///
/// A name stands for itself and its subdomains, with or without a dot before it. Addresses and networks apply only to hosts
/// that the request names by address. A star alone stands for everything; a word with a port for nothing.
package struct EnvironmentExceptions: Sendable, Equatable {
    /// The words, as the variable has them.
    let words: [String]
    /// `no_proxy` or `NO_PROXY`.
    private let variable: String

    /// The places of the words, by the names that they stand for: a name's first place.
    private var names: [Substring: Int] = [:]
    private var networks = NetworkTable()

    init(_ text: String, variable: String) {
        self.words = text.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
        self.variable = variable
        for (number, word) in self.words.enumerated() {
            if let network = Self.network(word) { self.networks.insert(network, number: number) }
            let name = Self.name(word)
            if !name.isEmpty, self.names[name] == nil { self.names[name] = number }
        }
    }

    /// The word that matches a host, for the log; nil if none does.
    ///
    /// A look-up costs the same however many words there are.
    func rule(for authority: Authority) -> String? {
        if self.words == ["*"] { return "\(self.variable) \"*\"" }
        let match: Int?
        if let address = IPAddress(authority.host) {
            match = self.networks.first(containing: address)
        } else {
            match = self.first(naming: authority.host)
        }
        return match.map { "\(self.variable) \"\(self.words[$0].excerpt)\"" }
    }

    /// The place of the first word for the name itself, or for a name that it is below.
    private func first(naming host: String) -> Int? {
        var best = self.names[host[...]]
        for dot in host.utf8.indices where host.utf8[dot] == UInt8(ascii: ".") {
            guard let number = self.names[host[host.utf8.index(after: dot)...]] else { continue }
            best = min(best ?? number, number)
        }
        return best
    }

    private static func name(_ word: String) -> Substring {
        var name = word.lowercased()[...]
        if name.hasSuffix(".") { name = name.dropLast() }
        if name.hasPrefix(".") { name = name.dropFirst() }
        return name
    }

    /// Reads an address or a network. Like curl, ignores bits beyond the prefix.
    private static func network(_ word: String) -> CIDR? {
        let parts = word.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(parts[0].trimmingBrackets) else { return nil }
        guard parts.count == 2 else { return CIDR(address) }
        guard let bits = Int(parts[1]), (0...address.bitCount).contains(bits) else { return nil }
        return CIDR(masking: address, prefixLength: bits)
    }
}

extension Substring {
    /// An IPv6 address without its brackets.
    fileprivate var trimmingBrackets: Substring {
        self.hasPrefix("[") && self.hasSuffix("]") ? self.dropFirst().dropLast() : self
    }
}
