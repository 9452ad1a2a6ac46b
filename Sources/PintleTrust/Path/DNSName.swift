// SPDX-License-Identifier: Apache-2.0

/// Bytes that matter when names are parsed.
enum ASCIIByte {
    static let dot = UInt8(ascii: ".")
    static let star = UInt8(ascii: "*")
    static let at = UInt8(ascii: "@")
    static let hyphen = UInt8(ascii: "-")
    static let underscore = UInt8(ascii: "_")

    static func lower(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }
}

/// A dNSName: labels in the preferred syntax (RFC 1034 §3.5), of which the leftmost may be a whole wildcard.
///
/// Underscores are accepted here, since hosts on private networks have them; `usesUnderscores` tells if there are any.
struct DNSName {
    /// The name without a leading `*.`.
    let withoutWildcard: [UInt8]
    let isWildcard: Bool

    /// Returns nil for text that is no DNS name: empty labels, other characters, 254 bytes or more, a wildcard elsewhere.
    init?(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= 253 else { return nil }
        let isWildcard = bytes.starts(with: [ASCIIByte.star, ASCIIByte.dot])
        let name = isWildcard ? Array(bytes.dropFirst(2)) : bytes
        guard DNSName.hasProperLabels(name) else { return nil }
        self.withoutWildcard = name
        self.isWildcard = isWildcard
    }

    var usesUnderscores: Bool { self.withoutWildcard.contains(ASCIIByte.underscore) }

    /// True if the last label is a number, decimal or hexadecimal, as in an address in dotted form. Such a name is no name
    /// of a host: resolvers read it as an address (WHATWG URL, "ends in a number").
    var looksLikeAddress: Bool {
        guard let last = self.withoutWildcard.split(separator: ASCIIByte.dot).last?.map(ASCIIByte.lower) else {
            return false
        }
        if last.starts(with: Array("0x".utf8)) {
            return last.dropFirst(2).allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        }
        return last.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func hasProperLabels(_ name: [UInt8]) -> Bool {
        name.split(separator: ASCIIByte.dot, omittingEmptySubsequences: false).allSatisfy { label in
            guard (1...63).contains(label.count), label.first != ASCIIByte.hyphen, label.last != ASCIIByte.hyphen else {
                return false
            }
            return label.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, ASCIIByte.hyphen, ASCIIByte.underscore: true
                default: false
                }
            }
        }
    }

    /// True for a whole name, which is not empty and does not begin with a dot.
    static func isProperHost(_ name: [UInt8]) -> Bool {
        self.hasProperLabels(name)
    }

    /// True for the base of a constraint: a name, an empty text for every name, or a name after a dot.
    static func isProperConstraint(_ base: [UInt8]) -> Bool {
        guard !base.isEmpty else { return true }
        return self.hasProperLabels(base.first == ASCIIByte.dot ? Array(base.dropFirst()) : base)
    }

    /// True if the name is the base, or the base with labels added on the left.
    ///
    /// If the base begins with a dot, at least one label must be added.
    static func isName(_ name: [UInt8], within base: [UInt8]) -> Bool {
        guard let first = base.first else { return true }
        if first == ASCIIByte.dot { return self.ends(name, with: base) }
        return self.isEqual(name, base) || self.ends(name, with: [ASCIIByte.dot] + base)
    }

    /// True if a host of a mailbox or URI lies within the base; here a base without a leading dot stands for that host
    /// alone.
    static func isHost(_ host: [UInt8], within base: [UInt8]) -> Bool {
        guard let first = base.first else { return true }
        return first == ASCIIByte.dot ? self.ends(host, with: base) : self.isEqual(host, base)
    }

    /// True if `name` is `parent` with exactly one label added.
    static func isChild(_ name: [UInt8], of parent: [UInt8]) -> Bool {
        guard self.ends(name, with: [ASCIIByte.dot] + parent) else { return false }
        return !name.dropLast(parent.count + 1).contains(ASCIIByte.dot)
    }

    /// True if the names are equal, ignoring the letter case of ASCII.
    static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && self.ends(left, with: right)
    }

    private static func ends(_ name: [UInt8], with end: [UInt8]) -> Bool {
        guard name.count >= end.count else { return false }
        return zip(name.suffix(end.count), end).allSatisfy { ASCIIByte.lower($0) == ASCIIByte.lower($1) }
    }
}

/// A network of addresses: an address and a mask of leading ones.
struct AddressRange {
    private let address: [UInt8]
    private let mask: [UInt8]

    /// - Parameter bytes: the address and the mask, 8 bytes for IPv4, 32 for IPv6 (RFC 5280 §4.2.1.10).
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 8 || bytes.count == 32 else { return nil }
        self.address = Array(bytes.prefix(bytes.count / 2))
        self.mask = Array(bytes.suffix(bytes.count / 2))
        // Bytes of ones, then one byte that may have both, then zeros.
        let rest = self.mask.drop { $0 == 0xFF }
        guard let border = rest.first else { return }
        guard (~border & (~border &+ 1)) == 0, rest.dropFirst().allSatisfy({ $0 == 0 }) else { return nil }
    }

    func contains(_ other: IPAddressName) -> Bool {
        guard other.bytes.count == self.address.count else { return false }
        return self.address.indices.allSatisfy { other.bytes[$0] & self.mask[$0] == self.address[$0] & self.mask[$0] }
    }
}

/// The host of a URI in the form that name constraints compare (RFC 3986 §3.2.2).
struct URIHost {
    /// The host name; nil if the URI has no host, or an address, to which no constraint on URIs can apply.
    let name: [UInt8]?

    init(_ uri: [UInt8]) {
        guard let colon = uri.firstIndex(of: UInt8(ascii: ":")),
            uri[colon...].starts(with: Array("://".utf8))
        else {
            self.name = nil
            return
        }
        let rest = uri[(colon + 3)...]
        let end: [UInt8] = Array("/?#".utf8)
        var authority = rest.prefix { !end.contains($0) }
        if let at = authority.lastIndex(of: ASCIIByte.at) { authority = authority[(at + 1)...] }
        let host = Array(authority.prefix { $0 != UInt8(ascii: ":") })
        guard let name = DNSName(host), !name.isWildcard, !name.looksLikeAddress else {
            self.name = nil
            return
        }
        self.name = host
    }
}
