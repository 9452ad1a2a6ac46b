// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The entries of a list of hosts, compiled for look-up.
///
/// A list may have hundreds of thousands of entries, and others may write it. So an entry is 12 bytes and its name in one
/// array, with 4 bytes for each place in a hash table; its text is made only if it decides. Names are hashed with a seed of the
/// process, so that no list can make look-ups slow. A look-up allocates nothing: it hashes the host, each suffix of a name, and
/// for an address each length of prefix that the list has.
package struct HostList: Sendable {
    /// The form of an entry.
    enum Form: UInt8, Sendable {
        /// `ads.example`
        case exact
        /// `*.ads.example`
        case suffix
        /// `.ads.example`: the name, and all names below it.
        case tree
        /// `10.0.0.0/8`
        case network
    }

    private struct Entry: BitwiseCopyable, Sendable, Equatable {
        /// The place of the first byte of the key in ``bytes``.
        let start: UInt32
        let line: UInt32
        /// Zero for every port.
        let port: UInt16
        /// At most 253, the longest name.
        let length: UInt8
        let form: Form
    }

    /// The part of the table in which a key is looked up.
    fileprivate enum Kind: UInt8 { case exact, below, network }

    /// The keys of all entries: names in lower case, and networks as their first address with the length of the prefix.
    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    /// Numbers of entries, each at a place that depends on its key, or at the next free one. A power of two, or empty.
    private var slots: [UInt32] = []
    private var prefixes = PrefixLengths()
    private var hasSuffixes = false
    /// The ports that entries name.
    package private(set) var ports: Set<UInt16> = []

    private static let free = UInt32.max

    package init() {}

    /// The number of entries, with those that repeat an earlier one.
    package var count: Int { self.entries.count }
    /// True if an entry is about addresses.
    package var hasNetworks: Bool { !self.prefixes.isEmpty }

    // MARK: Making

    /// Adds an entry behind the others. Call ``index()`` after the last one.
    ///
    /// - Parameter isTree: true for a name with a dot before it.
    mutating func append(_ pattern: HostPattern, isTree: Bool = false, line: Int) {
        if let port = pattern.port { self.ports.insert(port) }
        switch pattern.host {
        case .exact(let name): self.append(name.utf8, isTree ? .tree : .exact, pattern.port, line)
        case .suffix(let name): self.append(name.utf8, .suffix, pattern.port, line)
        case .network(let network):
            Self.withKey(of: network) { self.append($0, .network, pattern.port, line) }
            self.prefixes.insert(network)
        case .any: preconditionFailure("BUG: a list has an entry for all hosts")
        }
    }

    /// Adds a host behind the others.
    ///
    /// - Parameter name: in any case, and in the form that patterns have in other respects.
    mutating func append(name: Slice<UnsafeRawBufferPointer>, _ form: Form, line: Int) {
        self.append(name.lazy.map(ASCII.lowercased), form, nil, line)
    }

    private mutating func append(_ key: some Sequence<UInt8>, _ form: Form, _ port: UInt16?, _ line: Int) {
        let start = self.bytes.count
        self.bytes += key
        if form == .suffix || form == .tree { self.hasSuffixes = true }
        self.entries.append(
            Entry(
                start: UInt32(start), line: UInt32(line), port: port ?? 0, length: UInt8(self.bytes.count - start),
                form: form))
    }

    /// Builds the hash table. Of equal entries the first counts.
    mutating func index() {
        var size = 4
        // A tree has two keys. At most half of the places are taken, so that searches are short.
        while size < 2 * (self.entries.count + self.entries.count { $0.form == .tree }) { size *= 2 }
        self.slots = [UInt32](repeating: Self.free, count: size)
        for (number, entry) in self.entries.enumerated() {
            switch entry.form {
            case .exact: self.place(number, .exact)
            case .suffix: self.place(number, .below)
            case .network: self.place(number, .network)
            case .tree:
                self.place(number, .exact)
                self.place(number, .below)
            }
        }
    }

    private mutating func place(_ number: Int, _ kind: Kind) {
        let entry = self.entries[number]
        let slot = self.bytes.withUnsafeBytes { bytes -> Int? in
            let key = UnsafeRawBufferPointer(rebasing: bytes[entry.start.range(of: entry.length)])
            let (slot, number) = self.search(key, kind, entry.port)
            return number == nil ? slot : nil
        }
        if let slot { self.slots[slot] = UInt32(number) }
    }

    // MARK: Look-up

    /// The first entry that matches an authority; nil if none does.
    package func first(_ authority: Authority) -> Int? {
        // The host of an entry about names is no address.
        if self.hasNetworks, let address = IPAddress(authority.host) {
            return self.firstNetwork(containing: address, port: authority.port)
        }
        return self.first(name: authority.host, isExact: true, authority.port)
    }

    /// The first network that contains an address; nil if none does.
    package func firstNetwork(containing address: IPAddress, port: UInt16) -> Int? {
        self.firstNetwork(containing: CIDR(address), port)
    }

    /// The first entry that matches every authority that a pattern matches, as far as one entry does.
    package func first(covering pattern: HostPattern) -> Int? {
        switch pattern.host {
        case .any: nil
        case .exact(let name): self.first(name: name, isExact: true, pattern.port)
        case .suffix(let name): self.first(name: name, isExact: false, pattern.port)
        case .network(let network): self.firstNetwork(containing: network, pattern.port)
        }
    }

    /// - Parameters:
    ///   - isExact: false for the names below `name`.
    ///   - port: nil for entries for every port alone.
    private func first(name: String, isExact: Bool, _ port: UInt16?) -> Int? {
        guard !self.slots.isEmpty else { return nil }
        var name = name
        return name.withUTF8 { text in
            let text = UnsafeRawBufferPointer(text)
            var best: Int?
            if isExact { self.find(text, .exact, port, &best) } else { self.find(text, .below, port, &best) }
            guard self.hasSuffixes else { return best }
            for index in text.indices where text[index] == UInt8(ascii: ".") {
                self.find(UnsafeRawBufferPointer(rebasing: text[(index + 1)...]), .below, port, &best)
            }
            return best
        }
    }

    private func firstNetwork(containing network: CIDR, _ port: UInt16?) -> Int? {
        var best: Int?
        self.prefixes.forEachNetwork(holding: network) { wider in
            Self.withKey(of: wider) { self.find($0, .network, port, &best) }
        }
        return best
    }

    private func find(_ key: UnsafeRawBufferPointer, _ kind: Kind, _ port: UInt16?, _ best: inout Int?) {
        if let number = self.search(key, kind, 0).number { best = min(best ?? number, number) }
        // No entry for this port has the key.
        guard let port, !self.ports.isEmpty, let number = self.search(key, kind, port).number else { return }
        best = min(best ?? number, number)
    }

    /// The place of a key in the table, and the entry there; the place is free if there is none.
    private func search(_ key: UnsafeRawBufferPointer, _ kind: Kind, _ port: UInt16) -> (slot: Int, number: Int?) {
        var hasher = Hasher()
        hasher.combine(UInt32(kind.rawValue) << 16 | UInt32(port))
        hasher.combine(bytes: key)
        var slot = hasher.finalize() & (self.slots.count - 1)
        return self.bytes.withUnsafeBytes { bytes in
            while self.slots[slot] != Self.free {
                let number = Int(self.slots[slot])
                let entry = self.entries[number]
                if entry.port == port, entry.form.has(kind), Int(entry.length) == key.count,
                    bytes[entry.start.range(of: entry.length)].elementsEqual(key)
                {
                    return (slot, number)
                }
                slot = (slot + 1) & (self.slots.count - 1)
            }
            return (slot, nil)
        }
    }

    /// Calls `body` with the bytes that stand for a network: its first address, and the length of the prefix.
    private static func withKey(of network: CIDR, _ body: (UnsafeRawBufferPointer) -> Void) {
        let (isV4, address) = (network.address.family == .v4, network.address)
        let count = (isV4 ? 4 : 16) + 1
        withUnsafeTemporaryAllocation(byteCount: 17, alignment: 8) { space in
            if isV4 {
                space.storeBytes(of: UInt32(truncatingIfNeeded: address.low).bigEndian, as: UInt32.self)
            } else {
                space.storeBytes(of: address.high.bigEndian, as: UInt64.self)
                space.storeBytes(of: address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            space[count - 1] = UInt8(network.prefixLength)
            body(UnsafeRawBufferPointer(rebasing: space[..<count]))
        }
    }

    // MARK: Entries

    /// Calls `body` with bytes that are those of equal lists alone, in parts.
    package func withEntries(_ body: (UnsafeRawBufferPointer) -> Void) {
        self.bytes.withUnsafeBytes(body)
        self.entries.withUnsafeBytes(body)
    }

    /// The line of an entry in its text, from 1.
    package func line(of number: Int) -> Int { Int(self.entries[number].line) }

    /// An entry in its normal form, as in `*.ads.example`.
    package func text(of number: Int) -> String {
        let entry = self.entries[number]
        let key = self.bytes[entry.start.range(of: entry.length)]
        let port = entry.port == 0 ? "" : ":\(entry.port)"
        let host: String
        switch entry.form {
        case .exact: host = String(decoding: key, as: UTF8.self)
        case .suffix: host = "*." + String(decoding: key, as: UTF8.self)
        case .tree: host = "." + String(decoding: key, as: UTF8.self)
        case .network:
            guard let address = IPAddress(bytes: key.dropLast()), let length = key.last else {
                preconditionFailure("BUG: a network has 5 or 17 bytes")
            }
            let isAlone = Int(length) == address.bitCount
            host = isAlone ? "\(address)" : "\(address)/\(length)"
            if address.family == .v6, entry.port != 0 { return "[\(host)]\(port)" }
        }
        return host + port
    }

    /// The patterns that an entry stands for: two for a tree, else one.
    package func patterns(of number: Int) -> [HostPattern] {
        let text = self.text(of: number)
        let texts = self.entries[number].form == .tree ? [String(text.dropFirst()), "*\(text)"] : [text]
        return texts.compactMap { try? HostPattern($0) }
    }

    /// True if the list has an entry of another list, too, and no earlier one with the same name.
    package func contains(_ number: Int, of other: HostList) -> Bool {
        guard !self.slots.isEmpty else { return false }
        let entry = other.entries[number]
        let kind: Kind =
            switch entry.form {
            case .exact, .tree: .exact
            case .suffix: .below
            case .network: .network
            }
        return other.bytes.withUnsafeBytes { bytes in
            let key = UnsafeRawBufferPointer(rebasing: bytes[entry.start.range(of: entry.length)])
            return self.search(key, kind, entry.port).number.map { self.entries[$0].form == entry.form } ?? false
        }
    }
}

extension HostList: Equatable {
    /// The table follows from the entries.
    package static func == (left: HostList, right: HostList) -> Bool {
        left.entries == right.entries && left.bytes == right.bytes
    }
}

extension HostList.Form {
    fileprivate func has(_ kind: HostList.Kind) -> Bool {
        switch (self, kind) {
        case (.exact, .exact), (.suffix, .below), (.tree, .exact), (.tree, .below), (.network, .network): true
        case (.exact, _), (.suffix, _), (.tree, _), (.network, _): false
        }
    }
}

extension UInt32 {
    /// The places of a key. Far below the limits of `Int`: a text has at most ``HostListText/byteLimit``.
    fileprivate func range(of length: UInt8) -> Range<Int> { Int(self)..<Int(self) + Int(length) }
}
