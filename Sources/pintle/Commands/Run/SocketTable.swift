// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The TCP sockets of a network, as listed in /proc/PID/net/tcp and tcp6.
struct SocketTable: Equatable {
    struct Endpoint: Hashable, CustomStringConvertible {
        let address: IPAddress
        let port: UInt16

        var description: String {
            self.address.family == .v6 ? "[\(self.address)]:\(self.port)" : "\(self.address):\(self.port)"
        }
    }

    struct Entry: Equatable {
        let local: Endpoint
        let remote: Endpoint
        /// The kernel's number of the state: 1 is established, 2 and 3 are in the handshake, 10 is listening.
        let state: UInt8
        let inode: UInt64
    }

    private(set) var entries: [Entry] = []

    private static let listening: UInt8 = 10

    /// Adds the lines of one of the files; other lines are ignored.
    mutating func add(_ text: String) {
        for line in text.utf8.split(separator: UInt8(ascii: "\n")).dropFirst() {
            if let entry = Self.entry(line) { self.entries.append(entry) }
        }
    }

    /// Returns connections that some processes have opened to other destinations than the proxy and each other.
    ///
    /// - Parameter inodes: the inodes of their sockets.
    func connections(of inodes: Set<UInt64>, notTo proxy: Endpoint) -> [(remote: Endpoint, inode: UInt64)] {
        let own = self.entries.filter { inodes.contains($0.inode) }
        let ports = Set(own.filter { $0.state == Self.listening }.map(\.local.port))
        let places = Set(own.map(\.local))
        return own.compactMap { entry in
            guard (1...3).contains(entry.state), entry.remote.port > 0, entry.remote != proxy else { return nil }
            // Skips connections to a server among these processes, and those between two of them.
            guard !ports.contains(entry.local.port), !places.contains(entry.remote) else { return nil }
            // Skips connections to one of their servers that listens on every address.
            if entry.remote.address.isLoopback, ports.contains(entry.remote.port) { return nil }
            return (entry.remote, entry.inode)
        }
    }

    // MARK: Reading

    /// Parses a line: `  0: 0100007F:0C38 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 12345 …`
    private static func entry(_ line: Substring.UTF8View) -> Entry? {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 10)
        guard words.count > 9, let local = Self.endpoint(words[1]), let remote = Self.endpoint(words[2]),
            let state = UInt8(Substring(words[3]), radix: 16), let inode = UInt64(Substring(words[9]))
        else { return nil }
        return Entry(local: local, remote: remote, state: state, inode: inode)
    }

    private static func endpoint(_ word: Substring.UTF8View) -> Endpoint? {
        let parts = word.split(separator: UInt8(ascii: ":"))
        guard parts.count == 2, let port = UInt16(Substring(parts[1]), radix: 16),
            let address = Self.address(Substring(parts[0]))
        else { return nil }
        return Endpoint(address: address, port: port)
    }

    /// Parses an address: words of 32 bits in the processor's byte order, as hexadecimal numbers.
    private static func address(_ digits: Substring) -> IPAddress? {
        var bytes: [UInt8] = []
        var rest = digits
        while !rest.isEmpty {
            guard let word = UInt32(rest.prefix(8), radix: 16) else { return nil }
            withUnsafeBytes(of: word) { bytes += $0 }
            rest = rest.dropFirst(8)
        }
        return IPAddress(bytes: bytes)
    }
}
