// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import Testing

/// Ways around the policy that were open once, against the program.
struct PolicyEvasionTests {
    let origin: RawOrigin

    init() throws { self.origin = try RawOrigin(answering: response("done")) }

    // MARK: Hosts

    @Test(arguments: ["0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "[::ffff:169.254.169.254]"])
    func `LOOK-17 a parent is never asked for a denied address`(host: String) throws {
        let child = try PintleProcess(
            "via: child\nupstream_proxy: {url: \"http://127.0.0.1:\(self.origin.port)\"}\ndestinations: {private_addresses: deny}"
        )
        let plain = try child.ask("GET http://\(host)/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(plain.status == 403, "\(plain)")
        let tunnel = try child.connect()
        try tunnel.send("CONNECT \(host):443 HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try tunnel.readHead().status == 403)
        #expect(self.origin.connections.isEmpty)
    }

    @Test func `LOOK-17 a parent is asked for an address in one spelling`() throws {
        let child = try PintleProcess("via: child\nupstream_proxy: {url: \"http://127.0.0.1:\(self.origin.port)\"}")
        for host in ["192.0.2.1", "0xc0.0.2.1", "3221225985", "192.0.513"] {
            let answer = try child.ask("GET http://\(host)/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            #expect(answer.text == "done", "\(host): \(answer)")
        }
        let seen = try self.origin.waitForRequests(4)
        #expect(seen.allSatisfy { $0.head.startLine == "GET http://192.0.2.1/ HTTP/1.1" && $0["Host"] == "192.0.2.1" })
        let malformed = try child.ask("GET http://evil.0x1/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(malformed.status == 400)
    }

    // MARK: The proxy itself

    @Test(arguments: ["0.0.0.0", "[::]", "0", "127.0.0.1", "[::ffff:0.0.0.0]"])
    func `LOOK-22 no spelling of this machine leads back to the proxy`(host: String) throws {
        for listen in ["127.0.0.1:0", "0.0.0.0:0"] {
            let pintle = try PintleProcess(
                "via: off\ndestinations: {private_addresses: allow, connect_ports: any}",
                arguments: ["--listen", listen])
            let port = try #require(pintle.ports.last)
            for request in ["CONNECT \(host):\(port)", "GET http://\(host):\(port)/"] {
                let client = try pintle.connect()
                try client.send("\(request) HTTP/1.1\r\nHost: x\r\n\r\n")
                let head = try client.readHead()
                #expect(head.status == 403, "\(request) on \(listen): \(head)")
                #expect(head["Proxy-Status"]?.contains("is where this proxy listens") == true, "\(head)")
            }
        }
    }

    @Test func `LOOK-22 a listener on all addresses knows the machine's own`() throws {
        let pintle = try PintleProcess(
            "via: off\ndestinations: {private_addresses: allow, connect_ports: any}",
            arguments: ["--listen", "0.0.0.0:0"])
        // The first one listens on loopback alone.
        let port = try #require(pintle.ports.last)
        for address in Self.machineAddresses + ["127.0.0.9"] {
            let client = try pintle.connect()
            try client.send("CONNECT \(address):\(port) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.readHead().status == 403, "\(address)")
        }
    }

    /// The IPv4 addresses of the machine's links.
    private static var machineAddresses: [String] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var found: [String] = []
        var next = first
        while let entry = next {
            next = entry.pointee.ifa_next
            guard let address = entry.pointee.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET) else {
                continue
            }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard getnameinfo(address, size, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
                continue
            }
            found.append(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        return found
    }

    // MARK: Trailers

    @Test func `LOOK-23 what a rule names is no trailer, both ways`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nok\r\n0\r\nServer: evil\r\n"
                    + "X-Set: evil\r\nX-Add: evil\r\nX-Default: evil\r\nX-Sum: 1\r\n\r\n")
        }
        let rules = "{remove: [Server, X-Secret], set: {X-Set: a}, add: {X-Add: a}, default: {X-Default: a}}"
        let response = rules.replacing(", default: {X-Default: a}", with: "")
        let pintle = try PintleProcess(
            "routes: [{name: r, request: {headers: \(rules)}, response: {headers: \(response)}}]")
        let answer = try pintle.ask(
            "POST http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n"
                + "X-Secret: a\r\nx-set: evil\r\nX-Add: evil\r\nX-Default: evil\r\nX-Sum: 2\r\n\r\n", method: "POST")
        #expect(answer.text == "ok" && answer["X-Set"] == "a", "\(answer)")
        #expect(answer.trailers.map(\.name) == ["X-Default", "X-Sum"], "\(answer.trailers)")
        let seen = try #require(try origin.waitForRequests(1).first)
        #expect(seen.trailers.map(\.name) == ["X-Sum"], "\(seen.trailers)")
    }

    // MARK: Tunnels

    @Test func `LOOK-25 a CONNECT past a route's rules is refused, and the log says by which`() throws {
        let pintle = try PintleProcess(
            "routes: [{name: api, match: {hosts: [localhost], methods: [POST]}, response: {body: json}}]")
        let client = try pintle.connect()
        try client.send("CONNECT localhost:\(self.origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        let answer = try client.readResponse(to: "GET")
        #expect(answer.status == 403 && answer.text.contains("urn:pintle:problem:destination-denied"), "\(answer)")
        let record = try pintle.waitForExchanges(1)[0]
        let rule =
            "routes[0] \"api\", because a tunnel cannot keep its response.body; connect: intercept keeps them, tunnel or "
            + "verify on the route lets it pass"
        #expect(record["rule"] as? String == rule && record["route"] as? String == "api", "\(record)")
        #expect(self.origin.connections.isEmpty)
    }

    @Test func `LOOK-28 a hello in SSL 2's form is no other protocol`() throws {
        let pintle = try PintleProcess("destinations: {default: deny, allow: [localhost], connect_ports: any}")
        let client = try pintle.connect()
        try client.send("CONNECT localhost:\(self.origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try client.readHead().status == 200)
        try client.send([0x80, 0x1F, 1, 3, 1, 0, 6, 0, 0, 0, 16] + [UInt8](repeating: 0x2F, count: 22))
        let record = try pintle.waitForExchanges(1)[0]
        #expect(record["rule"] as? String == "destinations.require_sni_match", "\(record)")
        #expect(self.origin.requests.isEmpty)
    }

    // MARK: Gateways

    @Test func `LOOK-24 a page whose name leads here gets nothing`() throws {
        let pintle = try PintleProcess(
            "routes: [{name: g, upstream: \"http://127.0.0.1:\(self.origin.port)\", allow_cleartext_credentials: true, "
                + "request: {authorization: {bearer: secret}}}]")
        let rebound = try pintle.ask("GET / HTTP/1.1\r\nHost: evil.example:\(pintle.port)\r\nConnection: close\r\n\r\n")
        #expect(rebound.status == 400 && self.origin.connections.isEmpty, "\(rebound)")
        for host in ["localhost:\(pintle.port)", "127.0.0.1:\(pintle.port)"] {
            let own = try pintle.ask("GET / HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
            #expect(own.text == "done", "\(own)")
        }
    }

    // MARK: WebSockets

    @Test func `LOOK-54 a ws target is a WebSocket`() throws {
        let origin = try RawOrigin { connection in
            try connection.send(WebSocketWire.switching(for: try connection.readRequestHead()))
            try connection.stream.send(WebSocketWire.bytes(.text, Array("hello".utf8), isMasked: false))
        }
        let pintle = try PintleProcess("")
        let client = try pintle.connect()
        try client.send("GET ws://127.0.0.1:\(origin.port)/chat HTTP/1.1\r\nHost: x\r\n\(WebSocketWire.handshake)\r\n")
        #expect(try client.readHead().status == 101)
        #expect(try client.readFrame() == WebSocketWire.Frame(kind: .text, payload: Array("hello".utf8)))
        #expect(try origin.waitForRequests(1)[0].head.startLine == "GET /chat HTTP/1.1")
        let secure = try pintle.ask("GET wss://127.0.0.1:1/ HTTP/1.1\r\nHost: x\r\n\(WebSocketWire.handshake)\r\n")
        #expect(secure.status == 400 && secure.text.contains("CONNECT"), "\(secure)")
    }
}
