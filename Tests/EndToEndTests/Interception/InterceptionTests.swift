// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// `connect: intercept` and `interception:`, with curl as the client and nginx as the origin.
struct InterceptionTests {
    private let site: PrivateSite
    private let authority: CertificateAuthority

    init() throws {
        self.site = try PrivateSite()
        self.authority = try CertificateAuthority(named: "Test CA")
        try AuthorityFolder("\(self.site.folder.path)/pintle/ca").keep(self.authority)
        try self.site.folder.write(self.authority.certificatePEM, to: "ca.pem")
    }

    private var host: String { "localhost:\(self.site.origin.httpsPort)" }

    /// A proxy that intercepts the site and trusts its origin.
    private func pintle(
        _ more: String = "interception: {hosts: [localhost]}", trust: String = "roots: [root.pem]",
        arguments: [String] = []
    ) throws -> PintleProcess {
        try PintleProcess(
            "\(more)\ntrust: {site: {hosts: [localhost], \(trust)}}", arguments: arguments,
            environment: ["XDG_DATA_HOME": self.site.folder.path], folder: self.site.folder)
    }

    private func curl(_ pintle: PintleProcess, _ path: String, _ arguments: String...) throws -> Curl.Result {
        try Curl.run(
            ["--proxy", "http://127.0.0.1:\(pintle.port)", "--cacert", "\(self.site.folder.path)/ca.pem"] + arguments
                + ["https://\(self.host)\(path)"])
    }

    @Test func `a request in a tunnel is seen, sent to its origin and answered`() throws {
        let pintle = try self.pintle()
        let body = pattern(3_000_001)
        try self.site.origin.serve(body, as: "down")
        let answer = try self.curl(pintle, "/files/down")
        #expect(answer.exitCode == 0 && answer.status == 200 && answer.body == body)
        let lines = try pintle.waitForExchanges(2)
        #expect(lines.map { $0["mode"] as? String } == ["intercept", "intercept"])
        #expect(lines.map { $0["method"] as? String } == ["CONNECT", "GET"])
        #expect(lines[1]["url"] as? String == "https://\(self.host)/files/down")
        #expect(lines[1]["trust"] as? String == "site" && lines[1]["bytes_out"] as? Int == body.count)
    }

    @Test func `several requests share a tunnel, with bodies in both directions`() throws {
        let pintle = try self.pintle()
        let up = pattern(1_000_003)
        let file = try self.site.folder.write(up, to: "up")
        let common = ["--proxy", "http://127.0.0.1:\(pintle.port)", "--cacert", "\(self.site.folder.path)/ca.pem"]
        let url = "https://\(self.host)"
        let answer = try Curl.run(
            common + ["--upload-file", file, "\(url)/store/one", "--next"] + common + ["\(url)/store/one"])
        #expect(answer.exitCode == 0)
        #expect(self.site.origin.stored("one") == up)
        let lines = try pintle.waitForExchanges(3)
        #expect(lines.filter { $0["method"] as? String == "CONNECT" }.count == 1, "\(lines)")
    }

    @Test func `routes hold for the requests in a tunnel`() throws {
        let pintle = try self.pintle(
            """
            routes:
              - name: api
                match: {hosts: [localhost], paths: ["/echo"]}
                connect: intercept
                request: {headers: {set: {X-Test: seen}}}
              - name: strict
                match: {hosts: [localhost]}
                connect: intercept
                response: {content_types: [application/json]}
            """)
        let echo = try self.curl(pintle, "/echo")
        #expect(echo.status == 200 && echo.text.contains("x=seen\n") && echo.text.contains("via=2 pintle\n"))
        let refused = try self.curl(pintle, "/html")
        #expect(refused.status == 502 && refused.problem == "response-content-type")
        let lines = try pintle.waitForExchanges(4)
        #expect(lines.compactMap { $0["route"] as? String }.suffix(1) == ["strict"])
    }

    @Test func `the client is shown a certificate of ours for its host alone`() throws {
        let pintle = try self.pintle()
        let client = try pintle.connect()
        try client.send("CONNECT \(self.host) HTTP/1.1\r\nHost: \(self.host)\r\n\r\n")
        #expect(try client.readHead().status == 200)
        let without = try Curl.run([
            "--proxy", "http://127.0.0.1:\(pintle.port)", "--cacert", "\(self.site.folder.path)/root.pem",
            "https://\(self.host)/hello",
        ])
        #expect(without.exitCode == 60, "\(without)")
    }

