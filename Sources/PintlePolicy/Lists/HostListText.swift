// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// Reads the text of a list of hosts.
///
/// A line is empty, a comment after `#`, or an entry: a host pattern; `.example.com` for a name and all names below it, as in Squid's
/// dstdomain; or an address and the names that a hosts file gives it, which are the entries.
package struct HostListText {
    /// A line that is no entry.
    package struct Fault: Sendable, Equatable {
        /// From 1; nil if the text as a whole cannot be used.
        package let line: Int?
        package let reason: String

        /// `line 3: …`.
        package var description: String { self.line.map { "line \($0): \(self.reason)" } ?? self.reason }
    }

    private typealias Word = Slice<UnsafeRawBufferPointer>

    /// The most bytes of a text, entries, and ports that entries name.
    package static let (byteLimit, mostEntries, mostPorts) = (16 << 20, 500_000, 64)
    /// The most bytes of a line: room for a hosts file with all names of an address.
    private static let longestLine = 64 << 10
    /// The most faults that are told one by one.
    private static let mostFaults = 10

    /// Names that hosts files have for the machine and its network, which are no entries.
    private static let localNames: Set<String> = [
        "localhost", "localhost.localdomain", "localhost4", "localhost4.localdomain4", "localhost6",
        "localhost6.localdomain6", "local", "broadcasthost", "ip6-localhost", "ip6-loopback", "ip6-localnet",
        "ip6-mcastprefix", "ip6-allnodes", "ip6-allrouters", "ip6-allhosts",
    ]

    /// The entries; meaningless if there are faults.
    package private(set) var list = HostList()
    /// The first faults, and a last one with the number of others.
    package private(set) var faults: [Fault] = []
    private var furtherFaults = 0

    /// Reads a text of UTF-8, with or without a byte order mark.
    package init(_ text: [UInt8]) {
        guard text.count <= Self.byteLimit else {
            self.faults = [Fault(line: nil, reason: "a list has at most \(Self.byteLimit.spelledAsBytes)")]
            return
        }
        guard String(validating: text, as: UTF8.self) != nil else {
            self.faults = [Fault(line: nil, reason: "it is not UTF-8 text")]
            return
        }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        text.withUnsafeBytes { bytes in
            var rest = bytes[(text.starts(with: mark) ? mark.count : 0)...]
            var number = 0
            while !rest.isEmpty {
                number += 1
                let line = rest.prefix { $0 != UInt8(ascii: "\n") }
                self.read(line, number: number)
                rest = rest[line.endIndex...].dropFirst()
            }
        }
        if self.furtherFaults > 0 {
            self.faults.append(Fault(line: nil, reason: "\(self.furtherFaults) more lines are no entries"))
        }
        self.list.index()
    }

    private mutating func read(_ line: Word, number: Int) {
        // A list that is over its limit has one fault, not one for each further line.
        guard self.list.count <= Self.mostEntries else { return }
        guard line.count <= Self.longestLine else {
            return self.report(number, "a line has at most \(Self.longestLine.spelledAsBytes)")
        }
        let words = line.prefix { $0 != UInt8(ascii: "#") }
            .split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
        do throws(Malformed) {
            if words.count == 1 {
                try self.add(words[0], number)
            } else if let first = words.first {
                // Hosts files may have an address with a zone, as in fe80::1%lo0.
                guard IPAddress(String(decoding: first.prefix { $0 != UInt8(ascii: "%") }, as: UTF8.self)) != nil else {
                    throw Malformed("a line has one host, or an address and names, as in a hosts file")
                }
                for name in words.dropFirst() { try self.add(name: name, number) }
            }
        } catch {
            self.report(number, error.reason)
        }
    }

    private mutating func report(_ line: Int, _ reason: String) {
        if self.faults.count < Self.mostFaults {
            self.faults.append(Fault(line: line, reason: reason))
        } else {
            self.furtherFaults += 1
        }
    }

    private mutating func add(_ word: Word, _ line: Int) throws(Malformed) {
        let (form, name) = Self.parts(of: word)
        if Self.isPlainName(name) { return try self.append(name: name, form, line) }
        let word = String(decoding: word, as: UTF8.self)
        let isTree = word.hasPrefix(".")
        let pattern = try HostPattern(isTree ? String(word.dropFirst()) : word)
        switch pattern.host {
        case .any: throw Malformed("a list names hosts; for all of them there is destinations.default")
        case .suffix, .network:
            if isTree { throw Malformed("after a dot comes a name, as in .example.com") }
        case .exact: break
        }
        if let port = pattern.port, !self.list.ports.contains(port), self.list.ports.count == Self.mostPorts {
            throw Malformed("the entries of a list name at most \(Self.mostPorts) ports")
        }
        try self.append(pattern, isTree: isTree, line)
    }

    /// Adds a name of a hosts file.
    private mutating func add(name word: Word, _ line: Int) throws(Malformed) {
        let name = String(decoding: word, as: UTF8.self)
        if Self.localNames.contains(name.lowercased()) { return }
        if Self.isPlainName(word) { return try self.append(name: word, .exact, line) }
        // Some files have `0.0.0.0 0.0.0.0`.
        if IPAddress(name) != nil { return }
        let pattern = try HostPattern(name)
        guard case .exact = pattern.host, pattern.port == nil else {
            throw Malformed("behind an address come names alone, as in a hosts file")
        }
        try self.append(pattern, line)
    }

    /// The form that the beginning of a word has, and the rest.
    private static func parts(of word: Word) -> (HostList.Form, Word) {
        let dot = UInt8(ascii: ".")
        if word.first == dot { return (.tree, word.dropFirst()) }
        if word.first == UInt8(ascii: "*"), word.dropFirst().first == dot { return (.suffix, word.dropFirst(2)) }
        return (.exact, word)
    }

    /// True for a name that is in the form of patterns but for its case: nearly all lines of long lists have such, and need not be
    /// read as patterns, which takes much longer. Names whose last label begins with a digit may be addresses.
    private static func isPlainName(_ word: Word) -> Bool {
        guard word.count <= 253 else { return false }
        let dot = UInt8(ascii: ".")
        var (previous, start) = (dot, dot)
        for byte in word {
            if byte == dot {
                if previous == dot { return false }
            } else {
                let isLetter = ASCII.lowercased(byte) &- 0x61 < 26
                guard isLetter || ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") else {
                    return false
                }
                if previous == dot { start = byte }
            }
            previous = byte
        }
        return previous != dot && ASCII.lowercased(start) &- 0x61 < 26
    }

    private mutating func append(name: Word, _ form: HostList.Form, _ line: Int) throws(Malformed) {
        self.list.append(name: name, form, line: line)
        try self.checkCount()
    }

    private mutating func append(_ pattern: HostPattern, isTree: Bool = false, _ line: Int) throws(Malformed) {
        self.list.append(pattern, isTree: isTree, line: line)
        try self.checkCount()
    }

    private func checkCount() throws(Malformed) {
        if self.list.count > Self.mostEntries { throw Malformed("a list has at most \(Self.mostEntries) entries") }
    }
}
