// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// `destinations` under `enforcement: report`: requests that would be refused pass, and are reported.
struct ReportedDestinationTests {
    private typealias Object = PintleProcess.Object

    private func check(_ line: Object, _ rule: String, _ error: String, at place: SourceLocation = #_sourceLocation) {
        #expect(line["decision"] as? String == "would-deny", "\(line)", sourceLocation: place)
        #expect(line["rule"] as? String == rule, "\(line)", sourceLocation: place)
        #expect(line["violations"] as? [String] == ["destination-denied"], "\(line)", sourceLocation: place)
        #expect(line["error"] as? String == error, "\(line)", sourceLocation: place)
    }

    @Test(arguments: ["deny: [localhost]", "deny: [\"127.0.0.0/8\", \"::1/128\"]", "default: deny", "ports: [1]"])
    func `LOOK-116 a request passes marked, and its line says would-deny`(rules: String) throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess("enforcement: report\ndestinations: {\(rules)}")
        // The second goes over the connection of the first.
        for number in 0..<2 {
            let answer = try Curl.run(proxy: pintle.port, "http://localhost:\(origin.port)/")
            #expect(answer.text == "done" && answer["Pintle-Violation"] == "destination-denied", "\(answer)")
            let line = try pintle.waitForExchanges(number + 1)[number]
            let rule = try #require(line["rule"] as? String)
            #expect(rule.hasPrefix("destinations."), "\(line)")
            let address = line["address"] as? String ?? ""
            let host = "localhost:\(origin.port)"
            let subject = rules.contains("127") ? "\(address), which is dialled for \(host)," : host
            self.check(line, rule, "\(subject) is reported by \(rule)")
        }
        let violations = try pintle.counters()["violations"] as? Object
        #expect(violations?["destination-denied"] as? Int == 2)
    }

    @Test func `LOOK-116 a cached answer is marked like the one before it`() throws {
        let origin = try RawOrigin(answering: response("done", fields: "Cache-Control: max-age=60\r\n"))
        let pintle = try PintleProcess(
            "enforcement: report\ndestinations: {deny: [localhost]}\nroutes: [{name: r, cache: {policy: protocol}}]")
        for number in 0..<3 {
            let answer = try Curl.run(proxy: pintle.port, "http://localhost:\(origin.port)/")
            #expect(answer.text == "done" && answer["Pintle-Violation"] == "destination-denied", "\(answer)")
            #expect(try pintle.waitForExchanges(number + 1)[number]["decision"] as? String == "would-deny")
        }
        #expect(origin.requests.count == 1)
    }

    @Test func `LOOK-116 the gateway's upstream and what a redirect leads to are reported, too`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let first = try RawOrigin(
            answering: "HTTP/1.1 302 Found\r\nLocation: http://localhost:\(origin.port)/\r\nContent-Length: 0\r\n\r\n")
        let pintle = try PintleProcess(
            """
            enforcement: report
            destinations: {deny: [localhost]}
            routes:
              - {name: up, match: {hosts: [site.test]}, upstream: "http://localhost:\(origin.port)"}
              - {name: moved, redirects: follow}
            """)
        let rule = "destinations.deny[0] \"localhost\""
        for (number, url) in ["http://site.test/", "http://127.0.0.1:\(first.port)/"].enumerated() {
            let answer = try Curl.run(proxy: pintle.port, url)
            #expect(answer.text == "done" && answer["Pintle-Violation"] == "destination-denied", "\(answer)")
            self.check(
                try pintle.waitForExchanges(number + 1)[number], rule, "localhost:\(origin.port) is reported by \(rule)"
            )
        }
    }

    @Test(arguments: ["deny: [localhost]", "deny: [\"127.0.0.0/8\", \"::1/128\"]", "connect_ports: [1]"])
    func `LOOK-116 a tunnel passes, and its line says would-deny`(rules: String) throws {
        let site = try PrivateSite()
        let pintle = try PintleProcess("enforcement: report\ndestinations: {\(rules)}")
        let answer = try Curl.run(
            proxy: pintle.port, "--cacert", "\(site.folder.path)/root.pem",
            "https://localhost:\(site.origin.httpsPort)/hello")
        #expect(answer.text == "hello\n", "\(answer)")
        let line = try pintle.waitForExchanges(1)[0]
        #expect(line["mode"] as? String == "tunnel" && line["decision"] as? String == "would-deny", "\(line)")
        #expect(line["violations"] as? [String] == ["destination-denied"], "\(line)")
        #expect((line["error"] as? String)?.contains(" is reported by destinations.") == true, "\(line)")
    }

    @Test func `LOOK-116 a hello with another name is relayed at once, and reported`() throws {
        let received = Watched<[UInt8]>([])
        let origin = try RawOrigin { connection in
            while let bytes = try connection.stream.readSome() {
                received.change { $0 += bytes }
                connection.stream.forgetTaken()
            }
        }
        let pintle = try PintleProcess("enforcement: report")
        let client = try pintle.connect()
        let target = "localhost:\(origin.port)"
        try client.send("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\r\n")
        #expect(try client.readHead().status == 200)
        let hello = HelloBytes("hidden.example").record
        try client.send(Array(hello.prefix(20)))
        // Nothing waits for the rest of it.
        try received.wait(for: "its beginning") { $0.count == 20 }
        try client.send(Array(hello.dropFirst(20)))
        try received.wait(for: "all of it") { $0.count == hello.count }
        #expect(received.current == hello)
        client.finishSending()
        _ = try client.readToEnd()
        self.check(
            try pintle.waitForExchanges(1)[0], "destinations.require_sni_match",
            "the tunnel is reported by destinations.require_sni_match: its ClientHello names hidden.example, not "
                + "localhost; a CONNECT for each host keeps them apart")
    }

    @Test func `LOOK-116 an intercepted tunnel and the requests in it pass and are reported`() throws {
        let site = try PrivateSite()
        let authority = try CertificateAuthority(named: "Test CA")
        try AuthorityFolder("\(site.folder.path)/pintle/ca").keep(authority)
        try site.folder.write(authority.certificatePEM, to: "ca.pem")
        let pintle = try PintleProcess(
            """
            enforcement: report
            destinations: {deny: [localhost]}
            interception: {hosts: [localhost]}
            trust: {site: {hosts: [localhost], roots: [root.pem]}}
            """, environment: ["XDG_DATA_HOME": site.folder.path], folder: site.folder)
        let host = "localhost:\(site.origin.httpsPort)"
        let answer = try Curl.run([
            "--proxy", "http://127.0.0.1:\(pintle.port)", "--cacert", "\(site.folder.path)/ca.pem",
            "https://\(host)/hello",
        ])
        #expect(answer.text == "hello\n" && answer["Pintle-Violation"] == "destination-denied", "\(answer)")
        let rule = "destinations.deny[0] \"localhost\""
        for line in try pintle.waitForExchanges(2) {
            #expect(line["mode"] as? String == "intercept", "\(line)")
            self.check(line, rule, "\(host) is reported by \(rule)")
        }
        let client = try pintle.connect()
        try client.send("CONNECT \(host) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(try client.readHead().status == 200)
        try client.send(HelloBytes("hidden.test", isNew: true).record)
        // The proxy may refuse this hello for other faults, but not with unrecognized_name.
        #expect(try client.read(7) != [21, 3, 3, 0, 2, 2, 112])
        #expect(try pintle.waitForExchanges(4)[3]["rule"] as? String == "destinations.require_sni_match")
    }

    @Test func `LOOK-116 auto keeps other machines out of this one's networks in report mode, too`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(
            "enforcement: report\ndestinations: {default: deny}", arguments: ["--listen", "0.0.0.0:0"])
        let answer = try Curl.run(proxy: pintle.port, "http://localhost:\(origin.port)/")
        #expect(answer.status == 403 && answer.problem == "destination-denied", "\(answer)")
        #expect(answer["Proxy-Status"]?.contains("private_addresses auto") == true, "\(answer)")
        #expect(origin.connections.isEmpty)
    }

    @Test func `LOOK-116 the summary and the reports of run have a word for it`() throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try RunStage("enforcement: report\ndestinations: {deny: [\"127.0.0.0/8\"]}")
        let formats = ["json", "junit", "sarif", "markdown", "har"]
        let process = try stage.run(
            formats.flatMap { ["--report", "\($0)=report.\($0)"] },
            ["curl", "-sS", "http://127.0.0.1:\(origin.port)/"])
        #expect(process.output == ["done"] && process.exitCode == 1, "\(process.lines)")
        #expect(process.errors.first == "pintle: 1 request, 1 would be denied, 1 violation (pintle.yaml)")
        #expect(process.errors.contains { $0.hasPrefix("would-deny: GET http://127.0.0.1:\(origin.port)/: ") })
        #expect(try stage.report().object("summary").number("would_deny") == 1)
        for format in formats {
            #expect(
                stage.text("report.\(format)").contains(format == "har" ? "would-deny" : "reported by destinations"))
        }
    }
}