    @Test func `an origin that is not trusted is a problem that the client can read`() throws {
        let pintle = try self.pintle(trust: "roots: [backup.pem]")
        let answer = try self.curl(pintle, "/hello")
        #expect(answer.exitCode == 0 && answer.status == 502)
        #expect(answer.problem == "certificate-invalid", "\(answer.text)")
        #expect(try pintle.waitForExchanges(2)[1]["decision"] as? String == "reject")
    }

    @Test func `a pin that does not match is told inside the tunnel, too`() throws {
        let pin = self.site.backup.certificate.spkiPin
        let pintle = try self.pintle(trust: "roots: [root.pem], pinning: public_key, pins: [\"\(pin)\"]")
        let answer = try self.curl(pintle, "/hello")
        #expect(answer.status == 502 && answer.problem == "pin-mismatch", "\(answer.text)")
    }

    @Test func `a request for another host than its tunnel's is refused`() throws {
        let pintle = try self.pintle()
        let answer = try self.curl(pintle, "/hello", "-H", "Host: other.test")
        #expect(answer.status == 403 && answer.problem == "destination-denied")
        #expect(answer.text.contains("other.test"))
    }

    @Test func `a handshake for another host than the tunnel's gets no certificate`() throws {
        let pintle = try self.pintle()
        let client = try pintle.connect()
        try client.send("CONNECT \(self.host) HTTP/1.1\r\nHost: \(self.host)\r\n\r\n")
        #expect(try client.readHead().status == 200)
        try client.send(HelloBytes("hidden.test", isNew: true).record)
        // unrecognized_name
        #expect(try client.readToEnd().bytes == [21, 3, 3, 0, 2, 2, 112])
        let line = try pintle.waitForMessages("tls.handshake_failed")[0]
        #expect("\(line)".contains("destinations.require_sni_match") && "\(line)".contains("hidden.test"), "\(line)")
    }

    @Test func `LOOK-113 a handshake for another host is a denial in log and counters`() throws {
        let pintle = try self.pintle()
        let client = try pintle.connect()
        try client.send("CONNECT \(self.host) HTTP/1.1\r\nHost: \(self.host)\r\n\r\n")
        #expect(try client.readHead().status == 200)
        try client.send(HelloBytes("hidden.test", isNew: true).record)
        _ = try client.readToEnd()
        let line = try pintle.waitForExchanges(2)[1]
        #expect(line["decision"] as? String == "deny" && line["mode"] as? String == "intercept", "\(line)")
        #expect(line["rule"] as? String == "destinations.require_sni_match", "\(line)")
        let error = try #require(line["error"] as? String)
        #expect(error.contains("hidden.test, not localhost; a CONNECT for each"), "\(error)")
    }

    @Test func `LOOK-113 a handshake without a name is served where others are denied`() throws {
        let pintle = try self.pintle(
            "interception: {hosts: [localhost]}\ndestinations: {default: deny, allow: [localhost]}")
        let client = try pintle.connect()
        try client.send("CONNECT \(self.host) HTTP/1.1\r\nHost: \(self.host)\r\n\r\n")
        #expect(try client.readHead().status == 200)
        try client.send(HelloBytes(nil, isNew: true).record)
        // The proxy may refuse this hello for other faults, but not with unrecognized_name.
        #expect(try client.read(7) != [21, 3, 3, 0, 2, 2, 112])
    }

    @Test func `a hello that comes together with its CONNECT is read`() throws {
        let pintle = try self.pintle()
        let client = try pintle.connect()
        let hello = HelloBytes("localhost").record
        try client.send(Array("CONNECT \(self.host) HTTP/1.1\r\nHost: \(self.host)\r\n\r\n".utf8) + hello)
        #expect(try client.readHead().status == 200)
        // Whatever a server says to this hello, it has read it.
        #expect(try [21, 22].contains(client.read(1)[0]))
    }

    @Test func `a client that speaks no TLS in its tunnel is served in clear`() throws {
        let origin = try RawOrigin(answering: response("plain"))
        let pintle = try self.pintle("interception: {hosts: [\"127.0.0.1\"]}")
        let client = try pintle.connect()
        let target = "127.0.0.1:\(origin.port)"
        try client.send("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\r\n")
        #expect(try client.readHead().status == 200)
        try client.send("GET /it HTTP/1.1\r\nHost: \(target)\r\n\r\n")
        #expect(try client.readResponse(to: "GET").text == "plain")
        #expect(try pintle.waitForExchanges(2)[1]["url"] as? String == "http://\(target)/it")
    }

