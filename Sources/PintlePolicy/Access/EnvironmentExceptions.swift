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

    init(_ text: String, variable: String) {
        self.words = text.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
        self.variable = variable
    }

    /// The word that matches a host, for the log; nil if none does.
    func rule(for authority: Authority) -> String? {
        if self.words == ["*"] { return "\(self.variable) \"*\"" }
        let address = IPAddress(authority.host)
        let match = self.words.first { word in
            address.map { Self.network(word)?.contains($0) ?? false } ?? Self.names(word, authority.host)
        }
        return match.map { "\(self.variable) \"\($0.excerpt)\"" }
    }

    private static func names(_ word: String, _ host: String) -> Bool {
        var name = word.lowercased()[...]
        if name.hasSuffix(".") { name = name.dropLast() }
        if name.hasPrefix(".") { name = name.dropFirst() }
        return !name.isEmpty && (host == name || host.hasSuffix("." + name))
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
