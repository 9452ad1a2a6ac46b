// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Clients that may use the proxy, and destinations that it may connect to.
struct DestinationTests {
    let origin: RawOrigin

    init() throws { self.origin = try RawOrigin(answering: response("done")) }

    private func fetch(_ configuration: String, host: String) throws -> Curl.Result {
        let pintle = try PintleProcess(configuration)
        return try Curl.run(proxy: pintle.port, "http://\(host):\(self.origin.port)/")
    }

    @Test(arguments: ["[localhost]", "[\"*.local\", localhost]", "[\"*\"]"])
    func `a host that is denied by name is refused with the rule's name`(deny: String) throws {
        let result = try self.fetch("destinations: {deny: \(deny)}", host: "localhost")
        #expect(result.status == 403 && result.problem == "destination-denied", "\(result)")
        #expect(result["Proxy-Status"]?.contains("error=http_request_denied") == true)
        #expect((result.json["detail"] as? String)?.contains("destinations.deny") == true)
        #expect(self.origin.connections.isEmpty)
    }

    @Test func `the address that is dialled is judged, not the name - invariant 3`() throws {
        let result = try self.fetch("destinations: {deny: [\"127.0.0.0/8\", \"::1/128\"]}", host: "localhost")
        #expect(result.status == 403 && result.problem == "destination-denied", "\(result)")
        #expect(result["Proxy-Status"]?.contains("error=destination_ip_prohibited") == true, "\(result.head)")
        #expect((result.json["detail"] as? String)?.contains("destinations.deny[") == true, "\(result)")
        #expect(self.origin.connections.isEmpty)
    }

    @Test func `a name that is allowed does not allow a denied address`() throws {
        let result = try self.fetch(
            "destinations: {default: deny, allow: [localhost], deny: [\"127.0.0.0/8\", \"::1/128\"]}", host: "localhost"
        )
        #expect(result.status == 403 && result.problem == "destination-denied", "\(result)")
        #expect(self.origin.connections.isEmpty)
    }

