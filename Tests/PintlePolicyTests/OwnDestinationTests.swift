// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import Testing

/// Destinations at which the proxy listens by its configuration: a plan knows that live traffic refuses them.
struct OwnDestinationTests {
    private static let places = """
        listen: ["127.0.0.1:3128", "192.0.2.7:443"]
        admin: "127.0.0.1:3129"
        destinations: {private_addresses: allow, ports: any, connect_ports: any}
        """

    private func plan(_ request: String, _ yaml: String) throws -> RequestPlan {
        RequestPlan(try RequestHead(spelled: [request], minorVersion: 1), .none, by: try policy(yaml))
    }

    @Test(arguments: [
        "GET http://127.0.0.1:3128/", "GET http://localhost:3128/", "GET http://a.localhost:3129/",
        "GET http://[::ffff:127.0.0.1]:3128/", "GET http://2130706433:3129/", "GET http://0.0.0.0:3128/",
        "CONNECT 127.0.0.1:3129", "CONNECT 192.0.2.7:443",
    ])
    func `a place of the configuration is refused, by whatever spelling`(request: String) throws {
        let problem = try #require(try self.plan(request, Self.places).ownDestination)
        #expect(problem.name == .destinationDenied && problem.proxyError == "destination_ip_prohibited")
        #expect(problem.detail.hasSuffix("is where this proxy listens"), "\(problem.detail)")
    }

    @Test(arguments: [
        ("GET http://127.0.0.1:3130/", Self.places), ("GET http://127.0.0.2:3128/", Self.places),
        ("GET http://a.test:3128/", Self.places), ("CONNECT 192.0.2.7:3128", Self.places),
        ("GET http://127.0.0.1:3129/", "admin: off"),
        // The port is known when it is bound.
        ("GET http://127.0.0.1:3128/", "listen: [\"127.0.0.1:0\"]"),
        ("GET http://127.0.0.1:3128/", "listen: [\"unix:/run/p.sock\"]"),
        // Nothing is dialled.
        ("GET http://127.0.0.1:3128/", "routes: [{name: r, respond: {status: 404}}]"),
        ("GET http://127.0.0.1:3128/", "destinations: {deny: [127.0.0.1]}"),
        ("GET http://127.0.0.1:3128/", "routes: [{name: r, upstream: \"http://a.test/\"}]"),
    ])
    func `other destinations, and those that are not known, are not`(request: String, yaml: String) throws {
        #expect(try self.plan(request, yaml).ownDestination == nil)
    }

    @Test func `a listener on any address is met at loopback`() throws {
        let yaml = "listen: [\"0.0.0.0:3128\"]\ndestinations: {private_addresses: allow, ports: any}"
        #expect(try self.plan("GET http://127.0.0.1:3128/", yaml).ownDestination != nil)
        #expect(try self.plan("GET http://10.0.0.1:3128/", yaml).ownDestination == nil)
    }

    @Test func `a parent brings requests for names of this proxy back`() throws {
        let yaml = "\(Self.places)\nupstream_proxy: {url: \"http://p.test:1\"}"
        let detail = try self.plan("GET http://localhost:3128/", yaml).ownDestination?.detail
        #expect(detail == "localhost:3128 is where this proxy listens: a loop")
    }

    @Test func `the explanation ends with the refusal, and says why`() throws {
        let head = try RequestHead(spelled: ["GET http://localhost:3128/"], minorVersion: 1)
        let policy = try policy(Self.places)
        let explanation = try Explanation(policy, head)
        let reason =
            "destination  no address of localhost:3128 may be dialled: 127.0.0.1 with port 3128 is where this proxy listens"
        let lines = explanation.lines.map(\.description)
        #expect(lines.contains(reason) && lines.last == "answer       403 destination-denied", "\(lines)")
        #expect(explanation.outcome.name == "refuse")
        let sample = "GET http://localhost:3128/ HTTP/1.1\nHost: localhost:3128\n\n"
        do throws(Problem) {
            _ = try DryRun(Array(sample.utf8), policy: policy)
            Issue.record("the sample is sent")
        } catch {
            #expect(error.name == .destinationDenied)
        }
    }

    @Test func `a mock in the place of the proxy is no refusal`() throws {
        let yaml = "routes: [{name: r, mock: [{json: {}}]}]"
        let head = try RequestHead(spelled: ["GET http://localhost:3128/"], minorVersion: 1)
        #expect(try Explanation(policy(yaml), head).outcome.isPass)
    }
}
