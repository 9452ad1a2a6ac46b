// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Clients that speak TLS with the proxy: `listen: ["https://…"]`.
struct TLSListenerTests {
    let folder: TemporaryFolder
    let origin: RawOrigin

    init() throws {
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin(answering: response("done"))
    }

    /// Starts a proxy with a plaintext port and a TLS port, and returns the latter, too.
    private func start(_ more: String = "") throws -> (pintle: PintleProcess, port: Int) {
        try self.issue("first")
        let pintle = try PintleProcess(
            "listen_tls: {certificate: proxy.pem, key: proxy.key}\n\(more)",
            arguments: ["--listen", "https://127.0.0.1:0"], folder: self.folder)
        let ports = try String(contentsOfFile: "\(self.folder.path)/port", encoding: .utf8).split(separator: "\n")
        return (pintle, try #require(ports.count == 2 ? Int(ports[1]) : nil))
    }

    /// Writes a certificate for the proxy, and its authority as `NAME.root`.
    private func issue(_ name: String) throws {
        let pki = TestPKI()
        let root = try pki.root("Root \(name)")
        let signer = try pki.intermediate("Signer \(name)", signedBy: root)
        _ = try self.folder.write(pki.leaf(name, ip: ["127.0.0.1"], signedBy: signer), as: "proxy")
        try self.folder.write(root.certificatePEM, to: "\(name).root")
    }

    private func curl(_ port: Int, _ arguments: String..., trusting root: String = "first") throws -> Curl.Result {
        try Curl.run(
            ["--proxy", "https://127.0.0.1:\(port)", "--proxy-cacert", "\(self.folder.path)/\(root).root"] + arguments)
    }

    @Test func `curl gets through it what it gets through any proxy`() throws {
        let (pintle, port) = try self.start()
        #expect(
            try pintle.waitForMessages("ready")[0]["listening"] as? String
                == "127.0.0.1:\(pintle.port) https://127.0.0.1:\(port)")
        let origin = try NginxOrigin()
        let body = pattern(3_000_001)
        try origin.serve(body, as: "down")
        let base = "http://127.0.0.1:\(origin.httpPort)"
        let down = try self.curl(port, "\(base)/files/down")
        #expect(down.exitCode == 0 && down.body == body, "\(down)")
        let slow = try self.curl(port, "--http1.0", "--limit-rate", "20M", "\(base)/files/down")
        #expect(slow.exitCode == 0 && slow.body == body, "\(slow)")
        let tunnel = try self.curl(port, "--proxytunnel", "\(base)/files/down")
        #expect(tunnel.exitCode == 0 && tunnel.body == body, "\(tunnel)")
        let file = try self.folder.write(body, to: "up")
        let up = try self.curl(port, "-T", file, "\(base)/store/up")
        #expect(up.status == 201 && origin.stored("up") == body, "\(up)")
        let many = try self.curl(port, "\(base)/hello", "\(base)/hello", "\(base)/hello")
        #expect(many.heads.count == 3 && many.heads.allSatisfy { $0.status == 200 }, "\(many)")
        #expect(try self.curl(port, "\(base)/hello", trusting: "proxy.pem").exitCode != 0)
        #expect(try pintle.waitForExchanges(7).allSatisfy { $0["client"] as? String == "127.0.0.1" })
    }

    @Test func `requests follow each other on one connection, and its end is announced`() throws {
        let (pintle, port) = try self.start()
        defer { withExtendedLifetime(pintle) {} }
        let client = try TLSStream(port: port, protocols: ["http/1.1"])
        try client.send(get(self.origin.port) + get(self.origin.port, fields: "Connection: close\r\n"))
        let answer = client.readToEnd()
        let text = String(decoding: answer.bytes, as: UTF8.self)
        #expect(text.components(separatedBy: "\r\n\r\ndone").count == 3, "\(text)")
        #expect(answer.ending == .closed)
    }

