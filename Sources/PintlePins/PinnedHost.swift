// SPDX-License-Identifier: Apache-2.0

package import PintlePolicy

/// The hosts that pins are for: a name, and some or all names below it.
package struct PinnedHost: Sendable, Hashable {
    /// The names that belong to the host.
    package enum Scope: Int, Sendable, Hashable {
        /// The name alone.
        case itself
        /// The name and everything below it.
        case itselfAndBelow
        /// Everything below the name, not the name.
        case below
        /// The names one label below the name.
        case oneLabelBelow
    }

    /// The name in place of an unknown host. It can never be reached (RFC 2606 §2).
    package static let unknown = "host.invalid"

    /// The name in lower case, an address, a network, or `*`.
    package var name: String
    package var scope: Scope
    /// The only port; nil for every port.
    package var port: UInt16?

    package init(_ name: String, _ scope: Scope = .itself, port: UInt16? = nil) {
        self.name = name
        self.scope = scope
        self.port = port
    }

    /// Reads a host pattern of the configuration, or `+.name` for one label below a name.
    ///
    /// - Returns: nil if the text is no pattern.
    package init?(_ text: some StringProtocol) {
        let isOneLabel = text.hasPrefix("+.")
        let spelling = isOneLabel ? "*\(text.dropFirst())" : String(text)
        guard let pattern = try? HostPattern(spelling) else { return nil }
        self.init(pattern)
        if isOneLabel {
            guard self.scope == .below else { return nil }
            self.scope = .oneLabelBelow
        }
    }

    package init(_ pattern: HostPattern) {
        switch pattern.host {
        case .exact(let name): self.init(name, .itself, port: pattern.port)
        case .suffix(let name): self.init(name, .below, port: pattern.port)
        case .any: self.init("*", .itself, port: pattern.port)
        case .network(let network):
            // A network of one address is that address.
            let text = "\(network)"
            let address = text.split(separator: "/")
            let isOne = address.count == 2 && address[1] == (text.contains(":") ? "128" : "32")
            self.init(isOne ? String(address[0]) : text, .itself, port: pattern.port)
        }
    }

    /// True if it is a name that can have names below it, not `*`, an address or a network.
    package var isName: Bool {
        guard let pattern = try? HostPattern(self.name), case .exact = pattern.host else { return false }
        return true
    }

    /// True if the name stands for a single host, not for a network or for all hosts.
    var isOne: Bool { self.name != "*" && !self.name.contains("/") }

    /// The host's patterns in a configuration: two patterns for a name and everything below it.
    package var spellings: [String] {
        let host = self.name.contains(":") && self.port != nil ? "[\(self.name)]" : self.name
        let port = self.port.map { ":\($0)" } ?? ""
        switch self.scope {
        case .itself: return [host + port]
        case .below: return ["*.\(host)\(port)"]
        case .itselfAndBelow: return [host + port, "*.\(host)\(port)"]
        case .oneLabelBelow: return ["+.\(host)\(port)"]
        }
    }

    /// Returns each host once; a name and everything below it become one.
    static func merged(_ hosts: [PinnedHost]) -> [PinnedHost] {
        var order: [PinnedHost] = []
        var scopes: [PinnedHost: Set<Scope>] = [:]
        for host in hosts {
            let name = PinnedHost(host.name, port: host.port)
            if scopes[name] == nil { order.append(name) }
            scopes[name, default: []].insert(host.scope)
        }
        return order.flatMap { name in
            Self.merged(scopes[name] ?? []).map { PinnedHost(name.name, $0, port: name.port) }
        }
    }

    /// Returns the fewest scopes with this meaning.
    private static func merged(_ scopes: Set<Scope>) -> [Scope] {
        if scopes.contains(.itselfAndBelow) || scopes.isSuperset(of: [.itself, .below]) { return [.itselfAndBelow] }
        let rest = scopes.contains(.below) ? scopes.subtracting([.oneLabelBelow]) : scopes
        return rest.sorted { $0.rawValue < $1.rawValue }
    }
}

extension PinnedHost: Comparable {
    /// The order by name, then port, then scope.
    package static func < (left: PinnedHost, right: PinnedHost) -> Bool {
        (left.name, left.port ?? 0, left.scope.rawValue) < (right.name, right.port ?? 0, right.scope.rawValue)
    }
}
