// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

struct ConnectPortTests {
    private func decide(_ yaml: String, _ target: String) throws -> DestinationDecision {
        let authority = try #require(Authority(target, defaultPort: nil))
        let query = RouteQuery(method: "CONNECT", scheme: .https, authority: authority, path: "/")
        return try policy(yaml).decideTunnel(query).destination
    }

    @Test(arguments: [
        ("destinations: {connect_ports: any}", 25 as UInt16, nil),
        ("destinations: {connect_ports: [443, 8443]}", 8443, nil),
        ("destinations: {connect_ports: [443, 8443]}", 25, "destinations.connect_ports [443, 8443]"),
        ("destinations: {connect_ports: 8443}", 443, "destinations.connect_ports [8443]"),
        ("", 25, nil), ("listen: [\"127.0.0.9:1\", \"[::1]:1\"]", 25, nil),
        ("listen: \"0.0.0.0:1\"", 443, nil),
        (
            "listen: [\"127.0.0.1:1\", \"[::]:1\"]", 8443,
            "destinations.connect_ports auto: 443 only, because [::]:1 is not loopback"
        ),
        ("listen: \"0.0.0.0:1\"\ndestinations: {connect_ports: any}", 25, nil),
        // The first rule that refuses is reported.
        ("destinations: {connect_ports: 443, deny: [\"*:25\"]}", 25, "destinations.deny[0] \"*:25\""),
    ])
    func `a CONNECT goes to the ports that it may`(yaml: String, port: UInt16, denial: String?) throws {
        let decision = try self.decide(yaml, "a.example:\(port)")
        #expect(decision == denial.map { .denied(by: DecidingRule($0)) } ?? .allowed(by: "destinations.default"))
    }

    @Test func `other requests go to any port`() throws {
        let decision = try policy("destinations: {connect_ports: 443}").decide(try query("GET", "http://a.example:25/"))
        #expect(decision.destination == .allowed(by: "destinations.default"))
    }
}