    @Test func `an answer that is cut is no end for the client`() throws {
        let (pintle, port) = try self.start()
        defer { withExtendedLifetime(pintle) {} }
        let origin = try RawOrigin { connection in
            let request = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n")
            if request.head.startLine.contains("/whole") { try connection.send("0\r\n\r\n") }
        }
        for (path, ending) in [("/whole", TLSStream.Ending.closed), ("/cut", .cut)] {
            let client = try TLSStream(port: port)
            // Without a length the end of the connection is the end of the body.
            try client.send(
                get(origin.port, path).replacingOccurrences(of: "HTTP/1.1", with: "HTTP/1.0"))
            let answer = client.readToEnd()
            #expect(answer.ending == ending, "\(path)")
        }
    }

    @Test func `a tunnel's halves end one by one`() throws {
        let (pintle, port) = try self.start()
        defer { withExtendedLifetime(pintle) {} }
        let origin = try RawOrigin { connection in
            let sent = try connection.stream.readToEnd()
            guard sent.ending == .closed else { return }
            try connection.stream.send(sent.bytes.reversed())
        }
        let client = try TLSStream(port: port)
        try client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
        let head = "HTTP/1.1 200 Connection Established\r\n\r\n"
        #expect(String(decoding: try client.read(head.utf8.count), as: UTF8.self) == head)
        try client.send("abc")
        client.finishSending()
        let answer = client.readToEnd()
        #expect(String(decoding: answer.bytes, as: UTF8.self) == "cba" && answer.ending == .closed)
    }

