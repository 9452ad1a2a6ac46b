// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

/// The text of a list of hosts: each form of a line, and what is no entry.
struct HostListTextTests {
    private func read(_ text: String) -> HostListText { HostListText(Array(text.utf8)) }

    /// The entries as `line text`.
    private func entries(_ text: HostListText) -> [String] {
        (0..<text.list.count).map { "\(text.list.line(of: $0)) \(text.list.text(of: $0))" }
    }

    @Test func `every form of an entry has its line`() {
        let text = self.read(
            """
            \u{FEFF}# a list
            ads.example

            *.Ads.Example   # in any case
            .tree.example#no space
            api.example:8443\r
            \t*.example.net:80
            10.0.0.0/8
            192.0.2.7
            2001:db8::/32
            [2001:db8:1::/48]:443
            .port.example:8080
              # indented
            last.example
            """)
        #expect(text.faults.isEmpty)
        #expect(
            self.entries(text) == [
                "2 ads.example", "4 *.ads.example", "5 .tree.example", "6 api.example:8443", "7 *.example.net:80",
                "8 10.0.0.0/8", "9 192.0.2.7", "10 2001:db8::/32", "11 [2001:db8:1::/48]:443",
                "12 .port.example:8080", "14 last.example",
            ])
    }

    @Test func `a line of a hosts file has names, without those of the machine`() {
        let text = self.read(
            """
            127.0.0.1 localhost
            127.0.0.1\tlocalhost.localdomain local LocalHost
            255.255.255.255 broadcasthost
            ::1 ip6-localhost ip6-loopback
            fe80::1%lo0 localhost
            0.0.0.0 0.0.0.0
            0.0.0.0 ads.example # why
            127.0.0.1 a.example B.example
            :: c.example
            """)
        #expect(text.faults.isEmpty, "\(text.faults)")
        #expect(
            self.entries(text) == ["7 ads.example", "8 a.example", "8 b.example", "9 c.example"])
    }

    @Test(arguments: [
        ("||ads.example^", "not a host name"), ("a.example b.example", "a line has one host, or an address and names"),
        ("*", "a list names hosts; for all of them there is destinations.default"),
        ("*:443", "a list names hosts; for all of them there is destinations.default"),
        ("tcp://a.example:22", "a host pattern has no scheme"), ("https://a.example/x", "a host pattern has no scheme"),
        ("..example", "not a host name"), (".*.example", "after a dot comes a name"),
        (".10.0.0.0/8", "after a dot comes a name"), (".", "a host pattern is not empty"),
        ("10.0.0.1/8", "bits beyond the prefix are set"), ("a.example:0", "a port is a number from 1 to 65535"),
        ("0.0.0.0 *.example", "behind an address come names alone"),
        ("0.0.0.0 a.example:80", "behind an address come names alone"), ("1.2.3", "neither an IPv4 address"),
        ("übel.example", "not a host name"),
    ])
    func `a bad line is a fault with its number`(line: String, reason: String) {
        let text = self.read("good.example\n\(line)\nalso.example\n")
        #expect(text.faults.count == 1)
        #expect(text.faults.first?.line == 2)
        #expect(text.faults.first?.reason.contains(reason) == true, "\(text.faults)")
        #expect(text.faults.first?.description.hasPrefix("line 2: ") == true)
    }

    @Test func `a text that is no text has one fault, and many bad lines have a few`() {
        #expect(HostListText([0x61, 0xFF]).faults.map(\.description) == ["it is not UTF-8 text"])
        let many = self.read(String(repeating: "a b\n", count: 100))
        #expect(many.faults.count == 11)
        #expect(many.faults.last?.description == "90 more lines are no entries")
    }

    @Test func `a list has bounds of bytes, entries and ports`() {
        let bytes = [UInt8](repeating: UInt8(ascii: "\n"), count: HostListText.byteLimit)
        #expect(HostListText(bytes).faults.isEmpty)
        #expect(HostListText(bytes + bytes.prefix(1)).faults.map(\.description) == ["a list has at most 16MiB"])
        let full = [UInt8](repeatElement(Array("a\n".utf8), count: HostListText.mostEntries).joined())
        #expect(HostListText(full).faults.isEmpty)
        let over = HostListText(full + Array("b\nc\n".utf8))
        #expect(over.faults.map(\.description) == ["line 500001: a list has at most 500000 entries"])
        let line = "1.1.1.1" + String(repeating: " a.example", count: 7000)
        #expect(self.read("ok.example\n" + line).faults.map(\.description) == ["line 2: a line has at most 64KiB"])
        let ports = (1...HostListText.mostPorts).map { "a.example:\($0)\nb.example:\($0)\n" }.joined()
        #expect(self.read(ports).faults.isEmpty)
        #expect(
            self.read(ports + "a.example:65000").faults.map(\.description)
                == ["line 129: the entries of a list name at most 64 ports"])
    }

    @Test func `an empty list matches nothing`() throws {
        let list = self.read("# nothing\n").list
        #expect(list.count == 0 && !list.hasNetworks)
        #expect(list.first(try #require(Authority("a.example", defaultPort: 80))) == nil)
        #expect(HostList().first(try #require(Authority("10.0.0.1", defaultPort: 80))) == nil)
    }

    @Test func `no bytes crash the reader, and faults name lines`() {
        var random = SeededGenerator(seed: 20_261_129)
        let alphabet = Array("a.*:/[]#0123 \t\r\n-_%".utf8) + [0, 0xEF, 0xBB, 0xBF, 0x80]
        for _ in 0..<1000 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                alphabet[Int.random(in: alphabet.indices, using: &random)]
            }
            let text = HostListText(bytes)
            let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).count
            #expect(text.faults.allSatisfy { $0.line.map { (1...lines).contains($0) } ?? true }, "\(bytes)")
        }
    }

    /// Patterns as lists and as the index of rules decide alike: the index is the brother that is older.
    @Test func `a list matches what its patterns match`() throws {
        var random = SeededGenerator(seed: 7)
        let labels = ["a", "b", "aa", "x-1"]
        func name() -> String {
            (0..<Int.random(in: 1...4, using: &random)).map { _ in labels.randomElement(using: &random) ?? "a" }
                .joined(separator: ".")
        }
        func address() -> String {
            "10.\(Int.random(in: 0...3, using: &random)).0.\(Int.random(in: 0...3, using: &random))"
        }
        for _ in 0..<100 {
            let lines = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                let port = Bool.random(using: &random) ? "" : ":\(Int.random(in: 1...2, using: &random))"
                switch Int.random(in: 0...4, using: &random) {
                case 0: return "*.\(name())\(port)"
                case 1: return ".\(name())\(port)"
                case 2: return address() + port
                case 3:
                    return ["10.0.0.0/8", "10.1.0.0/16", "10.2.0.0/24", "0.0.0.0/0"].randomElement(using: &random)!
                        + port
                default: return name() + port
                }
            }
            let list = self.read(lines.joined(separator: "\n")).list
            for _ in 0..<40 {
                let host = Bool.random(using: &random) ? name() : address()
                let authority = Authority(host: host, port: UInt16.random(in: 1...3, using: &random))
                let expected = lines.indices.first { index in
                    list.patterns(of: index).contains { $0.matches(authority) }
                }
                #expect(list.first(authority) == expected, "\(lines) \(authority)")
                guard let address = IPAddress(host) else { continue }
                #expect(list.firstNetwork(containing: address, port: authority.port) == expected)
            }
            for line in lines where !line.hasPrefix(".") {
                let pattern = try HostPattern(line)
                let covering = lines.indices.first { index in list.patterns(of: index).contains { $0.covers(pattern) } }
                #expect(list.first(covering: pattern) == covering, "\(lines) \(line)")
            }
        }
    }

    @Test func `a line is read as a pattern is`() {
        var random = SeededGenerator(seed: 11)
        let alphabet = Array("aB0x.-_~".unicodeScalars)
        for _ in 0..<2000 {
            var line = ""
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                line.unicodeScalars.append(alphabet[Int.random(in: alphabet.indices, using: &random)])
            }
            // A dot in front has a meaning of its own in lists.
            line = Bool.random(using: &random) ? "*.\(line)" : line.hasPrefix(".") ? "a\(line)" : line
            let text = self.read(line)
            let pattern = try? HostPattern(line)
            #expect(text.faults.isEmpty == (pattern != nil), "\(line)")
            let expected = pattern.map { $0.host }
            #expect(text.list.count == 0 || text.list.patterns(of: 0).first?.host == expected, "\(line)")
        }
    }

    @Test func `lists are equal by their entries`() {
        let one = self.read("# one\na.example\n*.b.example\n")
        #expect(one.list == self.read("# two\nA.example\n*.b.example # same\n").list)
        #expect(one.list != self.read("# one\na.example\n.b.example\n").list)
        #expect(one.list != self.read("a.example\n*.b.example\n").list, "the lines differ, which decisions name")
        let other = self.read("*.b.example\n.a.example\n").list
        #expect((0..<2).map { other.contains($0, of: one.list) } == [false, true])
    }
}
