// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// The proxy in a network that is not there, comes, and goes again.
@Suite(.enabled(if: NetworkNamespace.isAvailable, "\(NetworkNamespace.requirement)"))
struct NetworkTests {
    private let near: NetworkNamespace
    private let far: NetworkNamespace
    private let farAddress = "10.99.0.2"

    /// Nothing that is tested here may come from a time-out.
    private let patient = "routes: [{name: patient, request: {connect_timeout: 10m, timeout: 10m}}]"

    init() throws {
        self.near = try NetworkNamespace()
        self.far = try NetworkNamespace()
        try self.near.join(self.far, own: "10.99.0.1/24", other: "\(self.farAddress)/24")
        try self.near.setNameServer(self.farAddress)
    }

    private func connect() throws {
        try self.near.ip("link", "set", "uplink", "up")
        try self.far.ip("link", "set", "uplink", "up")
        try self.near.ip("route", "add", "default", "via", self.farAddress)
    }

    /// Waits until the proxy has logged `count` statuses, and returns them.
    private func statuses(of pintle: PintleProcess, _ count: Int) throws -> [String] {
        try pintle.waitForMessages("reachability.changed", count).map { $0["reachability"] as? String ?? "" }
    }

    private func ask(_ pintle: PintleProcess, _ arguments: String...) throws -> Curl.Result {
        try Curl.run(proxy: pintle.port, in: self.near, arguments)
    }

    private func expectUnreachable(_ result: Curl.Result, _ detail: String) {
        #expect(result.status == 503 && result.problem == "network-unreachable", "\(result)")
        #expect(result["Proxy-Status"]?.contains("error=destination_ip_unroutable") == true, "\(result.head)")
        #expect((result.json["detail"] as? String)?.contains(detail) == true, "\(result)")
    }

    @Test func `without a network addresses, names and tunnels are network-unreachable at once`() throws {
        let pintle = try PintleProcess(self.patient, in: self.near)
        #expect(try self.statuses(of: pintle, 1) == ["not reachable"])
        self.expectUnreachable(try self.ask(pintle, "http://10.1.2.3/"), "no route to 10.1.2.3:80")
        self.expectUnreachable(try self.ask(pintle, "http://[2001:db8::1]/"), "no route to [2001:db8::1]:80")
        self.expectUnreachable(try self.ask(pintle, "http://site.example/"), "site.example cannot be looked up")
        for host in ["10.1.2.3", "site.example"] {
            let tunnel = try self.ask(pintle, "--proxytunnel", "http://\(host)/")
            #expect(tunnel.status == 503 && tunnel.exitCode == 56, "\(tunnel)")
        }
        // A body that is on its way does no harm, nor does the connection.
        let results = try self.ask(
            pintle, "-d", String(repeating: "x", count: 100_000), "http://10.1.2.3/", "http://10.1.2.3/again")
        self.expectUnreachable(results, "no route")
    }

    @Test func `a name server on this machine is not blamed for the network that it lacks`() throws {
        try self.near.setNameServer("127.0.0.1")
        let pintle = try PintleProcess(self.patient, in: self.near)
        _ = try self.statuses(of: pintle, 1)
        self.expectUnreachable(try self.ask(pintle, "http://site.example/"), "site.example cannot be looked up")
    }

    @Test func `RCH-16 without a network what can be reached all the same is served`() throws {
        let pintle = try PintleProcess(self.patient, in: self.near)
        _ = try self.statuses(of: pintle, 1)
        let local = try NginxOrigin(in: self.near)
        for host in ["127.0.0.1", "localhost", "10.99.0.1"] {
            try self.near.ip("link", "set", "uplink", "up")
            let url = "http://\(host):\(local.httpPort)/hello"
            let result = try self.ask(pintle, url)
            // nginx listens on the loopback address alone; to be refused is to have been there.
            let served = host == "10.99.0.1" ? result.problem == "connect-failure" : result.status == 200
            #expect(served, "\(result)")
        }
        // A separate network, without a default route.
        try self.far.ip("link", "set", "uplink", "up")
        let neighbour = try NginxOrigin(address: self.farAddress, in: self.far)
        #expect(try self.ask(pintle, "http://\(self.farAddress):\(neighbour.httpPort)/hello").text == "hello\n")
        #expect(try self.statuses(of: pintle, 1) == ["not reachable"])
    }

