// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

struct PrivateAddressTests {
    private func judge(_ yaml: String, _ host: String, dialling address: String) throws -> DestinationDecision {
        let asked = try #require(Authority(host, defaultPort: 443))
        let address = try #require(IPAddress(address), "\(address)")
        return try policy(yaml).destinations.judge(address: address, port: asked.port, asked: asked, for: .none)
    }

    private static let denying = "destinations: {private_addresses: deny}"

    @Test(arguments: [
        ("0.1.2.3", "0.0.0.0/8 is this network"), ("10.255.255.255", "10.0.0.0/8 is private use"),
        ("100.127.0.1", "100.64.0.0/10 is shared address space"), ("127.0.0.53", "127.0.0.0/8 is loopback"),
        ("169.254.169.254", "169.254.0.0/16 is link-local"), ("172.31.0.1", "172.16.0.0/12 is private use"),
        ("192.0.0.8", "192.0.0.0/24 is for IETF protocols"), ("192.0.0.170", "192.0.0.0/24 is for IETF protocols"),
        ("192.0.2.1", "192.0.2.0/24 is documentation"), ("192.88.99.2", "192.88.99.0/24 is a deprecated relay anycast"),
        ("192.168.1.1", "192.168.0.0/16 is private use"), ("198.19.255.1", "198.18.0.0/15 is benchmarking"),
        ("198.51.100.7", "198.51.100.0/24 is documentation"), ("203.0.113.7", "203.0.113.0/24 is documentation"),
        ("239.1.1.1", "224.0.0.0/4 is multicast"), ("250.0.0.1", "240.0.0.0/4 is reserved"),
        ("255.255.255.255", "255.255.255.255/32 is broadcast"), ("::", "::/128 is the unspecified address"),
        ("::1", "::1/128 is loopback"), ("::ffff:10.0.0.1", "10.0.0.0/8 is private use"),
        ("::10.0.0.1", "it stands for 10.0.0.1, and 10.0.0.0/8 is private use"),
        ("::8.8.8.8", "only 2000::/3 is global unicast"),
        ("64:ff9b::10.0.0.1", "it stands for 10.0.0.1, and 10.0.0.0/8 is private use"),
        // 10.0.0.1 after prefixes of 48, 56, 64 and 96 bits, partly with further bits after it.
        ("64:ff9b:1:a00:0:100::", "it stands for 10.0.0.1, and 10.0.0.0/8 is private use"),
        ("64:ff9b:1:7f0a:0:1::", "it stands for 127.10.0.0, and 127.0.0.0/8 is loopback"),
        ("64:ff9b:1:fe0a:0:1:1::", "it stands for 254.10.0.0, and 240.0.0.0/4 is reserved"),
        ("64:ff9b:1:0:a:0:100::", "it stands for 10.0.0.1, and 10.0.0.0/8 is private use"),
        ("64:ff9b:1::192.168.0.1", "it stands for 192.168.0.1, and 192.168.0.0/16 is private use"),
        ("64:ff9b:1::", "64:ff9b:1::/48 is local translation"), ("100::1", "100::/64 is discard-only"),
        ("100:0:0:1::1", "100:0:0:1::/64 is a dummy prefix"), ("2001:2::1", "2001::/23 is for IETF protocols"),
        ("2001:10::1", "2001::/23 is for IETF protocols"), ("2001:1::4", "2001::/23 is for IETF protocols"),
        ("2001:db8::1", "2001:db8::/32 is documentation"), ("3fff:fff::1", "3fff::/20 is documentation"),
        ("2002:0a00:0001::1", "it stands for 10.0.0.1, and 10.0.0.0/8 is private use"),
        // Teredo: the client's bits are flipped.
        ("2001::a00:1:0:0:f7f7:f7f7", "it stands for 10.0.0.1, and 10.0.0.0/8 is private use"),
        ("2001:0:808:808::f5ff:fffe", "it stands for 10.0.0.1, and 10.0.0.0/8 is private use"),
        ("5f00::1", "5f00::/16 is for segment routing"), ("fd12::1", "fc00::/7 is unique-local"),
        ("fe80::1", "fe80::/10 is link-local"), ("fec0::1", "fec0::/10 is site-local"),
        ("ff02::1", "ff00::/8 is multicast"), ("4000::1", "only 2000::/3 is global unicast"),
    ])
    func `a special address is denied, by whatever name it was asked for`(address: String, reason: String) throws {
        let expected = DestinationDecision.prohibited(by: "destinations.private_addresses deny: \(reason)")
        #expect(try self.judge(Self.denying, "a.example", dialling: address) == expected)
        let literal = try #require(IPAddress(address))
        let asked = Authority(host: "\(literal)", port: 443)
        #expect(
            try policy(Self.denying).destinations.judge(asked, for: .none) == expected, "known before it is dialled")
    }

    @Test(arguments: [
        "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
        "192.0.0.9", "192.0.0.10", "192.0.1.0", "192.31.196.1", "192.52.193.1", "192.175.48.1", "198.17.255.255",
        "198.20.0.0", "223.255.255.255", "64:ff9b::8.8.8.8", "64:ff9b:1::8.8.8.8", "64:ff9b:1:808:8:800::",
        "2001:1::1", "2001:1::2", "2001:1::3", "2001:3::1", "2001:4:112::1", "2001:20::1", "2001:30::1", "2001:200::1",
        "2001:0:808:808::f7f7:f7f7", "2002:808:808::1", "2606:4700::1", "2620:4f:8000::1", "3ffe::1", "3fff:1000::1",
    ])
    func `an address that can be reached from everywhere is none of them`(address: String) throws {
        #expect(try self.judge(Self.denying, "a.example", dialling: address) == .allowed(by: "destinations.default"))
    }

    @Test(
        arguments: [
            ("private_addresses: deny, allow: [10.0.0.0/8]", "a.example", .allowed(by: "destinations.default")),
            (
                "private_addresses: deny, allow: [10.0.0.0/8]", "10.0.0.1",
                .allowed(by: "destinations.allow[0] \"10.0.0.0/8\"")
            ),
            ("private_addresses: deny, allow: [10.1.0.0/16]", "a.example", nil),
            ("private_addresses: deny, allow: [\"10.0.0.0/8:80\"]", "a.example", nil),
            (
                "private_addresses: deny, allow: [a.example]", "a.example",
                .allowed(by: "destinations.allow[0] \"a.example\"")
            ),
            (
                "private_addresses: deny, allow: [\"*.example\"]", "a.example",
                .allowed(by: "destinations.allow[0] \"*.example\"")
            ),
            ("private_addresses: deny, allow: [\"a.example:80\"]", "a.example", nil),
            ("private_addresses: deny, allow: [\"*\"]", "a.example", nil),
            ("private_addresses: deny, allow: [\"*\"]", "10.0.0.1", nil),
            (
                "private_addresses: deny, allow: [\"*\", a.example]", "a.example",
                .allowed(by: "destinations.allow[0] \"*\"")
            ),
            ("default: deny, private_addresses: deny, allow: [\"*:443\"]", "a.example", nil),
            (
                "private_addresses: deny, allow: [a.example], deny: [10.0.0.0/8]", "a.example",
                .denied(by: "destinations.deny[0] \"10.0.0.0/8\"")
            ),
            ("private_addresses: allow", "a.example", .allowed(by: "destinations.default")),
            (
                "private_addresses: allow, default: deny, allow: [10.0.0.0/8]", "a.example",
                .allowed(by: "destinations.allow[0] \"10.0.0.0/8\"")
            ),
        ] as [(String, String, DestinationDecision?)])
    func `what is listed is allowed all the same, and the denied stays denied`(
        rules: String, host: String, expected: DestinationDecision?
    ) throws {
        let prohibited = DestinationDecision.prohibited(
            by: "destinations.private_addresses deny: 10.0.0.0/8 is private use")
        #expect(
            try self.judge("destinations: {\(rules)}", host, dialling: "10.0.0.1") == expected ?? prohibited)
    }

    @Test func `left to itself, it denies as soon as a listener is not loopback`() throws {
        let local = "listen: [\"127.0.0.1:1\", \"[::1]:1\"]"
        #expect(try self.judge(local, "a.example", dialling: "10.0.0.1") == .allowed(by: "destinations.default"))
        let exposed = "listen: [\"127.0.0.1:1\", \"192.0.2.1:1\"]"
        let reason = "auto, because 192.0.2.1:1 is not loopback: 10.0.0.0/8 is private use"
        #expect(
            try self.judge(exposed, "a.example", dialling: "10.0.0.1")
                == .prohibited(by: "destinations.private_addresses \(reason)"))
    }
}
