// SPDX-License-Identifier: Apache-2.0

/// The constraints on names that an authority may certify (RFC 5280 §4.2.1.10).
struct NameConstraints {
    /// The result of checking a name against the constraints.
    enum Ruling: Equatable {
        case allowed
        case forbidden
        /// The name, or a constraint of its form, cannot be compared; that is not permission.
        case incomparable
    }

    private let permitted: [GeneralName]
    private let excluded: [GeneralName]
    /// True if a DNS constraint begins with a dot: RFC 5280 has no such form, but it is in use for "names below, not the
    /// name itself".
    let usesLeadingDots: Bool

    /// Returns the cost of comparing a name with all constraints, in comparisons; long names count for more than one.
    func cost(of name: GeneralName) -> Int {
        let comparisons = self.permitted.count + self.excluded.count
        let (cost, overflow) = comparisons.multipliedReportingOverflow(by: 1 + name.size / 256)
        return overflow ? Int.max / 2 : cost
    }

    /// - Throws: for an extension without constraints, for a minimum or maximum, and for a base that is no name.
    init(_ bytes: ArraySlice<UInt8>) throws(DERError) {
        var fields = try DERReader(sequence: bytes)
        let permitted = try fields.optional(DERTag.constructed(0))
        let excluded = try fields.optional(DERTag.constructed(1))
        try fields.end()
        self.permitted = try permitted.map { (element) throws(DERError) in try Self.subtrees(element.elements) } ?? []
        let trees = try excluded.map { (element) throws(DERError) in try Self.subtrees(element.elements) } ?? []
        self.excluded = trees + trees.compactMap(Self.mapped)
        guard !self.permitted.isEmpty || !self.excluded.isEmpty else { throw DERError() }
        self.usesLeadingDots = (self.permitted + self.excluded).contains { base in
            if case .dns(let name) = base { name.first == ASCIIByte.dot } else { false }
        }
    }

    private static func subtrees(_ list: DERReader) throws(DERError) -> [GeneralName] {
        var list = list
        var bases: [GeneralName] = []
        while !list.isAtEnd {
            var subtree = try list.next(DERTag.sequence).elements
            let base = try GeneralName(try subtree.next())
            // Bases with a minimum or maximum are refused, which RFC 5280 does not use.
            try subtree.end()
            guard Self.isProper(base) else { throw DERError() }
            bases.append(base)
        }
        return bases
    }

    /// Returns the IPv4 network for a network of IPv4 addresses in IPv6's notation; nil for any other base.
    private static func mapped(_ base: GeneralName) -> GeneralName? {
        guard case .address(let bytes) = base, bytes.count == 32, bytes.starts(with: IPAddressName.mappedPrefix),
            bytes[16..<28].allSatisfy({ $0 == 0xFF })
        else { return nil }
        return .address(Array(bytes[12..<16] + bytes[28...]))
    }

    /// True if the base is well formed.
    private static func isProper(_ base: GeneralName) -> Bool {
        switch base {
        case .dns(let name): return DNSName.isProperConstraint(name)
        case .address(let bytes): return AddressRange(bytes) != nil
        case .email(let text):
            guard let at = text.firstIndex(of: ASCIIByte.at) else { return DNSName.isProperConstraint(text) }
            // A whole mailbox: its host must not begin with a dot, which would mean names below it.
            return Self.isProperMailboxName(text[..<at]) && DNSName.isProperHost(Array(text[(at + 1)...]))
        case .uri(let host): return DNSName.isProperConstraint(host)
        case .directory, .unknown: return true
        }
    }

