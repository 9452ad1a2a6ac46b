// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import Testing

@testable import PintlePolicy

/// `request.forwarded`: the fields that tell an origin about the client.
struct ForwardedRuleTests {
    private func sent(
        _ request: [String], by rules: String, from address: String? = "192.0.2.7", isSecure: Bool = false
    ) throws -> Fields {
        let policy = try policy(
            "via: off\nroutes: [{name: a, match: {hosts: [gate.test]}, upstream: \"http://up.test/\", request: {\(rules)}}]"
        )
        let head = try RequestHead(spelled: request)
        let plan = RequestPlan(head, .none, by: policy)
        let client = RequestClient(address: address.flatMap { IPAddress($0) }, isSecure: isSecure)
        var fields = try plan.request(from: head, .streamed, of: client).transfer.fields
        fields.remove(.host)
        return fields
    }

    private static let claimed = [
        "GET /", "Host: gate.test:8080", "X-Forwarded-For: 10.1.1.1", "x-forwarded-host: evil.test",
        "X-Forwarded-Proto: https", "X-Forwarded-Port: 1", "X-Real-IP: 10.1.1.1", "Forwarded: for=10.1.1.1",
        // Programs behind CGI or WSGI read these as the same fields.
        "X_Forwarded_For: 10.1.1.2", "x-real_ip: 10.1.1.2",
    ]

    @Test func `nothing is told, and nothing is changed, unless the route says so`() throws {
        let fields = try self.sent(Self.claimed, by: "timeout: 5s")
        #expect(fields["X-Forwarded-For"] == "10.1.1.1" && fields["Forwarded"] == "for=10.1.1.1")
    }

    @Test func `the claims of a client are replaced`() throws {
        #expect(
            try self.sent(Self.claimed, by: "forwarded: x_forwarded")
                == ["X-Forwarded-For": "192.0.2.7", "X-Forwarded-Host": "gate.test:8080", "X-Forwarded-Proto": "http"])
        #expect(
            try self.sent(Self.claimed, by: "forwarded: rfc7239", isSecure: true)
                == ["Forwarded": "for=192.0.2.7;host=\"gate.test:8080\";proto=https"])
    }

    @Test func `thousands of claims are removed in one pass, and the rest stays in its order`() throws {
        var fields: Fields = ["A": "1"]
        for number in 0..<30_000 { fields.append("X-Forwarded-\(number)", "a") }
        for (name, value) in [("x_REAL_ip", "b"), ("B", "2")] { fields.append(name, value) }
        var rules = ForwardedRules()
        rules.form = .rfc7239
        rules.apply(to: &fields, for: .local, scheme: .http, host: "gate.test")
        #expect(fields.pairs.map(\.name) == ["A", "B", "Forwarded"])
    }

    @Test func `thousands of trusted proxies cost no more than one`() throws {
        var rules = ForwardedRules()
        rules.form = .rfc7239
        rules.trustedProxies = try (0..<60_000).map { try CIDR("10.\($0 >> 8).\($0 & 255).0/24") }
        for (address, isTrusted) in [("10.7.9.200", true), ("10.255.0.1", false), ("11.0.0.1", false)] {
            var fields: Fields = ["Forwarded": "for=a"]
            rules.apply(
                to: &fields, for: RequestClient(address: IPAddress(address), isSecure: false), scheme: .http, host: "g")
            #expect(fields.count == (isTrusted ? 2 : 1), "\(address)")
        }
    }

    @Test func `a trusted proxy is believed, and added to`() throws {
        let rules = "trusted_proxies: [192.0.2.0/24]"
        let own = try self.sent(Self.claimed, by: "forwarded: {fields: x_forwarded, \(rules)}")
        #expect(own["X-Forwarded-For"] == "10.1.1.1, 192.0.2.7" && own["X-Forwarded-Host"] == "evil.test")
        #expect(own["X-Forwarded-Proto"] == "https" && own["X-Real-IP"] == "10.1.1.1" && own["Forwarded"] == nil)
        #expect(own["X_Forwarded_For"] == nil && own["x-real_ip"] == nil)
        let official = try self.sent(Self.claimed, by: "forwarded: {fields: rfc7239, \(rules)}")
        #expect(
            official
                == ["Forwarded": "for=10.1.1.1", "Forwarded": "for=192.0.2.7;host=\"gate.test:8080\";proto=http"])
        let stranger = try self.sent(
            Self.claimed, by: "forwarded: {fields: x_forwarded, \(rules)}", from: "198.51.100.1")
        #expect(stranger["X-Forwarded-For"] == "198.51.100.1")
    }

    @Test(
        arguments: [
            ("2001:db8::1", "2001:db8::1", "for=\"[2001:db8::1]\";host=gate.test;proto=http"),
            (nil, nil, "for=unknown;host=gate.test;proto=http"),
        ] as [(String?, String?, String)])
    func `addresses have the form of each field, and a client without one is unknown`(
        address: String?, unofficial: String?, official: String
    ) throws {
        let request = ["GET /", "Host: gate.test"]
        #expect(try self.sent(request, by: "forwarded: x_forwarded", from: address)["X-Forwarded-For"] == unofficial)
        #expect(try self.sent(request, by: "forwarded: rfc7239", from: address)["Forwarded"] == official)
    }

    @Test func `the target of a request to a proxy counts, and not its Host`() throws {
        let fields = try self.sent(
            ["GET https://gate.test/", "Host: other.test"], by: "forwarded: x_forwarded", isSecure: false)
        #expect(fields["X-Forwarded-Host"] == "gate.test" && fields["X-Forwarded-Proto"] == "https")
    }

    @Test func `rules for fields come after, and may add to these`() throws {
        let fields = try self.sent(
            Self.claimed,
            by: "forwarded: x_forwarded, headers: {set: {X-Forwarded-Prefix: /api}, remove: [X-Forwarded-For]}")
        #expect(fields["X-Forwarded-Prefix"] == "/api" && fields["X-Forwarded-For"] == nil)
    }
}
