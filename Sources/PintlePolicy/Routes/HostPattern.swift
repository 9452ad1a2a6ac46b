// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The authorities that a rule applies to: a name, `*.suffix`, `*`, or a network, each with an optional port.
///
/// Deliberately no regular expressions: an unanchored one allows `api.example.com.evil.test`.
package struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    /// The part before the port.
    package enum Host: Sendable, Hashable {
        /// A registered name in lower case.
        case exact(String)
        /// One or more labels before this name, which has no leading dot.
        case suffix(String)
        /// Any host.
        case any
        /// A literal address of this network; for destinations also the address that is dialled.
        case network(CIDR)
    }

    /// The hosts that match.
    package let host: Host
    /// The only port that matches; nil for every port.
    package let port: UInt16?
    /// True for `tcp://HOST:PORT`, which lets every protocol through, also one that Pintle cannot read.
    package let takesAnyProtocol: Bool
    /// The pattern as the configuration spells it; reasons quote it.
    package let description: String

    /// Reads a pattern.
    ///
    /// - Throws: the reason, for anything that is not one of the forms above.
    package init(_ text: String) throws(Malformed) {
        guard !text.isEmpty else { throw Malformed("a host pattern is not empty") }
        guard !text.contains("://") else {
            throw Malformed("a host pattern has no scheme: give the host alone, as in api.example.com")
        }
        let (host, port) = try Self.splitPort(text)
        self.init(host: try Self.parseHost(host), port: port, takesAnyProtocol: false, description: text)
    }

    /// Reads the pattern of an allowed destination: one of the forms above, or `tcp://HOST:PORT` with one of them.
    ///
    /// - Throws: as above, and for `tcp://` without a port: a host is not trusted with every protocol on every port.
    package init(destination text: String) throws(Malformed) {
        guard text.hasPrefix("tcp://") else {
            try self.init(text)
            return
        }
        let plain = try HostPattern(String(text.dropFirst("tcp://".count)))
        guard let port = plain.port else {
            throw Malformed("tcp:// is followed by a host and a port, as in tcp://db.example.com:5432")
        }
        self.init(host: plain.host, port: port, takesAnyProtocol: true, description: text)
    }

    private init(host: Host, port: UInt16?, takesAnyProtocol: Bool, description: String) {
        (self.host, self.port, self.takesAnyProtocol) = (host, port, takesAnyProtocol)
        self.description = description
    }

    /// The network, if the pattern is about addresses. A name has no address before it is dialled.
    package var network: CIDR? {
        if case .network(let network) = self.host { network } else { nil }
    }

    /// The pattern for the same hosts on every port.
    package var onEveryPort: HostPattern {
        let text =
            switch self.host {
            case .exact(let name): name
            case .suffix(let suffix): "*.\(suffix)"
            case .any: "*"
            case .network(let network): "\(network)"
            }
        return HostPattern(host: self.host, port: nil, takesAnyProtocol: false, description: text)
    }

    /// True if `authority` matches. Tables use ``HostIndex`` instead, which does not try every pattern.
    package func matches(_ authority: Authority) -> Bool {
        guard self.port == nil || self.port == authority.port else { return false }
        switch self.host {
        case .any: return true
        case .exact(let name): return authority.host == name
        case .suffix(let suffix):
            // One or more labels: something stands before the dot.
            let host = authority.host.utf8
            guard host.count > suffix.utf8.count + 1, authority.host.hasSuffix(suffix) else { return false }
            return host[host.index(host.endIndex, offsetBy: -suffix.utf8.count - 1)] == UInt8(ascii: ".")
        case .network(let network):
            return IPAddress(authority.host).map(network.contains) ?? false
        }
    }

    /// True if every authority that `other` matches is matched, too.
    package func covers(_ other: HostPattern) -> Bool {
        guard self.port == nil || self.port == other.port else { return false }
        switch (self.host, other.host) {
        case (.any, _): return true
        case (.exact(let name), .exact(let otherName)): return name == otherName
        case (.suffix(let suffix), .exact(let name)), (.suffix(let suffix), .suffix(let name)):
            if case .suffix = other.host, name == suffix { return true }
            return name.hasSuffix("." + suffix)
        case (.network(let network), .network(let otherNetwork)): return network.contains(otherNetwork)
        case (.exact, _), (.suffix, _), (.network, _): return false
        }
    }

    /// Separates `:port`. An IPv6 address or network with a port is in brackets.
    private static func splitPort(_ text: String) throws(Malformed) -> (host: Substring, port: UInt16?) {
        let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { throw Malformed("the bracket is not closed") }
            let address = text[text.index(after: text.startIndex)..<close]
            guard address.contains(":") else { throw Malformed("only IPv6 addresses stand in brackets") }
            let rest = text[text.index(after: close)...]
            if rest.isEmpty { return (address, nil) }
            // [2001:db8::]/32 and [2001:db8::]/32:443 are accepted beside [2001:db8::/32]:443.
            if rest.hasPrefix("/"), !address.contains("/") {
                let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                let port = parts.count == 2 ? try Self.parsePort(parts[1]) : nil
                return (Substring(String(address) + String(parts[0])), port)
            }
            guard rest.hasPrefix(":") else { throw Malformed("after the bracket comes :port or nothing") }
            return (address, try Self.parsePort(rest.dropFirst()))
        }
        guard colons == 1, let colon = text.firstIndex(of: ":") else { return (Substring(text), nil) }
        return (text[..<colon], try Self.parsePort(text[text.index(after: colon)...]))
    }

    private static func parsePort(_ text: Substring) throws(Malformed) -> UInt16 {
        guard text.utf8.count <= 5, text.utf8.allSatisfy(ASCII.isDigit), let port = UInt16(text), port > 0 else {
            throw Malformed("a port is a number from 1 to 65535")
        }
        return port
    }

    private static func parseHost(_ text: Substring) throws(Malformed) -> Host {
        if text == "*" { return .any }
        let stem = text.prefix { $0 != "/" }
        if stem.count < text.count, !stem.contains(":"), stem.contains(where: \.isLetter) {
            throw Malformed("a host pattern has no path: give the host alone, as in api.example.com")
        }
        if text.contains("/") || text.contains(":") || IPAddress(text) != nil { return .network(try CIDR(text)) }
        let isSuffix = text.hasPrefix("*.")
        if text.dropFirst(isSuffix ? 1 : 0).contains("*") {
            throw Malformed("a star stands alone or for the first labels, as in *.example.com; nowhere else")
        }
        return isSuffix ? .suffix(try Self.parseName(text.dropFirst(2))) : .exact(try Self.parseName(text))
    }

    private static func parseName(_ text: Substring) throws(Malformed) -> String {
        // Uses the reader for requests, so that both sides are in the same normal form. A browser would read a name that ends
        // in a number as an address, so such a name can only be a mistake.
        let name = Authority(text, defaultPort: 1)?.host
        if name.map({ IPAddress($0) != nil }) ?? Self.endsInNumber(text) {
            throw Malformed("neither an IPv4 address, as in 10.0.0.1, nor a host name")
        }
        guard let name, !name.contains("..") else {
            throw Malformed(
                "not a host name: letters, digits, - . _ only; patterns are exact, *.suffix, * or a network, "
                    + "never regular expressions")
        }
        return name
    }

    private static func endsInNumber(_ text: Substring) -> Bool {
        text.split(separator: ".").last?.utf8.allSatisfy(ASCII.isDigit) ?? false
    }
}
