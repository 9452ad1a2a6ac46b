// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

private typealias Bytes = HTTP2Bytes
private typealias Flag = HTTP2Bytes.Flag

/// WebSockets in streams of HTTP/2 (RFC 8441), with origins that speak HTTP/1.1.
struct HTTP2WebSocketTests {
    private static let request: [Bytes.Field] = [
        (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":authority", "origin.test"),
        (":path", "/chat?a=b"), ("sec-websocket-protocol", "echo, other"), ("sec-websocket-version", "13"),
        ("origin", "https://origin.test"),
    ]

    /// A client that has asked for a WebSocket.
    private func client(_ stage: HTTP2Stage, _ fields: [Bytes.Field] = Self.request) throws -> HTTP2Client {
        let client = try stage.client()
        try client.greet()
        // SETTINGS_ENABLE_CONNECT_PROTOCOL
        #expect(client.settings[8] == 1)
        try client.send(Bytes.headers(fields, Flag.endHeaders))
        try client.read { !($0.answers[1]?.heads.isEmpty ?? true) || $0.answers[1]?.reset != nil }
        return client
    }

    private func body(_ count: Int, _ client: HTTP2Client) throws -> [UInt8] {
        try client.read { ($0.answers[1]?.body.count ?? 0) >= count || $0.answers[1]?.reset != nil }
        return client.answers[1]?.body ?? []
    }

    @Test func `messages pass both ways, and the end too`() throws {
        let stage = try HTTP2Stage(serving: WebSocketWire.echo)
        let client = try self.client(stage)
        let answer = try #require(client.answers[1])
        #expect(answer.status == 200 && answer["sec-websocket-accept"] == nil && answer["connection"] == nil)
        let head = stage.origin.requests[0].head
        #expect(head.startLine == "GET /chat?a=b HTTP/1.1" && head["Upgrade"] == "websocket")
        #expect(head["Connection"]?.lowercased() == "upgrade" && head["Sec-WebSocket-Version"] == "13")
        #expect(head["Sec-WebSocket-Protocol"] == "echo, other" && head.values("Sec-WebSocket-Key").count == 1)
        #expect(head["Via"] == "2 pintle" && head["Origin"] == "https://origin.test")
        for size in [1, 200, 50_000] {
            let payload = pattern(size)
            let sent = WebSocketWire.bytes(.binary, payload, isMasked: true)
            let wanted = WebSocketWire.bytes(.binary, payload, isMasked: false)
            let before = client.answers[1]?.body.count ?? 0
            for start in stride(from: 0, to: sent.count, by: 16_384) {
                try client.send(Bytes.frame(0, on: 1, Array(sent[start..<min(sent.count, start + 16_384)])))
            }
            try client.send(Bytes.windowUpdate(wanted.count, on: 0) + Bytes.windowUpdate(wanted.count, on: 1))
            #expect(try Array(self.body(before + wanted.count, client).dropFirst(before)) == wanted)
        }
        try client.send(Bytes.frame(0, on: 1, WebSocketWire.bytes(.close, [3, 232], isMasked: true)))
        let last = try client.answer()
        #expect(last.isComplete && last.body.suffix(4).elementsEqual([0x88, 2, 3, 232]))
        // The tunnel stays open as long as one of its sides is.
        try client.send(Bytes.frame(0, Flag.endStream, on: 1))
        let line = try #require(try stage.pintle.waitForExchanges(2).last { $0["method"] as? String == "GET" })
        #expect(line["status"] as? Int == 101 && line["mode"] as? String == "intercept")
    }

    @Test func `the key is Pintle's own, whatever the client sends`() throws {
        let stage = try HTTP2Stage(serving: WebSocketWire.echo)
        let client = try self.client(stage, Self.request + [("sec-websocket-key", WebSocketWire.key)])
        #expect(client.answers[1]?.status == 200)
        let keys = stage.origin.requests[0].head.values("Sec-WebSocket-Key")
        #expect(keys.count == 1 && keys != [WebSocketWire.key])
    }

    @Test(arguments: [
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", 502),
        (
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Accept: \(WebSocketWire.accept(WebSocketWire.key))\r\n\r\n", 502
        ),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", 502),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 502),
        ("HTTP/1.1 204 No Content\r\n\r\n", 502),
        ("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", 403),
    ])
    func `an origin that opens none is no success for the client`(response: String, status: Int) throws {
        let stage = try HTTP2Stage { connection in
            _ = try connection.readRequestHead()
            try connection.send(response)
            _ = try connection.waitForEnd()
        }
        let client = try self.client(stage)
        let answer = try client.answer()
        #expect(answer.status == status && answer.problem == (status == 502 ? "upstream-protocol" : nil), "\(answer)")
    }

