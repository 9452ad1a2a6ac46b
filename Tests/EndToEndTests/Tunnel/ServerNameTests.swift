// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// `destinations.require_sni_match`: a handshake in a tunnel is with the server that the tunnel was opened to.
struct ServerNameTests {
    /// An origin that records the bytes it gets.
    private final class Listener: Sendable {
        let received = Watched<[UInt8]>([])
        let origin: RawOrigin

        init() throws {
            let received = self.received
            self.origin = try RawOrigin { connection in
                while let bytes = try connection.stream.readSome() {
                    received.change { $0 += bytes }
                    connection.stream.forgetTaken()
                }
            }
        }

        func wait(for bytes: [UInt8]) throws {
            try self.received.wait(for: "\(bytes.count) bytes") { $0.count >= bytes.count }
            #expect(self.received.current == bytes)
        }
    }

    /// The alert that a client gets.
    private static let alert: [UInt8] = [21, 3, 3, 0, 2, 2, 49]

    private let listener: Listener

    init() throws { self.listener = try Listener() }

    private func open(_ pintle: PintleProcess, _ host: String, ahead: [UInt8] = []) throws -> SocketStream {
        let client = try pintle.connect()
        let target = "\(host):\(self.listener.origin.port)"
        try client.send(Array("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\r\n".utf8) + ahead)
        #expect(try client.readHead().status == 200)
        return client
    }

    @Test(arguments: [true, false])
    func `a hello with another name is not relayed, and told`(ahead: Bool) throws {
        let pintle = try PintleProcess("")
        let hello = HelloBytes("hidden.example").record
        let client = try self.open(pintle, "localhost", ahead: ahead ? hello : [])
        if !ahead { try client.send(hello) }
        #expect(try client.readToEnd().bytes == Self.alert)
        let log = try pintle.waitForExchanges(1)[0]
        #expect(
            log["error"] as? String
                == "the tunnel is broken off by destinations.require_sni_match: its ClientHello names "
                + "hidden.example, not localhost; a CONNECT for each host keeps them apart", "\(log)")
        #expect(log["rule"] as? String == "destinations.require_sni_match" && log["decision"] as? String == "deny")
        #expect(log["bytes_in"] as? Int == 0 && log["mode"] as? String == "tunnel", "\(log)")
        try self.listener.origin.waitUntilQuiet()
        #expect(self.listener.received.current.isEmpty)
    }

    @Test func `nothing is relayed before the hello is whole, and then all of it`() throws {
        let pintle = try PintleProcess("")
        let client = try self.open(pintle, "localhost")
        let message = HelloBytes("LocalHost", padding: 2_000).message
        let hello = stride(from: 0, to: message.count, by: 700).flatMap {
            HelloBytes.record(Array(message[$0..<min($0 + 700, message.count)]))
        }
        for byte in hello.dropLast() { try client.send([byte]) }
        // Another tunnel is served meanwhile, so the proxy has read the earlier bytes.
        let second = try self.open(pintle, "localhost")
        try second.send("plain")
        try self.listener.wait(for: Array("plain".utf8))
        try client.send([hello[hello.count - 1]] + [23, 3, 3])
        try self.listener.received.wait(for: "the hello") { $0.count >= hello.count + 8 }
        #expect(self.listener.received.current == Array("plain".utf8) + hello + [23, 3, 3])
    }

    @Test(
        arguments: [
            ("", "localhost", nil, nil), ("", "127.0.0.1", nil, nil), ("", "127.0.0.1", "any.example", nil),
            ("", "127.0.0.1", "127.0.0.1", nil), ("", "localhost", "127.0.0.1", "names 127.0.0.1, not localhost"),
            ("", "127.0.0.1", "127.0.0.2", "names 127.0.0.2, not 127.0.0.1"), ("", "localhost", "localhost.", nil),
            ("", "localhost", "localhost:443", "names localhost:443, not localhost"),
            ("require_sni_match: off", "localhost", "any.example", nil),
            (
                "deny: [any.example]", "127.0.0.1", "any.example",
                "names any.example, which is denied by destinations.deny[0] \"any.example\""
            ),
            (
                "default: deny, allow: [localhost]", "localhost", nil,
                "names no server, and destinations.default is deny; have the client send the name (SNI), intercept"
            ),
            ("default: deny, allow: [localhost], require_sni_match: {allow_absent: localhost}", "localhost", nil, nil),
            ("default: deny, allow: [localhost]", "localhost", "localhost", nil),
            ("default: deny, allow: [\"127.0.0.0/8\"]", "127.0.0.1", nil, nil),
            ("default: deny, allow: [\"127.0.0.0/8\"]", "127.0.0.1", "any.example", nil),
        ] as [(String, String, String?, String?)])
    func `the name is compared with the host of the tunnel`(
        rules: String, host: String, name: String?, refusal: String?
    ) throws {
        let pintle = try PintleProcess("destinations: {\(rules)}")
        let client = try self.open(pintle, host)
        let hello = HelloBytes(name).record
        try client.send(hello)
        guard let refusal else { return try self.listener.wait(for: hello) }
        #expect(try client.readToEnd().bytes == Self.alert)
        let log = try pintle.waitForExchanges(1)[0]
        #expect((log["error"] as? String)?.contains(": its ClientHello \(refusal)") == true, "\(log)")
        #expect(self.listener.received.current.isEmpty)
    }

    @Test func `a second hello with another name is not relayed`() throws {
        let pintle = try PintleProcess("")
        let client = try self.open(pintle, "localhost")
        let hello = HelloBytes("localhost", isNew: true).record
        try client.send(hello)
        try self.listener.wait(for: hello)
        try client.send(HelloBytes("hidden.example", isNew: true).record)
        #expect(try client.readToEnd().bytes == Self.alert)
        #expect(self.listener.received.current == hello)
    }

    @Test func `a hello that is cut off or endless is not relayed`() throws {
        let pintle = try PintleProcess("")
        let cut = try self.open(pintle, "localhost")
        try cut.send(Array(HelloBytes("localhost").record.dropLast()))
        cut.finishSending()
        _ = try cut.readToEnd()
        let endless = try self.open(pintle, "localhost")
        try endless.send(HelloBytes.record([1, 0, 0xFF, 0xFF, 3, 3]))
        let part = HelloBytes.record([UInt8](repeating: 0, count: 16_000))
        // The proxy breaks the tunnel off during this.
        for _ in 0..<5 { try? endless.send(part) }
        _ = try endless.readToEnd()
        let errors = Set(try pintle.waitForExchanges(2).compactMap { $0["error"] as? String })
        let rule = "the tunnel is broken off by destinations.require_sni_match: its ClientHello"
        #expect(errors == ["\(rule) is cut off", "\(rule) is over 64 KiB"])
        #expect(self.listener.received.current.isEmpty)
    }

    @Test func `curl is told when it asks for another host inside, and served otherwise`() throws {
        let site = try PrivateSite()
        let pintle = try PintleProcess("")
        let port = site.origin.httpsPort
        let arguments = ["--cacert", "\(site.folder.path)/root.pem"]
        let fine = try Curl.run(proxy: pintle.port, arguments + ["https://localhost:\(port)/hello"])
        #expect(fine.status == 200, "\(fine)")
        let fronted = try Curl.run(
            proxy: pintle.port,
            arguments + ["--connect-to", "hidden.example:443:localhost:\(port)", "https://hidden.example/hello"])
        #expect(fronted.exitCode == 35 && fronted.errors.contains("access denied"), "\(fronted)")
    }
}
