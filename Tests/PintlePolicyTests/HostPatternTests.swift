// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

struct HostPatternTests {
    @Test(arguments: [
        ("api.example.com", "api.example.com:443", true), ("API.Example.com", "api.example.com:80", true),
        ("api.example.com.", "api.example.com:80", true), ("api.example.com", "xapi.example.com:443", false),
        ("api.example.com", "api.example.com.evil.test:443", false),
        ("api.example.com:443", "api.example.com:443", true),
        ("api.example.com:443", "api.example.com:8443", false), ("*.example.com", "a.example.com:80", true),
        ("*.example.com", "a.b.example.com:80", true), ("*.example.com", "example.com:80", false),
        ("*.example.com", "badexample.com:80", false), ("*.example.com:8443", "a.example.com:8443", true),
        ("*.example.com:8443", "a.example.com:443", false), ("*", "anything.test:1", true), ("*", "[::1]:1", true),
        ("*:443", "anything.test:443", true), ("*:443", "anything.test:80", false),
        ("10.0.0.0/8", "10.9.8.7:80", true), ("10.0.0.0/8", "ten.example:80", false),
        ("10.0.0.0/8:8080", "10.9.8.7:8080", true), ("10.0.0.0/8:8080", "10.9.8.7:80", false),
        ("127.0.0.1", "127.0.0.1:80", true), ("127.0.0.1:80", "127.0.0.1:81", false), ("::1", "[::1]:80", true),
        ("::1", "[0:0:0:0:0:0:0:1]:80", true), ("[::1]:80", "[::1]:80", true), ("[::1]:80", "[::1]:81", false),
        ("[::1]", "[::1]:80", true), ("2001:db8::/32", "[2001:db8:1::]:80", true),
        ("[2001:db8::/32]:443", "[2001:db8:1::]:443", true), ("[2001:db8::]/32:443", "[2001:db8:1::]:443", true),
        ("[2001:db8::/32]:443", "[2001:db8:1::]:80", false), ("127.0.0.0/8", "[::ffff:127.0.0.1]:80", true),
        ("my_host-1", "my_host-1:80", true),
    ])
    func `a pattern matches as its form says, and the index agrees`(
        pattern: String, authority: String, expected: Bool
    ) throws {
        let pattern = try HostPattern(pattern)
        let authority = try #require(Authority(authority, defaultPort: nil))
        #expect(pattern.matches(authority) == expected)
        var index = HostIndex()
        index.insert(pattern, number: 7)
        #expect(index.first(authority) { _ in true } == (expected ? 7 : nil))
    }

    @Test(arguments: [
        ("", "a host pattern is not empty"),
        ("https://example.com", "a host pattern has no scheme: give the host alone, as in api.example.com"),
        ("api.*.com", "a star stands alone or for the first labels, as in *.example.com; nowhere else"),
        ("api*.com", "a star stands alone or for the first labels, as in *.example.com; nowhere else"),
        ("**.example.com", "a star stands alone or for the first labels, as in *.example.com; nowhere else"),
        ("*.*", "a star stands alone or for the first labels, as in *.example.com; nowhere else"),
        ("example.com:0", "a port is a number from 1 to 65535"),
        ("example.com:65536", "a port is a number from 1 to 65535"),
        ("example.com:", "a port is a number from 1 to 65535"),
        ("example.com:https", "a port is a number from 1 to 65535"),
        ("[::1", "the bracket is not closed"), ("[::1]80", "after the bracket comes :port or nothing"),
        ("[example.com]", "only IPv6 addresses stand in brackets"),
        ("10.0.0.1/8", "bits beyond the prefix are set; did you mean 10.0.0.0/8?"),
        ("example.com/path", "a host pattern has no path: give the host alone, as in api.example.com"),
        ("10.0.1", "neither an IPv4 address, as in 10.0.0.1, nor a host name"),
        (
            "^api\\.example\\.com$",
            "not a host name: letters, digits, - . _ only; patterns are exact, *.suffix, * or a network, never regular "
                + "expressions"
        ),
        (
            "a..b",
            "not a host name: letters, digits, - . _ only; patterns are exact, *.suffix, * or a network, never regular "
                + "expressions"
        ),
    ])
    func `any other form is refused with the reason`(text: String, reason: String) {
        #expect(throws: Malformed(reason)) { try HostPattern(text) }
    }

    @Test func `the lowest number wins, whatever the kind of pattern`() throws {
        let patterns = ["10.0.0.0/8", "*.example.com", "api.example.com", "*", "*.com", "api.example.com:8443"]
        var index = HostIndex()
        for (number, text) in patterns.enumerated() { index.insert(try HostPattern(text), number: number) }
        let host = try #require(Authority("api.example.com:443", defaultPort: nil))
        #expect(index.first(host) { _ in true } == 1)
        #expect(index.first(host) { $0 > 1 } == 2)
        #expect(index.first(host) { $0 > 2 } == 3)
        #expect(index.first(host) { $0 > 3 } == 4)
        #expect(index.first(host) { $0 > 4 } == nil)
    }

    @Test func `the index decides as patterns that are tried one by one`() throws {
        let networks = [
            "0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/9", "10.1.0.0/16", "10.1.2.0/24", "10.1.2.3", "128.0.0.0/1", "::/0",
            "2001:db8::/32", "2001:db8:1::/48", "2001:db8::1", "::10.1.2.3", "::ffff:10.1.0.0/112",
        ]
        let names = ["*", "a.test", "*.test", "*.a.test", "b.a.test"]
        let hosts = [
            "10.1.2.3", "10.1.2.4", "10.1.3.0", "10.200.0.1", "9.0.0.1", "200.0.0.1", "2001:db8::1", "2001:db8:1::1",
            "2600::1", "::10.1.2.3", "test", "a.test", "b.a.test", "c.b.a.test",
        ]
        func pattern(_ random: inout SeededGenerator) throws -> HostPattern {
            let isNetwork = Int.random(in: 0...3, using: &random) > 0
            let text = (isNetwork ? networks : names).randomElement(using: &random) ?? "*"
            guard Bool.random(using: &random) else { return try HostPattern(text) }
            let port = Int.random(in: 1...2, using: &random)
            return try HostPattern(text.contains(":") ? "[\(text)]:\(port)" : "\(text):\(port)")
        }
        for number in 0..<300 {
            let seed = Seed.ofThisRun &+ UInt64(number)
            var random = SeededGenerator(seed: seed)
            var patterns: [HostPattern] = []
            for _ in 0..<Int.random(in: 0...20, using: &random) { patterns.append(try pattern(&random)) }
            var index = HostIndex()
            for (number, pattern) in patterns.enumerated() { index.insert(pattern, number: number) }
            // Rules for other clients are passed over.
            let accepted = Set(patterns.indices.filter { _ in Int.random(in: 0...2, using: &random) > 0 })
            for host in hosts {
                let authority = Authority(host: host, port: UInt16.random(in: 1...3, using: &random))
                let all = patterns.indices.filter { patterns[$0].matches(authority) }
                let place: Comment = "seed \(seed): \(authority) in \(patterns)"
                #expect(index.all(authority) == all, place)
                #expect(index.first(authority) { _ in true } == all.first, place)
                #expect(index.first(authority) { accepted.contains($0) } == all.first(where: accepted.contains), place)
                guard let address = IPAddress(host) else { continue }
                let byAddress = all.filter { patterns[$0].network != nil && accepted.contains($0) }
                let found = index.firstNetwork(containing: address, port: authority.port) { accepted.contains($0) }
                #expect(found == byAddress.first, place)
            }
        }
    }
}
