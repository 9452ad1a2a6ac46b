// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Trust in requests through an upstream proxy: the origin is verified as always, and an https proxy by its own name.
struct ParentTrustTests {
    private let site: PrivateSite
    private let parentRoot: TestIdentity
    private let parentLeaf: TestIdentity
    private let parent: PintleProcess

    init() throws {
        self.site = try PrivateSite()
        self.parentRoot = try TestPKI().root("Parents")
        self.parentLeaf = try TestPKI().leaf("parent", dns: ["localhost"], ip: ["127.0.0.1"], signedBy: self.parentRoot)
        try self.site.folder.write(self.parentRoot.certificatePEM, to: "parents.pem")
        self.parent = try PintleProcess("via: parent")
    }

    private func child(_ url: String, _ pin: String, more: String = "") throws -> PintleProcess {
        try PintleProcess(
            """
            upstream_proxy: {url: "\(url)"}
            trust: {site: {hosts: [localhost], roots: [root.pem], pinning: public_key, pins: ["\(pin)"]}\(more)}
            tunnels: {verify: [localhost]}
            \(self.site.upgrade)
            """, folder: self.site.folder)
    }

    private var rightPin: String { self.site.leaf.pin.description }
    private var wrongPin: String { self.site.backup.pin.description }

    private func tunnel(_ child: PintleProcess) throws -> Curl.Result {
        try Curl.run(
            proxy: child.port, "--cacert", "\(self.site.folder.path)/root.pem",
            "https://localhost:\(self.site.origin.httpsPort)/hello")
    }

    @Test(arguments: ["http", "socks5"])
    func `pins hold through a parent, and verified tunnels prove themselves through it`(scheme: String) throws {
        let socks = scheme == "http" ? nil : try SOCKSServer()
        let url = "\(scheme)://127.0.0.1:\(socks?.port ?? self.parent.port)"
        let right = try self.child(url, self.rightPin)
        #expect(try self.site.fetch(right).text == "hello\n")
        for _ in 0..<2 {
            let result = try self.tunnel(right)
            #expect(result.text == "hello\n", "\(result)")
        }
        let log = try right.waitForExchanges(3)
        #expect(log[1...].allSatisfy { $0["assurance"] as? String != nil && $0["pin"] as? String == self.rightPin })
        let wrong = try self.child(url, self.wrongPin)
        #expect(try self.site.fetch(wrong).problem == "pin-mismatch")
        let refused = try self.tunnel(wrong)
        #expect(refused.head.startLine == "HTTP/1.1 502 Origin Key Is Not Pinned", "\(refused)")
        // A request, two tunnels and one proof; the refused request and the refused proof.
        if let socks {
            #expect(try socks.waitForDestinations(6).count == 6)
        } else {
            try self.parent.waitForExchanges(5)
        }
    }

