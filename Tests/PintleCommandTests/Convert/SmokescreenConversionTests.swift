// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleTesting
import Testing

@testable import pintle

/// Egress ACLs of Smokescreen, as configurations.
struct SmokescreenConversionTests {
    private static let acl = """
        ---
        version: v1
        services:
          - name: billing
            project: payments
            action: enforce
            allowed_domains: [api.example.com, "*.partner.example", bad.example.net]
          - name: crawler
            project: search
            action: open
            allowed_domains: [fine.evil.example]
          - name: trial
            project: search
            action: report
            allowed_domains: [api.example.com]
        default:
          project: other
          action: enforce
          allowed_domains: [status.example.com]
        global_allow_list: ["*.example.net"]
        global_deny_list: [bad.example.net, "*.evil.example", worse.example.net]
        """
    private static let server = "93.184.215.14"

    @Test func `a service that enforces reaches its domains and the global ones, and nothing else`() throws {
        let policy = try smokescreen(Self.acl, service: "billing").loaded()
        for host in ["api.example.com", "a.b.partner.example", "x.example.net", "bad.example.net"] {
            #expect(try policy.opens(host, Self.server), "\(host)")
        }
        for host in ["partner.example", "worse.example.net", "fine.evil.example", "status.example.com", "example.net"] {
            #expect(try !policy.opens(host, Self.server), "\(host)")
        }
    }

    @Test func `a service that is open reaches everything but the global denials`() throws {
        let result = try smokescreen(Self.acl, service: "crawler")
        let policy = try result.loaded()
        for host in ["anything.example", "api.example.com"] { #expect(try policy.opens(host, Self.server), "\(host)") }
        for host in ["bad.example.net", "x.evil.example", "fine.evil.example"] {
            #expect(try !policy.opens(host, Self.server), "\(host)")
        }
        #expect(
            result.told.contains(
                "f:11: stricter: allowed_domains: fine.evil.example is denied by *.evil.example of global_deny_list (line "
                    + "21), since denials come first in Pintle"))
        #expect(!result.isWeaker)
    }

    @Test(arguments: ["billing", "crawler", nil])
    func `no name leads to a private address, and no request to one`(service: String?) throws {
        let policy = try smokescreen(Self.acl, service: service).loaded()
        for address in ["10.1.2.3", "127.0.0.1", "169.254.169.254", "100.64.0.1", "::1", "fd00::1", "64:ff9b::a00:1"] {
            #expect(try !policy.opens("api.example.com", address), "\(address)")
            #expect(try !policy.opens("anything.example", address), "\(address)")
            #expect(try !policy.opens(address.contains(":") ? "[\(address)]" : address, address), "\(address)")
        }
    }

    @Test func `a service that reports is weaker, and says so`() throws {
        let result = try smokescreen(Self.acl, service: "trial")
        #expect(result.isWeaker)
        #expect(
            result.told.contains {
                $0.hasPrefix("f:12: weaker: action report: Smokescreen still refuses private addresses and")
            })
        let policy = try result.loaded()
        #expect(try policy.opens("api.example.com", Self.server))
        #expect(policy.configuration.enforcement == .report)
    }

    @Test func `without a service the default is meant, and the others are told`() throws {
        let result = try smokescreen(Self.acl)
        let policy = try result.loaded()
        #expect(try policy.opens("status.example.com", Self.server))
        #expect(try !policy.opens("api.example.com", Self.server))
        #expect(
            result.told.contains { $0.hasPrefix("f: left out: services billing, crawler, trial: Pintle has one set") })
    }

    @Test func `a service that is not there is told with those that are`() throws {
        #expect(
            throws: ConversionError(
                .usage, "--service: acl.yaml has no service \"x\"; it has billing, crawler, trial")
        ) { try smokescreen(Self.acl, service: "x") }
        #expect(
            throws: ConversionError(
                .usage, "acl.yaml has no rules for default; name a service with --service: a")
        ) { try smokescreen("version: v1\nservices: [{name: a, action: open}]") }
    }

    @Test(
        arguments: [
            ("services: []", "acl.yaml:1: an egress ACL says version: v1"),
            ("version: v1\ndefault: {action: open}", "acl.yaml:1: an egress ACL has the list services"),
            ("version: v1\nservices: [{name: a}]", "acl.yaml:2: action is missing: open, report or enforce"),
            ("version: v1\nservices: [{name: a, action: shut}]", "acl.yaml:2: action is open, report or enforce"),
            ("version: v1\nservices: [{action: open}]", "acl.yaml:2: a service has a name"),
            (
                "version: v1\nservices: [{name: a, action: open}, {name: a, action: open}]",
                "acl.yaml:2: the service \"a\" is there twice"
            ),
            (
                "version: v1\nservices: []\nglobal_deny_list: [\"*\"]",
                "acl.yaml:3: global_deny_list: \"*\": a domain is a name, or *. and a name"
            ),
            (
                "egress_acl_file: acl.yaml\ndeny_ranges: []",
                "acl.yaml:1: this is Smokescreen's main file; convert the one that egress_acl_file names"
            ),
        ])
    func `a file that Smokescreen refuses is refused, with its line`(text: String, message: String) {
        #expect(throws: ConversionError(.malformed, message)) { try smokescreen(text) }
    }

    @Test func `keys without a counterpart are told with their lines`() throws {
        let result = try smokescreen(
            """
            version: v1
            services: []
            default:
              action: enforce
              allowed_domains: [a.example]
              mitm_domains: [{domain: a.example, add_headers: {X-A: b}}]
              allowed_external_proxies: [p.example]
              owner: me
            """)
        #expect(
            result.told == [
                "f:6: left out: mitm_domains: name the hosts in interception.hosts, and add fields by a route's request.headers",
                "f:7: stricter: allowed_external_proxies: clients of Pintle choose no upstream proxy; upstream_proxy names one for all",
                "f:8: left out: \"owner\" is no key of an egress ACL; Smokescreen ignores it, too",
            ])
    }
}