    @Test func `a client in TLS has TLS inside of its TLS`() throws {
        let proxy = try self.site.pki.leaf("proxy", ip: ["127.0.0.1"], signedBy: self.site.root)
        _ = try self.site.folder.write(proxy, as: "proxy")
        let pintle = try self.pintle(
            "listen_tls: {certificate: proxy.pem, key: proxy.key}\ninterception: {hosts: [localhost]}",
            arguments: ["--listen", "https://127.0.0.1:0"])
        let body = pattern(2_000_003)
        try self.site.origin.serve(body, as: "down")
        let answer = try Curl.run([
            "--proxy", "https://127.0.0.1:\(pintle.ports[1])", "--proxy-cacert", "\(self.site.folder.path)/root.pem",
            "--cacert", "\(self.site.folder.path)/ca.pem", "https://\(self.host)/files/down",
        ])
        #expect(answer.exitCode == 0 && answer.status == 200 && answer.body == body)
    }

    // MARK: Clients that pin

    @Test func `a client that refuses our certificate is told of by its host, and counted`() throws {
        let pintle = try self.pintle()
        for _ in 0..<2 {
            let refused = try Curl.run([
                "--proxy", "http://127.0.0.1:\(pintle.port)", "--cacert", "\(self.site.folder.path)/root.pem",
                "https://\(self.host)/hello",
            ])
            #expect(refused.exitCode == 60)
        }
        let line = try pintle.waitForMessages("interception.certificate_refused")[0]
        #expect("\(line)".contains(self.host) && "\(line)".contains("pass_through_on_alert"), "\(line)")
        #expect(try pintle.counters()["certificates_refused"] as? Int == 2)
    }

    @Test func `where that is wanted, its tunnels are relayed from then on`() throws {
        let pintle = try self.pintle("interception: {hosts: [localhost], pass_through_on_alert: on}")
        let arguments = [
            "--proxy", "http://127.0.0.1:\(pintle.port)", "--cacert", "\(self.site.folder.path)/root.pem",
            "https://\(self.host)/hello",
        ]
        #expect(try Curl.run(arguments).exitCode == 60)
        try pintle.waitForMessages("interception.certificate_refused")
        let passed = try Curl.run(arguments)
        #expect(passed.exitCode == 0 && passed.text == "hello\n")
    }

    @Test(arguments: [true, false])
    func `LOOK-111 such tunnels are verified where a trust policy names their host`(isRight: Bool) throws {
        let pin = (isRight ? self.site.leaf : self.site.backup).certificate.spkiPin
        let pintle = try self.pintle(
            "interception: {hosts: [localhost], pass_through_on_alert: on}",
            trust: "roots: [root.pem], pinning: public_key, pins: [\"\(pin)\"]")
        let arguments = [
            "--proxy", "http://127.0.0.1:\(pintle.port)", "--cacert", "\(self.site.folder.path)/root.pem",
            "https://\(self.host)/hello",
        ]
        #expect(try Curl.run(arguments).exitCode == 60)
        try pintle.waitForMessages("interception.certificate_refused")
        #expect((try Curl.run(arguments).text == "hello\n") == isRight)
        let line = try pintle.waitForExchanges(2)[1]
        #expect((line["assurance"] != nil) == isRight && line["trust"] as? String == "site", "\(line)")
        #expect((line["violations"] as? [String] == ["pin-mismatch"]) == !isRight, "\(line)")
    }

    // MARK: The authority

    @Test func `without an authority there is no proxy, and a way to get one`() throws {
        let folder = try TemporaryFolder()
        let settings = try folder.write("version: 1\ninterception: {hosts: [a.test]}\n", to: "pintle.yaml")
        let run = try PintleProcess.run(
            ["serve", "-c", settings, "--listen", "127.0.0.1:0"], environment: ["XDG_DATA_HOME": folder.path])
        #expect(run.exitCode == 4)
        #expect(run.errors.joined(separator: "\n").contains("pintle ca init"), "\(run.errors.joined(separator: "\n"))")
    }

    @Test func `an authority of one's own is used`() throws {
        let own = try self.site.pki.intermediate("Own", signedBy: self.site.root)
        _ = try self.site.folder.write(own, as: "own")
        let pintle = try self.pintle(
            "interception: {hosts: [localhost], ca: {certificate: own.pem, key: own.key}}")
        let answer = try Curl.run([
            "--proxy", "http://127.0.0.1:\(pintle.port)", "--cacert", "\(self.site.folder.path)/root.pem",
            "https://\(self.host)/hello",
        ])
        #expect(answer.exitCode == 0 && answer.text == "hello\n")
        #expect(try pintle.waitForExchanges(2)[1]["mode"] as? String == "intercept")
    }
}
