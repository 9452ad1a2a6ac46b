// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// `unpinned_hosts`, with tunnels and with https that Pintle itself speaks.
struct UnpinnedHostTests {
    let site: PrivateSite

    init() throws { self.site = try PrivateSite() }

    private func tunnel(_ pintle: PintleProcess, to host: String) throws -> Curl.Result {
        try Curl.run(
            proxy: pintle.port, "--cacert", "\(self.site.folder.path)/root.pem",
            "https://\(host):\(self.site.origin.httpsPort)/hello")
    }

    @Test func `deny leaves only hosts that a policy names`() throws {
        let pintle = try self.site.pintle("roots: [root.pem]", more: "unpinned_hosts: deny")
        #expect(try self.tunnel(pintle, to: "localhost").text == "hello\n")
        #expect(try self.site.fetch(pintle).text == "hello\n")
        let refused = try self.tunnel(pintle, to: "127.0.0.1")
        #expect(refused.head.startLine == "HTTP/1.1 403 Destination Denied By Policy", "\(refused)")
        let log = try pintle.waitForExchanges(3)[2]
        let rule = "unpinned_hosts: deny, because no trust policy names it"
        #expect(log["rule"] as? String == rule && log["decision"] as? String == "deny", "\(log)")
        #expect(log["violations"] == nil, "\(log)")
    }

    @Test func `report lets them pass, and counts`() throws {
        let pintle = try PintleProcess(
            "unpinned_hosts: report\ntrust: {default: {roots: [root.pem]}}\n\(self.site.upgrade)",
            folder: self.site.folder)
        #expect(try self.tunnel(pintle, to: "127.0.0.1").text == "hello\n")
        let answer = try self.site.fetch(pintle)
        #expect(answer.text == "hello\n" && answer["Pintle-Violation"] == "destination-denied", "\(answer)")
        for (log, host) in zip(try pintle.waitForExchanges(2), ["127.0.0.1", "localhost"]) {
            #expect(log["violations"] as? [String] == ["destination-denied"], "\(log)")
            #expect(
                log["error"] as? String
                    == "\(host):\(self.site.origin.httpsPort) is reported by unpinned_hosts: report, because no trust "
                    + "policy names it")
        }
        let counters = try pintle.counters()
        let violations = counters["violations"] as? [String: any Sendable]
        #expect(violations?["destination-denied"] as? Int == 2, "\(counters)")
    }

    @Test func `without TLS nothing is asked of a host`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess("unpinned_hosts: deny")
        #expect(try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/").text == "done")
    }
}