    /// True if the part before a mailbox's host is words with dots between them (RFC 5321 §4.1.2, Dot-string).
    private static func isProperMailboxName(_ name: ArraySlice<UInt8>) -> Bool {
        let symbols = Set("!#$%&'*+-/=?^_`{|}~".utf8)
        return name.split(separator: ASCIIByte.dot, omittingEmptySubsequences: false).allSatisfy { word in
            !word.isEmpty
                && word.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                    default: symbols.contains(byte)
                    }
                }
        }
    }

    /// - Returns: the strictest ruling if an address can be read in two ways.
    func ruling(on name: GeneralName) -> Ruling {
        let ruling = self.ruling(onReading: name)
        guard ruling == .allowed, case .address(let bytes) = name, let mapped = IPAddressName(bytes: bytes)?.mapped,
            self.speaksOfIPv4
        else { return ruling }
        return self.ruling(onReading: .address(mapped.bytes))
    }

    private var speaksOfIPv4: Bool {
        (self.permitted + self.excluded).contains { base in
            if case .address(let range) = base { range.count == 8 } else { false }
        }
    }

    private func ruling(onReading name: GeneralName) -> Ruling {
        for base in self.excluded where base.form == name.form {
            switch Self.relation(of: name, to: base) {
            case .inside, .overlapping: return .forbidden
            case .unknown: return .incomparable
            case .outside: break
            }
        }
        var isConstrained = false
        for base in self.permitted where base.form == name.form {
            switch Self.relation(of: name, to: base) {
            case .inside: return .allowed
            case .unknown: return .incomparable
            case .outside, .overlapping: isConstrained = true
            }
        }
        return isConstrained ? .forbidden : .allowed
    }

    /// The position of a name relative to a subtree. A wildcard stands for many names, of which some may lie inside.
    private enum Relation {
        case inside, outside, overlapping, unknown
    }

    private static func relation(of name: GeneralName, to base: GeneralName) -> Relation {
        switch (name, base) {
        case (.dns(let name), .dns(let base)): return self.relation(ofDNS: name, to: base)
        case (.address(let bytes), .address(let range)):
            guard let address = IPAddressName(bytes: bytes), let range = AddressRange(range) else { return .unknown }
            return range.contains(address) ? .inside : .outside
        case (.directory(let name), .directory(let tree)): return name.isWithin(tree) ? .inside : .outside
        case (.email(let mailbox), .email(let base)): return self.relation(ofMailbox: mailbox, to: base)
        case (.uri(let uri), .uri(let base)):
            guard let host = URIHost(uri).name else { return .unknown }
            return DNSName.isHost(host, within: base) ? .inside : .outside
        default: return .unknown
        }
    }

    private static func relation(ofDNS name: [UInt8], to base: [UInt8]) -> Relation {
        guard let labels = DNSName(name) else { return .unknown }
        if DNSName.isName(labels.withoutWildcard, within: base) {
            // `*.a` is inside `.a`, although `a` is not.
            return .inside
        }
        guard labels.isWildcard else { return .outside }
        if base.first == ASCIIByte.dot, DNSName.isEqual(Array(base.dropFirst()), labels.withoutWildcard) {
            return .inside
        }
        // `*.example.com` would also certify `bar.example.com`.
        return DNSName.isChild(base.first == ASCIIByte.dot ? Array(base.dropFirst()) : base, of: labels.withoutWildcard)
            ? .overlapping : .outside
    }

    private static func relation(ofMailbox mailbox: [UInt8], to base: [UInt8]) -> Relation {
        guard let at = mailbox.firstIndex(of: ASCIIByte.at), at > 0, mailbox.lastIndex(of: ASCIIByte.at) == at else {
            return .unknown
        }
        let host = Array(mailbox[(at + 1)...])
        // A mailbox is at one host: a wildcard is no name here, and neither inside nor outside of any subtree.
        guard let name = DNSName(host), !name.isWildcard else { return .unknown }
        guard let baseAt = base.lastIndex(of: ASCIIByte.at) else {
            return DNSName.isHost(host, within: base) ? .inside : .outside
        }
        let isSame =
            mailbox[..<at] == base[..<baseAt] && DNSName.isEqual(host, Array(base[(baseAt + 1)...]))
        return isSame ? .inside : .outside
    }
}
