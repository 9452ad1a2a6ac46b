// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleTesting
import Testing

@testable import pintle

/// Files of Squid, as configurations.
struct SquidConversionTests {
    /// The file that Debian ships, in short, with rules of its users.
    private static let shipped = """
        acl localnet src 0.0.0.1-0.255.255.255  # RFC 1122 "this" network (LAN)
        acl localnet src 10.0.0.0/8             # RFC 1918 local private network (LAN)
        acl localnet src fc00::/7
        acl SSL_ports port 443
        acl Safe_ports port 80          # http
        acl Safe_ports port 21          # ftp
        acl Safe_ports port 443         # https
        acl Safe_ports port 1025-65535  # unregistered ports
        acl ads dstdomain .ads.example
        http_access deny !Safe_ports
        http_access deny CONNECT !SSL_ports
        http_access allow localhost manager
        http_access deny manager
        http_access deny to_localhost
        http_access deny ads
        http_access allow localnet
        http_access allow localhost
        http_access deny all
        http_port 3128
        coredump_dir /var/spool/squid
        refresh_pattern .               0       20%     4320
        """

    @Test func `the shipped rules allow the same clients, ports and hosts`() throws {
        let result = try squid(Self.shipped)
        #expect(!result.isWeaker && result.told == ["f: stricter: ports has no ranges; left out: 21"])
        let policy = try result.loaded()
        #expect(try policy.opens("www.example.org", "93.184.215.14"))
        #expect(try policy.opens("www.example.org", "93.184.215.14", port: 8080, isConnect: false))
        for (port, isConnect) in [(8080, true), (22, false), (1024, false), (25, false)] as [(UInt16, Bool)] {
            #expect(try !policy.opens("www.example.org", "93.184.215.14", port: port, isConnect: isConnect), "\(port)")
        }
        for host in ["ads.example", "x.ads.example"] { #expect(try !policy.opens(host, "93.184.215.14"), "\(host)") }
        #expect(try !policy.opens("www.example.org", "127.0.0.1"))
        for (address, isAllowed) in [
            ("10.9.9.9", true), ("127.0.0.1", true), ("fd00::1", true), ("192.168.0.1", false),
        ] {
            let refusal = try policy.clients.refusal(of: #require(IPAddress(address)))
            #expect((refusal == nil) == isAllowed, "\(address)")
        }
    }

    @Test func `lists are read from files`() throws {
        let result = try squid(
            "acl ok dstdomain \"/etc/squid/ok\"\nhttp_access allow localhost ok\nhttp_access deny all\nhttp_port 127.0.0.1:3128",
            files: ["/etc/squid/ok": "# allowed\n.example.com\nwww.example.org\n"])
        #expect(result.policy.allow.map(\.text) == ["example.com", "*.example.com", "www.example.org"])
        #expect(throws: ConversionError.self) { try squid("acl ok dstdomain \"/etc/squid/none\"") }
    }

    @Test func `an address among names is left out, and the names are carried`() throws {
        let lists = """
            acl ok dstdomain .example.com 192.0.2.7 www.example.org
            acl ok dstdomain [2001:db8::1]
            acl bad dstdomain bad.example 192.0.2.8
            http_port 127.0.0.1:3128

            """
        let why = "dstdomain is for names, and in Pintle an address stands for the names that lead to it, too"
        let allowing = try squid(lists + "http_access allow localhost ok\nhttp_access deny all")
        #expect(allowing.policy.allow.map(\.text) == ["example.com", "*.example.com", "www.example.org"])
        #expect(allowing.told == ["f:5: stricter: ok lacks 192.0.2.7, [2001:db8::1]: \(why)"])
        let policy = try allowing.loaded()
        #expect(try policy.opens("www.example.org", "192.0.2.7"))
        #expect(try !policy.opens("other.example", "192.0.2.7"))
        let denying = try squid(lists + "http_access deny bad\nhttp_access allow localhost")
        #expect(denying.policy.deny.map(\.text) == ["bad.example"])
        #expect(denying.isWeaker && denying.told == ["f:5: weaker: bad lacks 192.0.2.8: \(why)"])
        let negated = try squid(lists + "http_access deny !ok\nhttp_access allow localhost\nhttp_access deny all")
        #expect(!negated.isWeaker && negated.told == ["f:5: stricter: ok lacks 192.0.2.7, [2001:db8::1]: \(why)"])
    }

    @Test func `without a final rule the opposite of the last one holds`() throws {
        let open = try squid("acl bad dstdomain bad.example\nhttp_access deny bad\nhttp_port 3128")
        #expect(open.policy.fallback.text == "allow" && open.policy.deny.map(\.text) == ["bad.example"])
        #expect(
            throws: ConversionError(
                .incomplete, file: "squid.conf", line: nil, "nothing is written: its rules allow nothing")
        ) {
            try squid("http_port 3128")
        }
        // The last rule counts, though it cannot be carried.
        let closed = try squid("acl x dstdom_regex x\nhttp_access allow localhost\nhttp_access allow x\nhttp_port 3128")
        #expect(closed.policy.clients == ["127.0.0.1/32", "::1/128"])
    }

    @Test func `a denial that cannot be carried makes the file weaker, a permission stricter`() throws {
        let result = try squid(
            """
            acl games dstdom_regex -i games
            acl night time 22:00-23:59
            http_access deny games
            http_access allow localhost night
            http_access allow localhost
            http_access deny all
            http_port 127.0.0.1:3128
            """)
        #expect(
            result.told == [
                "f:3: weaker: http_access deny is left out: games (dstdom_regex: Pintle has no regular expressions)",
                "f:4: stricter: http_access allow is left out: night (acl of type time)",
            ])
    }

