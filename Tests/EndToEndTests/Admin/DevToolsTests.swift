// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The developer tools of a browser as a window into a running proxy (contract §4). `scripts/page` opens Chromium's own.
struct DevToolsTests {
    private let stage: AdminStage

    init() throws {
        self.stage = try AdminStage(
            """
            destinations: {default: allow, deny: ["*.ads.example"], private_addresses: allow}
            routes: [{name: site, match: {hosts: [127.0.0.1]}}]
            """)
    }

    /// One client of the protocol.
    private struct Client {
        let stream: SocketStream

        func send(_ command: String) throws { try self.stream.sendFrame(.text, Array(command.utf8)) }

        /// Reads messages up to one that is wanted, and returns that.
        func read(until isWanted: (PintleProcess.Object) -> Bool) throws -> PintleProcess.Object {
            while true {
                let frame = try self.stream.readFrame()
                self.stream.forgetTaken()
                guard frame.kind == .text else { continue }
                let value = try JSONSerialization.jsonObject(with: Data(frame.payload))
                if let message = value as? PintleProcess.Object, isWanted(message) { return message }
            }
        }

        /// Reads the event of a kind about a path.
        func event(_ method: String, _ path: String) throws -> [String: any Sendable] {
            let message = try self.read { message in
                let parameters = message["params"] as? [String: any Sendable]
                let about = (parameters?["request"] ?? parameters?["response"]) as? [String: any Sendable]
                return message["method"] as? String == method && (about?["url"] as? String)?.hasSuffix(path) == true
            }
            return message["params"] as? [String: any Sendable] ?? [:]
        }
    }

    private func target() throws -> PintleProcess.Object {
        let answer = try self.stage.ask("/json/list")
        let list = try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [PintleProcess.Object]
        return try #require(list?.first, "\(answer)")
    }

    /// Asks for the WebSocket.
    private func connect(
        _ path: String, origin: String? = "devtools://devtools", host: String? = nil
    ) throws -> (stream: SocketStream, head: MessageHead) {
        let stream = try SocketStream(port: self.stage.port)
        let line = origin.map { "Origin: \($0)\r\n" } ?? ""
        try stream.send(
            "GET \(path) HTTP/1.1\r\nHost: \(host ?? "127.0.0.1:\(self.stage.port)")\r\n\(line)"
                + "\(WebSocketWire.handshake)\r\n")
        return (stream, try stream.readHead())
    }

    private func path() throws -> String {
        let url = try #require(try self.target()["webSocketDebuggerUrl"] as? String)
        let start = "ws://127.0.0.1:\(self.stage.port)"
        #expect(url.hasPrefix("\(start)/devtools/page/"), "\(url)")
        return String(url.dropFirst(start.count))
    }

    private func open(enabling: Bool = true) throws -> Client {
        let (stream, head) = try self.connect(try self.path())
        #expect(
            head.status == 101 && head["Sec-WebSocket-Accept"] == WebSocketWire.accept(WebSocketWire.key), "\(head)")
        let client = Client(stream: stream)
        if enabling {
            try client.send(#"{"id": 1, "method": "Network.enable"}"#)
            _ = try client.read { $0["id"] as? Int == 1 }
        }
        return client
    }