    @Test func `an https parent and the origin behind it are judged each by its own policy`() throws {
        let terminator = try TLSTerminator(self.parentLeaf, leadingTo: self.parent.port)
        let url = "https://127.0.0.1:\(terminator.port)"
        let trusting = ", parents: {hosts: [\"127.0.0.1\"], roots: [parents.pem]}"
        let right = try self.child(url, self.rightPin, more: trusting)
        for _ in 0..<2 {
            let result = try self.site.fetch(right)
            #expect(result.text == "hello\n", "\(result)")
        }
        #expect(
            try Curl.run(proxy: right.port, "http://localhost:\(self.site.origin.httpPort)/hello").text == "hello\n")
        let wrong = try self.child(url, self.wrongPin, more: trusting)
        #expect(try self.site.fetch(wrong).problem == "pin-mismatch")
        let parentsPin = try self.child(url, self.parentLeaf.pin.description, more: trusting)
        #expect(try self.site.fetch(parentsPin).problem == "pin-mismatch")
    }

    @Test func `tunnels go by an https parent, whoever speaks first and whoever ends first`() throws {
        let terminator = try TLSTerminator(self.parentLeaf, leadingTo: self.parent.port)
        let child = try PintleProcess(
            """
            upstream_proxy: {url: "https://localhost:\(terminator.port)"}
            trust: {parents: {hosts: [localhost], roots: [parents.pem]}}
            tunnels: {verify: off}
            """, folder: self.site.folder)
        for _ in 0..<2 { #expect(try self.tunnel(child).text == "hello\n") }
        let bytes = pattern(3 << 20)
        let echo = try RawOrigin { connection in
            try connection.send("220 ready\r\n")
            var count = 0
            while count < bytes.count, let piece = try connection.stream.readSome() {
                count += piece.count
                try connection.stream.send(piece)
            }
            connection.stream.finishSending()
            _ = try connection.waitForEnd()
        }
        let client = try child.connect()
        try client.send("CONNECT localhost:\(echo.port) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(try client.readLine() == "HTTP/1.1 200 Connection Established")
        #expect(try client.readLine() == "")
        #expect(try client.readLine() == "220 ready")
        let failure = Watched<String?>(nil)
        inBackground(failure) { try client.send(bytes) }
        #expect(try client.read(bytes.count) == bytes)
        #expect(try client.readToEnd().bytes.isEmpty)
        #expect(failure.current == nil)
        client.close()
        #expect(try child.waitForExchanges(3)[2]["error"] == nil)
    }

    @Test func `by an https parent a destination proves itself in a handshake through it`() throws {
        let terminator = try TLSTerminator(self.parentLeaf, leadingTo: self.parent.port)
        let url = "https://127.0.0.1:\(terminator.port)"
        let trusting = ", parents: {hosts: [\"127.0.0.1\"], roots: [parents.pem]}"
        let right = try self.child(url, self.rightPin, more: trusting)
        for _ in 0..<2 {
            let result = try self.tunnel(right)
            #expect(result.text == "hello\n", "\(result)")
        }
        let log = try right.waitForExchanges(2)
        #expect(log.allSatisfy { $0["assurance"] as? String != nil && $0["pin"] as? String == self.rightPin }, "\(log)")
        // Two tunnels and one proof.
        #expect(try self.parent.waitForExchanges(3).count == 3)
        let wrong = try self.child(url, self.wrongPin, more: trusting)
        for _ in 0..<2 {
            let refused = try self.tunnel(wrong)
            #expect(refused.head.startLine == "HTTP/1.1 502 Origin Key Is Not Pinned", "\(refused)")
        }
        // The refusal is kept, too.
        #expect(try self.parent.waitForExchanges(4).count == 4)
        let stranger = try self.child(url, self.rightPin)
        #expect(try self.tunnel(stranger).head.startLine == "HTTP/1.1 502 Origin Certificate Is Invalid")
    }

    @Test func `an https parent that is not trusted gets no request`() throws {
        let terminator = try TLSTerminator(self.parentLeaf, leadingTo: self.parent.port)
        let url = "https://127.0.0.1:\(terminator.port)"
        let rules = [
            "", ", parents: {hosts: [\"127.0.0.1\"], roots: [root.pem]}",
            ", parents: {hosts: [\"127.0.0.1\"], roots: [parents.pem], pinning: public_key, pins: [\"\(self.rightPin)\"]}",
        ]
        for (more, problem) in zip(rules, ["certificate-invalid", "certificate-invalid", "pin-mismatch"]) {
            let child = try self.child(url, self.rightPin, more: more)
            for target in ["http://site.test/hello", "http://localhost:\(self.site.origin.httpPort)/hello"] {
                let result = try Curl.run(proxy: child.port, target)
                #expect(result.problem == problem, "\(result)")
                #expect((result.json["detail"] as? String)?.hasPrefix("the proxy 127.0.0.1") == true, "\(result)")
            }
        }
        #expect(self.parent.exchanges.isEmpty)
    }
}