    @Test func `requests go through as soon as there is a network, and the change is logged`() throws {
        let pintle = try PintleProcess(self.patient, in: self.near)
        #expect(try self.statuses(of: pintle, 1) == ["not reachable"])
        // An address beyond the router, so that the default route decides.
        try self.far.ip("addr", "add", "10.1.2.3/32", "dev", "lo")
        let origin = try NginxOrigin(address: "10.1.2.3", in: self.far)
        let url = "http://10.1.2.3:\(origin.httpPort)/hello"
        self.expectUnreachable(try self.ask(pintle, url), "no route to 10.1.2.3")
        try self.connect()
        #expect(try self.statuses(of: pintle, 2)[1] == "reachable")
        #expect(try self.ask(pintle, url).text == "hello\n")
        try self.near.ip("link", "set", "uplink", "down")
        #expect(try self.statuses(of: pintle, 3)[2] == "not reachable")
        self.expectUnreachable(try self.ask(pintle, url), "no route to 10.1.2.3")
        #expect(try pintle.stop() == 0)
    }

    @Test func `without a network what is kept answers, as far as it may`() throws {
        let pintle = try PintleProcess(
            """
            cache: {disk: off}
            routes: [{name: kept, cache: {policy: protocol}}]
            """, in: self.near)
        try self.far.ip("addr", "add", "10.1.2.3/32", "dev", "lo")
        let origin = try NginxOrigin(address: "10.1.2.3", in: self.far)
        try origin.serve(Array("hello\n".utf8), as: "page")
        try self.connect()
        _ = try self.statuses(of: pintle, 2)
        let url = "http://10.1.2.3:\(origin.httpPort)/files/page"
        #expect(try self.ask(pintle, url).text == "hello\n")
        try self.near.ip("link", "set", "uplink", "down")
        _ = try self.statuses(of: pintle, 3)
        // Stale at once, as a file that has just been written has no lifetime: only who says so is answered.
        let stale = try self.ask(pintle, "-H", "Cache-Control: stale-if-error=3600", url)
        #expect(stale.status == 200 && stale.text == "hello\n", "\(stale)")
        #expect(stale["Cache-Status"]?.hasPrefix("pintle;fwd=stale;") == true, "\(stale.head)")
        self.expectUnreachable(try self.ask(pintle, url), "no route to 10.1.2.3")
        self.expectUnreachable(try self.ask(pintle, url + "?other"), "no route to 10.1.2.3")
    }

    @Test func `LOOK-52 the log calls a network that works reachable, and says so only after there was none`() throws {
        try self.connect()
        let pintle = try PintleProcess(self.patient, in: self.near)
        try self.near.ip("link", "set", "uplink", "down")
        let first = try pintle.waitForMessages("reachability.changed", 1)[0]
        #expect(first["level"] as? String == "warning" && first["reachability"] as? String == "not reachable")
        try self.connect()
        let second = try pintle.waitForMessages("reachability.changed", 2)[1]
        #expect(second["level"] as? String == "notice" && second["reachability"] as? String == "reachable")
    }

    @Test func `a cable that is pulled out is noticed although the routes stay`() throws {
        let pintle = try PintleProcess(self.patient, in: self.near)
        try self.connect()
        #expect(try self.statuses(of: pintle, 2).last == "reachable")
        try self.far.ip("link", "set", "uplink", "down")
        #expect(try self.statuses(of: pintle, 3).last == "not reachable")
        // The kernel would try, and find out after seconds; so would the resolver.
        let answer = "no route to 10.1.2.3:80, and no default route that works"
        self.expectUnreachable(try self.ask(pintle, "http://10.1.2.3/"), answer)
        self.expectUnreachable(try self.ask(pintle, "http://site.example/"), "site.example cannot be looked up")
    }

    @Test func `a name server that is silent holds up nobody but who asks it`() throws {
        let silent = try self.far.silentServer(on: self.farAddress, port: 53)
        let pintle = try PintleProcess(
            """
            engine: {threads: 1}
            routes: [{name: hasty, request: {connect_timeout: 100ms}}]
            """, in: self.near)
        try self.near.ip("link", "set", "uplink", "up")
        try self.far.ip("link", "set", "uplink", "up")
        // The server can be reached, first as a neighbour: its missing answer is no fault of the network.
        for statuses in [["not reachable"], ["not reachable", "reachable"]] {
            if statuses.count == 2 { try self.near.ip("route", "add", "default", "via", self.farAddress) }
            #expect(try self.statuses(of: pintle, statuses.count) == statuses)
            let result = try self.ask(pintle, "http://site.example/")
            #expect(result.status == 502 && result.problem == "dns-failure", "\(result)")
        }
        let local = try NginxOrigin(in: self.near)
        #expect(try self.ask(pintle, "http://127.0.0.1:\(local.httpPort)/hello").text == "hello\n")
        #expect(try pintle.stop() == 0)
        withExtendedLifetime(silent) {}
    }
}
