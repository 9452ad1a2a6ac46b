// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// The three pinning modes against nginx with a private authority.
struct PinningTests {
    let site: PrivateSite

    init() throws { self.site = try PrivateSite() }

    /// Policies that the site satisfies.
    private var satisfied: [String] {
        [
            "roots: [root.pem]",
            "extra_roots: [root.pem]",
            "roots: [root.pem], pinning: public_key, pins: [\"\(self.site.leaf.pin)\"]",
            "roots: [root.pem], pinning: public_key, pins: [\"\(self.site.intermediate.pin)\"]",
            "roots: [root.pem], pinning: public_key, pins: [\"\(self.site.root.pin)\"]",
            "roots: [root.pem], pinning: public_key, pins: [\"\(self.site.backup.pin)\", \"\(self.site.leaf.pin)\"]",
            "roots: [root.pem], pinning: public_key, certificates: [leaf.pem]",
            "roots: [root.pem], pinning: certificate, certificates: [leaf.pem]",
            "roots: [root.pem], pinning: certificate, certificates: [backup.pem, leaf.pem]",
            "pinning: public_key, pins: [\"\(self.site.leaf.pin)\"], allow_invalid_certificates: true",
        ]
    }

    @Test(arguments: 0..<10)
    func `a policy that the chain satisfies lets the request pass`(number: Int) throws {
        let pintle = try self.site.pintle(self.satisfied[number])
        let result = try self.site.fetch(pintle)
        #expect(result.status == 200 && result.text == "hello\n", "\(self.satisfied[number]): \(result)")
        #expect(try pintle.waitForExchanges(1)[0]["trust"] as? String == "site")
    }

    @Test func `the system's roots do not vouch for a private authority`() throws {
        let pintle = try PintleProcess(self.site.upgrade)
        let result = try self.site.fetch(pintle)
        #expect(result.status == 502 && result.problem == "certificate-invalid", "\(result)")
        #expect(result["Proxy-Status"]?.contains("error=tls_certificate_error") == true)
    }

    @Test func `a wrong pin is a problem that lists the chain and the configured pins`() throws {
        let pintle = try self.site.pintle(
            "roots: [root.pem], pinning: public_key, pins: [\"\(self.site.backup.pin)\"]")
        for _ in 0..<2 {
            let result = try self.site.fetch(pintle)
            #expect(result.status == 502 && result.problem == "pin-mismatch", "\(result)")
            #expect(result.json["trust"] as? String == "site" && result.json["route"] as? String == "up")
            #expect(result.json["configured_pins"] as? [String] == ["\(self.site.backup.pin)"])
            let chain = result.json["chain"] as? [[String: String]] ?? []
            let identities = [self.site.leaf, self.site.intermediate, self.site.root]
            #expect(chain.map { $0["pin"] } == identities.map { "\($0.pin)" }, "\(result)")
            #expect(chain.first?["subject"]?.contains("private leaf") == true)
        }
        let record = try pintle.waitForExchanges(2)[0]
        #expect(record["decision"] as? String == "reject", "\(record)")
        #expect(record["pin"] as? String == "\(self.site.leaf.pin)", "\(record)")
        #expect((record["violations"] as? [String]) == ["pin-mismatch"])
    }

    @Test func `LOOK-119 an answer that is refused by its status came over TLS all the same`() throws {
        let pintle = try PintleProcess(
            """
            trust: {site: {hosts: [localhost], roots: [root.pem]}}
            routes:
              - {name: up, match: {hosts: [site.test]}, upstream: "https://localhost:\(self.site.origin.httpsPort)",
                 response: {status: [418]}}
            """, folder: self.site.folder)
        #expect(try self.site.fetch(pintle).problem == "response-status")
        let record = try pintle.waitForExchanges(1)[0]
        #expect(record["tls"] != nil && record["address"] != nil, "\(record)")
    }

    @Test func `a certificate that is not the pinned one is a mismatch`() throws {
        let pintle = try self.site.pintle("roots: [root.pem], pinning: certificate, certificates: [backup.pem]")
        let result = try self.site.fetch(pintle)
        #expect(result.status == 502 && result.problem == "pin-mismatch", "\(result)")
    }

    @Test func `the log names the pin that matched`() throws {
        let pintle = try self.site.pintle(
            "roots: [root.pem], pinning: public_key, pins: [\"\(self.site.intermediate.pin)\"]")
        #expect(try self.site.fetch(pintle).status == 200)
        #expect(try pintle.waitForExchanges(1)[0]["pin"] as? String == "\(self.site.intermediate.pin)")
    }

    @Test(arguments: ["site", "global"])
    func `with enforcement report a wrong pin passes, marked and counted`(place: String) throws {
        let pins = "roots: [root.pem], pinning: public_key, pins: [\"\(self.site.backup.pin)\"]"
        let pintle =
            place == "site"
            ? try self.site.pintle("\(pins), enforcement: report")
            : try self.site.pintle(pins, more: "enforcement: report")
        // The second request may use the connection of the first: its verdict is the same.
        for _ in 0..<2 {
            let result = try self.site.fetch(pintle)
            #expect(result.status == 200 && result.text == "hello\n", "\(result)")
            #expect(result["Pintle-Violation"] == "pin-mismatch")
        }
        let records = try pintle.waitForExchanges(2)
        #expect(records.allSatisfy { ($0["violations"] as? [String]) == ["pin-mismatch"] }, "\(records)")
    }