    @Test func `the target has the addresses of its WebSocket and of the front end`() throws {
        let target = try self.target()
        let path = try self.path()
        #expect(
            target["devtoolsFrontendUrl"] as? String
                == "devtools://devtools/bundled/devtools_app.html?ws=127.0.0.1:\(self.stage.port)\(path)&panel=network")
        #expect(try self.stage.ask("/json").text == self.stage.ask("/json/list").text)
        let version = try self.stage.ask("/json/version").json
        #expect(
            (version["Browser"] as? String)?.hasPrefix("Pintle/") == true
                && version["Protocol-Version"] as? String == "1.3")
        #expect(path.count == "/devtools/page/".count + 43 && !path.contains(self.stage.token))
    }

    @Test func `exchanges from before come first, and the others as they end`() throws {
        try self.stage.pass("/before?token=hidden", "-H", "Authorization: Bearer hidden")
        try Patience.wait(for: "the exchange") { try self.stage.exchanges().count == 1 }
        let client = try self.open()
        let before = try client.event("Network.requestWillBeSent", "/before?token=***")
        #expect(!"\(before)".contains("hidden"))
        try self.stage.pass("/live")
        _ = try client.event("Network.requestWillBeSent", "/live")
        let received = try client.event("Network.responseReceived", "/live")
        let response = try #require(received["response"] as? [String: any Sendable])
        let headers = response["headers"] as? [String: String] ?? [:]
        #expect(response["status"] as? Int == 200 && response["mimeType"] as? String == "text/plain", "\(response)")
        #expect(headers["pintle-route"] == "site" && headers["pintle-decision"] == "allow", "\(headers)")
        #expect(headers["Set-Cookie"] == "***" && headers["Content-Length"] == "5", "\(headers)")
        #expect(
            response["remoteIPAddress"] as? String == "127.0.0.1"
                && response["remotePort"] as? Int == self.stage.origin.port)
        let end = try client.read { $0["method"] as? String == "Network.loadingFinished" }
        #expect((end["params"] as? [String: any Sendable])?["encodedDataLength"] as? Int == 5, "\(end)")

        _ = try Curl.run(proxy: self.stage.pintle.port, "http://x.ads.example/")
        let failed = try client.read { $0["method"] as? String == "Network.loadingFailed" }
        let reason = (failed["params"] as? [String: any Sendable])?["errorText"] as? String
        #expect(reason?.contains("x.ads.example") == true, "\(failed)")

        try client.send(#"{"id": 2, "method": "Network.getResponseBody", "params": {"requestId": "1"}}"#)
        let refusal = try client.read { $0["id"] as? Int == 2 }
        #expect((refusal["error"] as? [String: any Sendable])?["code"] as? Int == -32000, "\(refusal)")
    }

    @Test func `strangers and pages get no WebSocket`() throws {
        let path = try self.path()
        #expect(try self.connect(path, origin: nil).head.status == 101)
        #expect(try self.connect(path, origin: "http://evil.example").head.status == 403)
        #expect(try self.connect(path, origin: self.stage.address).head.status == 403)
        #expect(try self.connect(path, host: "evil.example").head.status == 421)
        #expect(try self.connect(String(path.dropLast()) + "!").head.status == 401)
        // A request that asks for no WebSocket, and one for another version.
        #expect(try Curl.run(self.stage.address + path).status == 400)
        let old = try Curl.run(
            self.stage.address + path, "-H", "Connection: Upgrade", "-H", "Upgrade: websocket", "-H",
            "Sec-WebSocket-Key: \(WebSocketWire.key)", "-H", "Sec-WebSocket-Version: 8")
        #expect(old.status == 426 && old["Sec-WebSocket-Version"] == "13", "\(old)")
    }

    @Test func `a Close is answered, and pings are`() throws {
        let client = try self.open()
        try client.stream.sendFrame(.ping, [7])
        #expect(try client.stream.readFrame() == WebSocketWire.Frame(kind: .pong, payload: [7]))
        try client.stream.sendFrame(.close, [0x03, 0xE8])
        #expect(try client.stream.readFrame() == WebSocketWire.Frame(kind: .close, payload: [0x03, 0xE8]))
        #expect(try client.stream.readToEnd().bytes.isEmpty)
        // Frames of no command, and bytes that are no frames.
        let other = try self.open()
        try other.stream.sendFrame(.binary, [0xFF])
        #expect(try other.read { $0["error"] != nil }["id"] == nil)
        try other.stream.send(Array(repeating: 0xFF, count: 1000))
        #expect(try other.stream.readFrame().kind == .close)
        #expect(try self.stage.pintle.stop() == 0)
    }

    @Test func `a client that does not read holds nothing up, and the proxy can end`() throws {
        let silent = try self.open()
        try silent.send(#"{"id": 2, "method": "Page.getResourceTree"}"#)
        let reader = try self.open()
        let proxied = try self.stage.pintle.connect()
        // More than the buffers of all sockets on the way hold.
        let long = String(repeating: "x", count: 15 << 10)
        for number in 0..<500 {
            try proxied.send(
                "GET http://127.0.0.1:\(self.stage.origin.port)/\(number) HTTP/1.1\r\nHost: a\r\nX-Long: \(long)\r\n\r\n"
            )
            #expect(try proxied.readResponse().status == 200)
            proxied.forgetTaken()
        }
        _ = try reader.event("Network.responseReceived", "/499")
        #expect(try self.stage.ask("/api/activity").status == 200)
        #expect(try self.stage.pass("/after").status == 200)
        _ = try reader.event("Network.requestWillBeSent", "/after")
        reader.stream.reset()
        #expect(try self.stage.pintle.stop() == 0)
        withExtendedLifetime(silent) {}
    }

    @Test func `over a Unix socket its user gets the same`() throws {
        let folder = try TemporaryFolder()
        let stage = try AdminStage(admin: "unix:\(folder.path)/admin")
        let answer = try Curl.run("--unix-socket", "\(folder.path)/admin", "http://any.name/json/list")
        #expect(answer.text.contains("ws://any.name/devtools/page/"), "\(answer)")
        withExtendedLifetime(stage) {}
    }
}