    @Test func `permissions that cannot be carried are told also if nothing else is allowed`() {
        #expect(
            throws: ConversionError(
                .incomplete, "squid.conf: nothing is written: the rules that can be carried allow nothing",
                "squid.conf:3: stricter: http_access allow is left out: posts (method POST: destinations know no methods)"
            )
        ) { try squid("http_port 3128\nacl posts method POST\nhttp_access allow localhost posts") }
    }

    @Test func `passwords are for every client`() throws {
        let result = try squid(
            """
            auth_param basic program /usr/lib/squid/basic_ncsa_auth /etc/squid/users
            auth_param basic realm Our proxy
            acl known proxy_auth REQUIRED
            http_access allow localhost
            http_access allow known
            http_access deny all
            http_port 3128
            """)
        #expect(result.policy.users == .init(realm: "Our proxy", file: "/etc/squid/users"))
        #expect(result.policy.clients == ["0.0.0.0/0", "::/0"])
        #expect(result.remarks.map(\.effect) == [.leftOut, .stricter])
    }

    @Test func `a permission within a denied suffix is refused, unless everything else is denied, too`() throws {
        let lists = "acl good dstdomain good.evil.example\nacl evil dstdomain .evil.example\nhttp_port 3128\n"
        #expect(
            throws: ConversionError(
                .incomplete, file: "squid.conf", line: nil,
                "nothing is written: good.evil.example is allowed within a suffix that is denied, and in Pintle denials come first"
            )
        ) { try squid(lists + "http_access allow good\nhttp_access deny evil\nhttp_access allow all") }
        let result = try squid(lists + "http_access allow good\nhttp_access deny evil\nhttp_access deny all")
        #expect(result.policy.allow.map(\.text) == ["good.evil.example"] && result.policy.deny.isEmpty)
        let inner = try squid(lists + "http_access deny good\nhttp_access allow evil\nhttp_access deny all")
        #expect(inner.policy.allow.map(\.text) == ["evil.example", "*.evil.example"])
        #expect(inner.policy.deny.map(\.text) == ["good.evil.example"])
    }

    @Test func `a permission by address within a denied suffix is refused`() throws {
        let lists =
            "acl good dstdomain good.evil.example\nacl evil dstdomain .evil.example\nacl inside dst 192.168.0.0/16\n"
            + "http_port 3128\n"
        #expect(
            throws: ConversionError(
                .incomplete, file: "squid.conf", line: nil,
                "nothing is written: good.evil.example is allowed within a suffix that is denied, and in Pintle denials come first"
            )
        ) { try squid(lists + "http_access deny !inside\nhttp_access deny !good evil\nhttp_access allow all") }
    }

    @Test func `clients share the destinations that all of them may reach`() throws {
        let text =
            "acl site dstdomain site.example\nacl boss src 10.0.0.7\nacl all_of_us src 10.0.0.0/24\nhttp_port 3128\n"
        let result = try squid(text + "http_access allow boss\nhttp_access allow all_of_us site\nhttp_access deny all")
        #expect(result.policy.allow.map(\.text) == ["site.example"] && result.policy.clients == ["10.0.0.0/24"])
        #expect(
            result.told == [
                "f:5: stricter: http_access allow is for some clients or ports alone; in Pintle all clients share the destinations "
                    + "that all of them may reach"
            ])
        let apart =
            "acl other dstdomain other.example\nhttp_access allow boss other\nhttp_access allow all_of_us !boss site\n"
        #expect(throws: ConversionError.self) { try squid(text + apart + "http_access deny all") }
    }

    @Test(
        arguments: [
            ("acl a", "squid.conf:1: acl has a name and a type"),
            ("http_access permit all", "squid.conf:1: http_access is followed by allow or deny"),
            ("http_access allow work", "squid.conf:1: there is no acl \"work\" above this line"),
            ("acl a src 10.0.0.0/8\nacl a port 80", "squid.conf:2: acl a is of the type src above, and port here"),
            ("acl a dstdomain \"x", "squid.conf:1: a quotation mark has no other one"),
        ])
    func `a file that Squid refuses is refused, with its line`(text: String, message: String) {
        #expect(throws: ConversionError(.malformed, message)) { try squid(text) }
    }

    @Test func `directives that may restrict clients are told as weaker`() throws {
        let rules = "http_access allow localhost\nhttp_port 127.0.0.1:3128\n"
        let result = try squid(
            rules + "include /etc/squid/conf.d/*.conf\nreply_body_max_size 1 MB\nvia off\nnovel on\ncache_mem 8 MB")
        #expect(
            result.told == [
                "f:3: weaker: include: included files are not followed; paste their lines in its place",
                "f:4: weaker: reply_body_max_size: a route's response.max_body limits the body of a response",
                "f:6: weaker: novel: it is not carried, and may restrict clients",
            ])
        #expect(result.policy.yaml.contains("\nvia: off\n"))
        #expect(throws: ConversionError.self) { try squid(rules + "if true\nhttp_access deny all\nendif") }
    }

    @Test(
        arguments: [
            ("10.0.0.0/255.0.0.0", "10.0.0.0/8"), ("10.1.2.3/8", "10.0.0.0/8"), ("10.0.0.1", "10.0.0.1/32"),
            ("10.0.0.0-10.0.0.9", "10.0.0.0/29 10.0.0.8/31"), ("10.0.0.0-10.0.3.0/24", "10.0.0.0/22"),
            ("fe80::/10", "fe80::/10"), ("0.0.0.0-255.255.255.255", "0.0.0.0/0"), ("www.example.com", nil),
            ("10.0.0.0/255.0.255.0", nil), ("10.0.0.9-10.0.0.1", nil), ("10.0.0.0/33", nil),
        ] as [(String, String?)])
    func `addresses become networks`(text: String, networks: String?) {
        let range = AddressSpan(squid: text)
        #expect(range.map { AddressSpan.networks([$0]).map(\.description).joined(separator: " ") } == networks)
    }
}
