// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleSession
import Testing

struct AccessTests {
    private static let lists = """
        destinations:
          default: deny
          allow: [api.example.com, "*.corp.example", "10.1.0.0/16", "[2001:db8::/32]:443", ads.corp.example]
          deny: ["*.ads.example", ads.corp.example, "10.1.66.0/24", "*:25"]
        """

    private static func judge(_ yaml: String, _ authority: String) throws -> DestinationDecision {
        let authority = try #require(Authority(authority, defaultPort: 443))
        return try policy(yaml).destinations.judge(authority, for: .none)
    }

    @Test(arguments: [
        ("api.example.com", DestinationDecision.allowed(by: "destinations.allow[0] \"api.example.com\"")),
        ("x.y.corp.example", .allowed(by: "destinations.allow[1] \"*.corp.example\"")),
        ("ads.corp.example", .denied(by: "destinations.deny[1] \"ads.corp.example\"")),
        ("t.ads.example", .denied(by: "destinations.deny[0] \"*.ads.example\"")),
        ("api.example.com:25", .denied(by: "destinations.deny[3] \"*:25\"")),
        ("10.1.2.3", .allowed(by: "destinations.allow[2] \"10.1.0.0/16\"")),
        ("[::ffff:10.1.2.3]", .allowed(by: "destinations.allow[2] \"10.1.0.0/16\"")),
        ("10.1.66.1", .denied(by: "destinations.deny[2] \"10.1.66.0/24\"")),
        ("10.2.0.1", .denied(by: "destinations.default")),
        ("[2001:db8::1]:443", .allowed(by: "destinations.allow[3] \"[2001:db8::/32]:443\"")),
        ("[2001:db8::1]:80", .denied(by: "destinations.default")), ("other.example", .byAddress),
        ("167837955", .allowed(by: "destinations.allow[2] \"10.1.0.0/16\"")),
    ])
    func `denials come before permissions, permissions before the default`(
        authority: String, expected: DestinationDecision
    ) throws {
        #expect(try Self.judge(Self.lists, authority) == expected)
    }

    @Test(arguments: [
        ("other.example", "10.1.2.3", DestinationDecision.allowed(by: "destinations.allow[2] \"10.1.0.0/16\"")),
        ("other.example", "10.1.66.3", .denied(by: "destinations.deny[2] \"10.1.66.0/24\"")),
        ("other.example", "192.0.2.1", .denied(by: "destinations.default")),
        ("api.example.com", "192.0.2.1", .allowed(by: "destinations.allow[0] \"api.example.com\"")),
        ("api.example.com", "10.1.66.3", .denied(by: "destinations.deny[2] \"10.1.66.0/24\"")),
        ("api.example.com", "::ffff:10.1.66.3", .denied(by: "destinations.deny[2] \"10.1.66.0/24\"")),
        ("t.ads.example", "10.1.2.3", .denied(by: "destinations.deny[0] \"*.ads.example\"")),
    ])
    func `the address that is dialled is judged again`(
        host: String, address: String, expected: DestinationDecision
    ) throws {
        let rules = try policy(Self.lists).destinations
        let asked = try #require(Authority(host, defaultPort: 443))
        let address = try #require(IPAddress(address))
        #expect(rules.judgesAddresses)
        #expect(rules.judge(address: address, port: 443, asked: asked, for: .none) == expected)
    }

    @Test func `by default every destination is allowed and no address is judged`() throws {
        let rules = try policy("").destinations
        #expect(!rules.judgesAddresses)
        #expect(try Self.judge("", "a.example") == .allowed(by: "destinations.default"))
    }

    @Test func `a denied name is denied where the default allows`() throws {
        let yaml = "destinations: {deny: [\"169.254.0.0/16\"]}"
        #expect(try Self.judge(yaml, "a.example") == .allowed(by: "destinations.default"))
        let metadata = try #require(IPAddress("169.254.169.254"))
        let rules = try policy(yaml).destinations
        #expect(
            rules.judge(address: metadata, port: 80, asked: Authority(host: "a.example", port: 80), for: .none)
                == .denied(by: "destinations.deny[0] \"169.254.0.0/16\""))
    }

    @Test(arguments: [
        ("127.0.0.1", ClientDecision.allowed(by: "clients.allow[0] \"127.0.0.0/8\"")),
        ("::1", .allowed(by: "clients.allow[1] \"::1/128\"")),
        ("::ffff:127.0.0.9", .allowed(by: "clients.allow[0] \"127.0.0.0/8\"")),
        ("192.168.0.1", .denied(by: "clients.allow")), ("::2", .denied(by: "clients.allow")),
    ])
    func `clients are those of the machine unless the file says otherwise`(
        address: String, expected: ClientDecision
    ) throws {
        let address = try #require(IPAddress(address))
        #expect(try policy("").clients.judge(address) == expected)
    }
}