    @Test func `LOOK-48 where pins are only reported the log has the keys that were shown`() throws {
        let pintle = try self.site.pintle(
            "roots: [root.pem], pinning: public_key, pins: [\"\(self.site.backup.pin)\"], enforcement: report")
        for _ in 0..<2 { #expect(try self.site.fetch(pintle).status == 200) }
        let shown = [self.site.leaf, self.site.intermediate, self.site.root].map { "\($0.pin)" }
        for record in try pintle.waitForExchanges(2) {
            #expect(record["pin"] as? String == shown[0] && record["chain"] as? [String] == shown, "\(record)")
        }
    }

    @Test func `allow_invalid_certificates leaves only the leaf's key to count`() throws {
        let pintle = try self.site.pintle(
            "pinning: public_key, pins: [\"\(self.site.intermediate.pin)\"], allow_invalid_certificates: true")
        let result = try self.site.fetch(pintle)
        #expect(result.status == 502 && result.problem == "pin-mismatch", "\(result)")
    }

    @Test func `pins are checked again after a reconnect`() throws {
        let pintle = try self.site.pintle(
            "roots: [root.pem], pinning: public_key, pins: [\"\(self.site.leaf.pin)\"]")
        #expect(try self.site.fetch(pintle).status == 200)
        self.site.origin.stop()
        let impostor = try self.site.pki.leaf(dns: ["localhost"], signedBy: self.site.intermediate)
        try self.site.origin.show(impostor)
        try self.site.origin.start()
        let result = try self.site.fetch(pintle)
        #expect(result.status == 502 && result.problem == "pin-mismatch", "\(result)")
        self.site.origin.stop()
        try self.site.origin.show(self.site.leaf)
        try self.site.origin.start()
        #expect(try self.site.fetch(pintle).status == 200)
    }

    @Test func `a TLS session of one policy is never resumed by another - invariant 2`() throws {
        // s_server closes after each answer, so that every request needs a handshake; its answer says whether it was new.
        let port = try FreePort.find()
        let files = try self.site.folder.write(self.site.leaf, as: "s_server")
        let server = try ChildProcess(
            "/usr/bin/openssl",
            [
                "s_server", "-accept", "127.0.0.1:\(port)", "-www", "-cert", files.certificate, "-key", files.key,
                "-cert_chain", files.certificate,
            ])
        try server.waitForLine("ACCEPT") { $0.contains("ACCEPT") }
        let pintle = try PintleProcess(
            """
            engine: {threads: 1}
            trust:
              right: {roots: [root.pem], pinning: public_key, pins: ["\(self.site.leaf.pin)"]}
              wrong: {roots: [root.pem], pinning: public_key, pins: ["\(self.site.backup.pin)"]}
            routes:
              - {name: a, match: {hosts: [a.test]}, upstream: "https://localhost:\(port)", trust: right}
              - {name: b, match: {hosts: [b.test]}, upstream: "https://localhost:\(port)", trust: wrong}
            """, folder: self.site.folder)
        for _ in 0..<3 {
            let right = try Curl.run(proxy: pintle.port, "http://a.test/")
            #expect(right.status == 200 && right.text.contains("TLSv1"), "\(right)")
            let wrong = try Curl.run(proxy: pintle.port, "http://b.test/")
            #expect(wrong.status == 502 && wrong.problem == "pin-mismatch", "\(wrong)")
        }
    }

    @Test func `two policies for one origin never share a connection - invariant 1`() throws {
        let pintle = try PintleProcess(
            """
            engine: {threads: 1}
            trust:
              right: {roots: [root.pem], pinning: public_key, pins: ["\(self.site.leaf.pin)"]}
              other: {roots: [root.pem]}
              wrong: {roots: [root.pem], pinning: public_key, pins: ["\(self.site.backup.pin)"]}
            routes:
              - {name: a, match: {hosts: [a.test]}, upstream: "https://localhost:\(self.site.origin.httpsPort)", trust: right}
              - {name: b, match: {hosts: [b.test]}, upstream: "https://localhost:\(self.site.origin.httpsPort)", trust: other}
              - {name: c, match: {hosts: [c.test]}, upstream: "https://localhost:\(self.site.origin.httpsPort)", trust: wrong}
            """, folder: self.site.folder)
        func connection(_ host: String) throws -> [Substring] {
            let result = try Curl.run(proxy: pintle.port, "http://\(host)/connection")
            #expect(result.status == 200, "\(result)")
            return result.text.split(separator: " ")
        }
        // nginx says which connection it was asked on, and for the how many-th time.
        let (a1, b1) = (try connection("a.test"), try connection("b.test"))
        let (a2, b2) = (try connection("a.test"), try connection("b.test"))
        #expect(a1[0] != b1[0])
        #expect(a2 == [a1[0], "2", "."] && b2 == [b1[0], "2", "."], "\(a1) \(a2) \(b1) \(b2)")
        let refused = try Curl.run(proxy: pintle.port, "http://c.test/connection")
        #expect(refused.status == 502 && refused.problem == "pin-mismatch", "\(refused)")
    }
}