    @Test(arguments: [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "[::ffff:127.0.0.1]", "127.0.0.1.",
    ])
    func `no spelling of a denied address gets around the rule`(host: String) throws {
        let pintle = try PintleProcess("destinations: {deny: [\"127.0.0.0/8\"]}")
        let client = try pintle.connect()
        try client.send("GET http://\(host):\(self.origin.port)/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        let answer = try client.readResponse()
        #expect([400, 403, 502].contains(answer.status), "\(answer)")
        #expect(self.origin.connections.isEmpty, "\(host) reached the origin")
    }

    @Test(arguments: ["localhost", "127.0.0.1", "127.1", "[::ffff:127.0.0.1]"], ["deny", "auto"])
    func `a private address is not dialled, whatever it is called`(host: String, choice: String) throws {
        let arguments = choice == "auto" ? ["--listen", "0.0.0.0:0"] : []
        let rules = "destinations: {private_addresses: \(choice), connect_ports: any}"
        let pintle = try PintleProcess(rules, arguments: arguments)
        for option in ["-gs", "-gsp"] {
            let result = try Curl.run(proxy: pintle.port, option, "http://\(host):\(self.origin.port)/")
            #expect(result.head.startLine.hasPrefix("HTTP/1.1 403 "), "\(result)")
            let status = try #require(result["Proxy-Status"])
            #expect(status.contains("error=destination_ip_prohibited"), "\(status)")
            #expect(status.contains("destinations.private_addresses \(choice)"), "\(status)")
            #expect(status.contains("is loopback"), "\(status)")
        }
        #expect(self.origin.connections.isEmpty)
    }

    @Test(arguments: ["[localhost]", "[127.0.0.0/8]"])
    func `a private address is dialled where it is listed`(allow: String) throws {
        let result = try self.fetch("destinations: {private_addresses: deny, allow: \(allow)}", host: "localhost")
        #expect(result.text == "done", "\(result)")
    }

    @Test func `with default deny only what is allowed passes`() throws {
        let allowed = try self.fetch("destinations: {default: deny, allow: [localhost]}", host: "localhost")
        #expect(allowed.text == "done", "\(allowed)")
        let byAddress = try self.fetch("destinations: {default: deny, allow: [\"127.0.0.0/8\"]}", host: "localhost")
        #expect(byAddress.text == "done", "\(byAddress)")
        let other = try self.fetch("destinations: {default: deny, allow: [\"10.0.0.0/8\"]}", host: "localhost")
        #expect(other.status == 403, "\(other)")
    }

    @Test func `rules about ports hold for that port only`() throws {
        let elsewhere = try self.fetch("destinations: {deny: [\"localhost:1\"]}", host: "localhost")
        #expect(elsewhere.text == "done", "\(elsewhere)")
        let here = try self.fetch("destinations: {deny: [\"localhost:\(self.origin.port)\"]}", host: "localhost")
        #expect(here.status == 403, "\(here)")
        let network = try self.fetch("destinations: {deny: [\"127.0.0.0/8:\(self.origin.port)\"]}", host: "localhost")
        #expect(network.status == 403, "\(network)")
    }

    @Test func `the upstream of a route is a destination like any other`() throws {
        let pintle = try PintleProcess(
            """
            destinations: {deny: [localhost]}
            routes: [{name: up, match: {hosts: [site.test]}, upstream: "http://localhost:\(self.origin.port)"}]
            """)
        let result = try Curl.run(proxy: pintle.port, "http://site.test/")
        #expect(result.status == 403 && result.problem == "destination-denied", "\(result)")
    }

    @Test func `a client outside clients allow is refused and told so`() throws {
        let pintle = try PintleProcess("clients: {allow: [\"10.0.0.0/8\"]}")
        let client = try pintle.connect()
        try client.send(get(self.origin.port))
        let answer = try client.readResponse()
        #expect(answer.status == 403 && answer.text.contains("urn:pintle:problem:client-denied"), "\(answer)")
        #expect(self.origin.connections.isEmpty)
    }

    @Test(arguments: ["connections: 2, connections_per_client: 2", "connections_per_client: 2"])
    func `connections beyond the limit are answered with 503, and those within it go on`(limit: String) throws {
        let pintle = try PintleProcess("limits: {\(limit)}")
        let first = try pintle.connect()
        let second = try pintle.connect()
        for client in [first, second] {
            try client.send(get(self.origin.port))
            #expect(try client.readResponse().text == "done")
        }
        let third = try pintle.connect()
        try third.send(get(self.origin.port))
        let answer = try third.readResponse()
        #expect(answer.status == 503 && answer.text.contains("urn:pintle:problem:overloaded"), "\(answer)")
        #expect(answer["Retry-After"] != nil)
        #expect(answer["Proxy-Status"]?.contains("error=connection_limit_reached") == true)
        try first.send(get(self.origin.port))
        #expect(try first.readResponse().text == "done")
    }

    @Test func `the proxy does not forward to its own address`() throws {
        let pintle = try PintleProcess("via: off")
        let answer = try pintle.ask(
            "GET http://127.0.0.1:\(pintle.port)/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        let reason =
            "no address of 127.0.0.1:\(pintle.port) may be dialled: 127.0.0.1 with port \(pintle.port) is where this proxy "
            + "listens"
        #expect(answer.status == 403 && answer.text.contains(reason), "\(answer)")
        // A configuration that names the port knows it without network, in the same words.
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "version: 1\nlisten: [\"127.0.0.1:\(pintle.port)\"]\n", to: "pintle.yaml")
        let explained = try PintleProcess.run(["explain", "-c", file, "GET", "http://127.0.0.1:\(pintle.port)/"])
        #expect(explained.exitCode == 1 && explained.output.contains("destination  \(reason)"), "\(explained.output)")
    }
}