    @Test func `a request in clear is told what is wrong`() throws {
        let (pintle, port) = try self.start()
        for line in ["GET http://127.0.0.1/", "CONNECT 127.0.0.1:443", "OPTIONS *"] {
            let client = try SocketStream(port: port)
            try client.send("\(line) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            let answer = try client.readResponse(to: "GET")
            #expect(answer.status == 400 && answer.text.contains("this port speaks TLS"), "\(line): \(answer)")
            #expect(try client.readToEnd().ending == .closed)
        }
        let curl = try Curl.run(proxy: port, "http://127.0.0.1:\(self.origin.port)/")
        #expect(curl.status == 400, "\(curl)")
        #expect(self.origin.requests.isEmpty)
        #expect(try pintle.serves("http://127.0.0.1:\(self.origin.port)/"))
    }

    @Test func `handshakes that fail, stop or dawdle end and are told of, and hold up nobody`() throws {
        let (pintle, port) = try self.start("limits: {header_timeout: 300ms}")
        let garbage = try SocketStream(port: port)
        try garbage.send([1, 2, 3, 4, 5, 6, 7, 8])
        let half = try SocketStream(port: port)
        try half.send([0x16, 3, 1, 2, 0, 1, 0, 1])
        let silent = try SocketStream(port: port)
        let greeted = try TLSStream(port: port)
        #expect(try self.curl(port, "http://127.0.0.1:\(self.origin.port)/").text == "done")
        _ = try garbage.readToEnd()
        _ = try half.readToEnd()
        #expect(try silent.readToEnd().bytes.isEmpty)
        #expect(greeted.readToEnd() == ([], .closed))
        let lines = try pintle.waitForMessages("tls.handshake_failed", 2)
        let reasons = lines.compactMap { $0["reason"] as? String }
        #expect(reasons.contains { $0.contains("does not speak TLS") }, "\(reasons)")
        #expect(reasons.contains("it was not complete in time (limits.header_timeout)"), "\(reasons)")
    }

    @Test func `a client of another protocol, or of an old version, is refused`() throws {
        let (pintle, port) = try self.start()
        #expect(throws: TestPKIError.self) { _ = try TLSStream(port: port, protocols: ["imap"]) }
        _ = try pintle.waitForMessages("tls.handshake_failed")
        let old = try ChildProcess(
            "/usr/bin/openssl",
            ["s_client", "-connect", "127.0.0.1:\(port)", "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"])
        #expect(try old.waitForExit() != 0)
        #expect(old.lines.contains { $0.text.contains("alert protocol version") }, "\(old.lines)")
    }

    @Test func `a reload shows new clients the new certificate, and cuts nobody off`() throws {
        let (pintle, port) = try self.start()
        let old = try TLSStream(port: port)
        let shown = old.serverCertificate
        try self.issue("second")
        pintle.process.signal(SIGHUP)
        _ = try pintle.waitForMessages("reloaded \(self.folder.path)/pintle.yaml")
        #expect(try TLSStream(port: port).serverCertificate != shown)
        let url = "http://127.0.0.1:\(self.origin.port)/"
        #expect(try self.curl(port, url, trusting: "second").text == "done")
        #expect(try self.curl(port, url).exitCode == 60)
        try old.send(get(self.origin.port, fields: "Connection: close\r\n"))
        #expect(String(decoding: old.readToEnd().bytes, as: UTF8.self).hasSuffix("\r\n\r\ndone"))
        try self.folder.write("nothing", to: "proxy.pem")
        pintle.process.signal(SIGHUP)
        _ = try pintle.waitForMessages("the configuration was not reloaded; the running one stays")
        #expect(try self.curl(port, url, trusting: "second").text == "done")
    }

    @Test(.enabled(if: !runsUnderSanitizer)) func `a thousand connections leave nothing behind`() throws {
        let (pintle, port) = try self.start()
        let context = try MemoryHandshake.ClientContext()
        func visit(_ number: Int) throws {
            switch number % 4 {
            case 0:
                let half = try SocketStream(port: port)
                try half.send([0x16, 3, 1, 2, 0, 1, 0, 1])
                half.close()
            case 1: _ = try TLSStream(port: port, context: context)
            case 2:
                let reset = try SocketStream(port: port)
                try reset.send("\u{16}\u{3}\u{1}")
                reset.reset()
            default:
                let client = try TLSStream(port: port, context: context)
                try client.send(get(self.origin.port, fields: "Connection: close\r\n"))
                #expect(client.readToEnd().ending == .closed)
            }
        }
        #expect(try pintle.serves("http://127.0.0.1:\(self.origin.port)/"))
        // Connections to the origin are kept on every loop.
        let before = try pintle.openDescriptors() + 16
        for number in 0..<200 { try visit(number) }
        let memory = try pintle.memory("VmRSS")
        for number in 200..<1000 { try visit(number) }
        try Patience.wait(for: "\(before) descriptors") {
            #expect(try pintle.serves("http://127.0.0.1:\(self.origin.port)/"))
            return try pintle.openDescriptors() <= before
        }
        let growth = try pintle.memory("VmRSS") - memory
        #expect(growth < 8 * 1024, "\(growth) KiB")
    }

    @Test(arguments: [
        ("listen: [\"https://127.0.0.1:0\"]", "pintle.yaml:2:10: listen[0]: https://127.0.0.1:0 needs a certificate"),
        ("listen_tls: {key: proxy.key}", "pintle.yaml:2:13: listen_tls: the key \"certificate\" is missing"),
        ("listen_tls: {certificate: none.pem}", "pintle.yaml:2:27: listen_tls: "),
        ("listen_tls: {certificate: proxy.pem}", "no private key found"),
    ])
    func `what is missing is said with its place`(rules: String, message: String) throws {
        try self.issue("first")
        let file = try self.folder.write("version: 1\n\(rules)\n", to: "pintle.yaml")
        let check = try PintleProcess.run(["check", "-c", file])
        #expect(check.exitCode == 3 && check.errors.contains { $0.contains(message) }, "\(check.lines)")
    }

    @Test func `a flag without a certificate is refused, and a certificate without a listener is pointed out`() throws {
        try self.issue("first")
        let bare = try self.folder.write("version: 1\n", to: "bare.yaml")
        let serve = try PintleProcess.run(["serve", "-c", bare, "--listen", "https://127.0.0.1:0"])
        #expect(
            serve.exitCode == 2 && serve.errors.contains { $0.contains("listen_tls: {certificate") }, "\(serve.lines)")
        let unused = try self.folder.write(
            "version: 1\nlisten_tls: {certificate: proxy.pem, key: proxy.key}\n", to: "unused.yaml")
        let check = try PintleProcess.run(["check", "-c", unused])
        #expect(
            check.exitCode == 0 && check.output.contains { $0.contains("listen_tls: is not used") }, "\(check.lines)")
    }
}