    @Test func `an answer that is kept for the URL opens none either`() throws {
        let stage = try HTTP2Stage(route: ["request: {serialize: http}", "cache: {policy: protocol}"]) { connection in
            while true {
                _ = try connection.readRequest()
                try connection.send(response("page", fields: "Cache-Control: max-age=60\r\n"))
            }
        }
        let reader = try stage.client()
        try reader.greet()
        let get: [Bytes.Field] = [
            (":method", "GET"), (":scheme", "https"), (":authority", "origin.test"), (":path", "/chat?a=b"),
        ]
        for stream in [1, 3] {
            try reader.send(Bytes.headers(get, Flag.endHeaders | Flag.endStream, on: stream))
            let page = try reader.answer(on: stream)
            #expect(page.status == 200 && (stream == 1 || page["cache-status"]?.contains("hit") == true))
        }
        let answer = try self.client(stage).answer()
        #expect(answer.status == 502 && answer.problem == "upstream-protocol", "\(answer)")
    }

    @Test func `a reset of the stream breaks the connection to the origin, and the other way round`() throws {
        let ending = Watched<SocketStream.Ending?>(nil)
        let stage = try HTTP2Stage { connection in
            let request = try connection.readRequestHead()
            try connection.send(WebSocketWire.switching(for: request))
            guard try connection.stream.readFrame().payload == [0x61] else { return connection.stream.reset() }
            try connection.stream.send(WebSocketWire.bytes(.text, [0x62], isMasked: false))
            let end = try connection.waitForEnd()
            ending.change { $0 = end }
        }
        let client = try self.client(stage)
        try client.send(Bytes.frame(0, on: 1, WebSocketWire.bytes(.text, [0x61], isMasked: true)))
        #expect(try self.body(3, client) == [0x81, 1, 0x62])
        try client.send(Bytes.reset())
        try ending.wait(for: "the end") { $0 != nil }
        #expect(ending.current == .reset)
        let other = try self.client(stage)
        try other.send(Bytes.frame(0, on: 1, WebSocketWire.bytes(.text, [0x63], isMasked: true)))
        #expect(try other.answer().reset == .connectError)
    }

    // MARK: A browser

    private static let browser = "/usr/bin/chromium"

    private static let page = """
        <script>
        const socket = new WebSocket("wss://" + location.host + "/socket");
        let got = "";
        socket.onopen = () => { socket.send("a"); socket.send("b".repeat(70000)); };
        socket.onmessage = event => {
          got += event.data.length + " ";
          if (event.data.length > 1) socket.close(1000);
        };
        socket.onclose = event => fetch("/result", {method: "POST", body: got + event.code + " " + event.wasClean});
        </script>
        """

    @Test(.enabled(if: access(browser, X_OK) == 0, "Chromium is not installed"))
    func `a browser opens a WebSocket in the connection that it has`() throws {
        let result = Watched<String?>(nil)
        let stage = try HTTP2Stage { connection in
            let head = try connection.readRequestHead()
            if head.startLine.contains("/socket") {
                try connection.send(WebSocketWire.switching(for: head))
                while case let frame = try connection.stream.readFrame() {
                    try connection.stream.send(WebSocketWire.bytes(frame.kind, frame.payload, isMasked: false))
                    if frame.kind == .close { return }
                }
            }
            let request = try connection.stream.readBody(of: head)
            if head.startLine.contains("/result") { result.change { $0 = request.text } }
            let body = head.startLine.contains("GET / ") ? Self.page : ""
            try connection.send(response(body, fields: "Content-Type: text/html\r\nConnection: close\r\n"))
        }
        let folder = try TemporaryFolder()
        let browser = try ChildProcess(
            Self.browser,
            [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                "--disable-dev-shm-usage", "--ignore-certificate-errors",
                "--proxy-server=http://127.0.0.1:\(stage.pintle.port)", "--user-data-dir=\(folder.path)",
                "https://origin.test/",
            ])
        defer {
            browser.signal(SIGTERM)
            _ = try? browser.waitForExit()
        }
        #expect(try result.wait(for: "the page's result") { $0 != nil } == "1 70000 1000 true")
        let opening = try #require(stage.origin.requests.first { $0.head.startLine.contains("/socket") })
        #expect(opening["Via"] == "2 pintle")
    }
}
