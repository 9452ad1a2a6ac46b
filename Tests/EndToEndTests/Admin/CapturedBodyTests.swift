// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// The bodies that `capture` keeps, with every reader of them.
struct CapturedBodyTests {
    private static func stage(_ capture: String, _ rules: String = "") throws -> AdminStage {
        try AdminStage("capture: \(capture)\n\(rules)")
    }

    /// The latest exchange in full, once there are so many.
    private func detail(_ stage: AdminStage, of count: Int = 1) throws -> [String: any Sendable] {
        var found: [PintleProcess.Object] = []
        try Patience.wait(for: "\(count) exchanges") {
            found = try stage.exchanges()
            return found.count == count
        }
        return try stage.ask("/api/exchanges/\(found[0]["id"] ?? "")").json
    }

    private func body(_ detail: [String: any Sendable], _ message: String) -> [String: any Sendable]? {
        (detail[message] as? [String: any Sendable])?["body"] as? [String: any Sendable]
    }

    private func origin(_ head: String, _ body: [UInt8]) throws -> RawOrigin {
        try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                try connection.send("HTTP/1.1 200 OK\r\n\(head)Content-Length: \(body.count)\r\n\r\n")
                try connection.stream.send(body)
            }
        }
    }

    @Test func `both bodies are kept without their secrets, and filters find them`() throws {
        let stage = try Self.stage("{bodies: 64KiB}")
        let echo = try RawOrigin { connection in
            let request = try connection.readRequest()
            let text =
                "{\"echo\": \(String(decoding: request.body, as: UTF8.self)), \"by\": \"\(request.head["Authorization"] ?? "")\"}"
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
            )
        }
        _ = try Curl.run(
            proxy: stage.pintle.port,
            [
                "http://127.0.0.1:\(echo.port)/?key=queryvalue", "-H", "Authorization: Bearer credential-1", "-H",
                "Content-Type: application/json", "-d", #"{"user": "ada", "password": "hidden-1"}"#,
            ])
        let detail = try self.detail(stage)
        #expect(self.body(detail, "request")?["text"] as? String == #"{"user": "ada", "password": "***"}"#, "\(detail)")
        let expected = #"{"echo": {"user": "ada", "password": "***"}, "by": "***"}"#
        #expect(self.body(detail, "response")?["text"] as? String == expected, "\(detail)")
        #expect(self.body(detail, "response")?["truncated"] as? Bool == false)
        #expect(try stage.exchanges("?filter=~bq+ada").count == 1 && stage.exchanges("?filter=~bs+%22by%22").count == 1)
        #expect(try stage.exchanges("?filter=~b+hidden").isEmpty && stage.exchanges("?filter=~b+credential").isEmpty)
        let archive = try stage.ask("/api/har").text
        #expect(archive.contains("postData") && !archive.contains("hidden-1") && !archive.contains("credential-1"))
        let kept = try stage.ask("/api/activity").json["bodies"] as? [String: any Sendable]
        #expect(kept?["bytes"] as? Int ?? 0 > 80 && kept?["lost"] as? Int == 0, "\(kept ?? [:])")
    }

    @Test func `what a route puts into requests is hidden where an origin repeats it`() throws {
        let stage = try Self.stage(
            "{bodies: 64KiB}",
            """
            routes:
              - name: all
                allow_cleartext_credentials: true
                request:
                  authorization: {bearer: route-credential}
                  serialize: http
                  parameters: {key: route-parameter}
                  headers: {set: {X-Key: route-field}}
            """)
        let echo = try RawOrigin { connection in
            let head = try connection.readRequest().head
            let text = "\(head.startLine) \(head["X-Key"] ?? "-") \(head["Authorization"] ?? "-")"
            try connection.send(response(text))
        }
        let got = try Curl.run(proxy: stage.pintle.port, "http://127.0.0.1:\(echo.port)/")
        let detail = try self.detail(stage)
        for secret in ["route-credential", "route-parameter", "route-field"] {
            #expect(got.text.contains(secret) && !"\(detail)".contains(secret), "\(got) \(detail)")
        }
        #expect(
            (self.body(detail, "response")?["text"] as? String)?.hasPrefix("GET /?key=*** HTTP/1.1 ***") == true,
            "\(detail)")
    }

    @Test func `cookies of a route's jar are hidden where an origin repeats them`() throws {
        let stage = try Self.stage("{bodies: 64KiB}", "routes: [{name: all, request: {cookies: jar}}]")
        let echo = try RawOrigin { connection in
            while true {
                let cookies = try connection.readRequest().head["Cookie"]
                let fields = cookies == nil ? "Set-Cookie: session=jar-secret\r\n" : ""
                try connection.send(response("cookies: \(cookies ?? "none")", fields: fields))
            }
        }
        let url = "http://127.0.0.1:\(echo.port)/"
        _ = try Curl.run(proxy: stage.pintle.port, url)
        let got = try Curl.run(proxy: stage.pintle.port, url)
        #expect(got.text == "cookies: session=jar-secret", "\(got)")
        let detail = try self.detail(stage, of: 2)
        #expect(self.body(detail, "response")?["text"] as? String == "cookies: session=***", "\(detail)")
        #expect(!"\(detail)".contains("jar-secret"))
    }

    @Test func `events with a filter of bodies have what it chooses, in order`() throws {
        let stage = try Self.stage("{bodies: 64KiB}")
        let packed = try ShellFilter.run("gzip -nc", [UInt8](repeating: 0x20, count: 1 << 20))
        let origin = try self.origin("Content-Encoding: gzip\r\n", packed)
        let events = try ChildProcess(
            "/usr/bin/curl",
            [
                "-s", "-N", "-H", "Authorization: Bearer \(stage.token)",
                "\(stage.address)/api/events?filter=~bq+chosen",
            ])
        _ = try events.waitForLine("the counters") { $0.hasPrefix("data: {\"state\"") }
        for number in 0..<30 {
            let text = number.isMultiple(of: 3) ? "chosen" : "other"
            _ = try Curl.run(
                proxy: stage.pintle.port, "http://127.0.0.1:\(origin.port)/n\(number)", "-H",
                "Content-Type: text/plain", "-d", text)
        }
        _ = try events.waitForLine("the last") { $0.contains("/n27\"") }
        let told = events.output.filter { $0.hasPrefix("data: ") && $0.contains("/n") }
        #expect(told.count == 10)
        for (index, line) in told.enumerated() { #expect(line.contains("/n\(index * 3)\"")) }
        events.signal(SIGKILL)
    }

    @Test func `a body in a coding that is not known is shown only if nothing is redacted`() throws {
        let origin = try self.origin("Content-Encoding: unheard\r\n", Array("content".utf8))
        for redacts in [true, false] {
            let stage = try AdminStage(
                "capture: {bodies: 1KiB}", log: "{format: json, exchanges: \"-\", redact: \(redacts ? "on" : "off")}")
            _ = try Curl.run(proxy: stage.pintle.port, "http://127.0.0.1:\(origin.port)/")
            let body = self.body(try self.detail(stage), "response")
            #expect(
                body?["text"] as? String == (redacts ? "" : "content") && body?["size"] as? Int == 7, "\(body ?? [:])")
            #expect(body?["truncated"] as? Bool == redacts)
        }
    }

    @Test func `without redaction bodies are as they were`() throws {
        let stage = try AdminStage(
            "capture: {bodies: 1KiB}", log: "{format: json, exchanges: \"-\", redact: off}")
        try stage.pass("/", "-H", "Content-Type: application/json", "-d", #"{"password": "hidden"}"#)
        #expect(self.body(try self.detail(stage), "request")?["text"] as? String == #"{"password": "hidden"}"#)
    }

    @Test func `a body is shown without its coding, and bytes as base64`() throws {
        let stage = try Self.stage("{bodies: 64KiB}")
        let text = String(repeating: "a long line of text\n", count: 500)
        let folder = try TemporaryFolder()
        try folder.write(text, to: "text")
        try ChildProcess("/bin/gzip", ["-k", "text"], folder: folder.path).waitForExit()
        let packed = try #require(fileBytes("\(folder.path)/text.gz"))
        let origin = try self.origin("Content-Type: text/plain\r\nContent-Encoding: gzip\r\n", packed)
        _ = try Curl.run(proxy: stage.pintle.port, ["http://127.0.0.1:\(origin.port)/", "--compressed"])
        let body = self.body(try self.detail(stage), "response")
        #expect(body?["text"] as? String == text && body?["size"] as? Int == packed.count)

        let bytes = try self.origin("Content-Type: image/png\r\n", [0x89, 0x50, 0xff, 0x00])
        _ = try Curl.run(proxy: stage.pintle.port, ["http://127.0.0.1:\(bytes.port)/"])
        #expect(self.body(try self.detail(stage, of: 2), "response")?["base64"] as? String == "iVD/AA==")
    }

    /// Long bodies pass by pipes once enough of them is kept.
    @Test func `of a long body the beginning is kept, and all of it passes`() throws {
        let stage = try Self.stage("{bodies: 1000}")
        let long = (0..<3_000_000).map { UInt8(ascii: "a") + UInt8($0 % 23) }
        let origin = try self.origin("Content-Type: text/plain\r\n", long)
        let folder = try TemporaryFolder()
        try Data(long).write(to: URL(fileURLWithPath: "\(folder.path)/long"))
        let url = "http://127.0.0.1:\(origin.port)/"
        let got = try Curl.run(
            proxy: stage.pintle.port,
            [url, "-H", "Expect:", "-H", "Content-Type: text/plain", "--data-binary", "@\(folder.path)/long"])
        let hasAll = try (origin.waitForRequests(1)[0].body == long, got.body == long)
        #expect(hasAll == (true, true))
        let detail = try self.detail(stage)
        for message in ["request", "response"] {
            let body = self.body(detail, message)
            #expect(body?["text"] as? String == String(decoding: long.prefix(1000), as: UTF8.self), "\(message)")
            #expect(body?["truncated"] as? Bool == true && body?["size"] as? Int == long.count, "\(message)")
        }
    }

    @Test func `the filter chooses whose bodies are kept, also by bodies`() throws {
        let stage = try Self.stage("{bodies: 64KiB, when: \"~bq wanted\"}")
        try stage.pass("/a", "-H", "Content-Type: text/plain", "-d", "wanted")
        try stage.pass("/b", "-H", "Content-Type: text/plain", "-d", "other")
        try Patience.wait(for: "two exchanges") { try stage.exchanges().count == 2 }
        for exchange in try stage.exchanges() {
            let isWanted = (exchange["url"] as? String)?.hasSuffix("/a") == true
            let detail = try stage.ask("/api/exchanges/\(exchange["id"] ?? "")").json
            #expect((self.body(detail, "response") != nil) == isWanted, "\(detail)")
        }
    }

    @Test func `an answer of Pintle's own has a body, too`() throws {
        let stage = try Self.stage("{bodies: 64KiB}", "destinations: {deny: [\"*.ads.example\"]}")
        _ = try Curl.run(proxy: stage.pintle.port, "http://x.ads.example/")
        let text = self.body(try self.detail(stage), "response")?["text"] as? String
        #expect(text?.contains("x.ads.example") == true, "\(text ?? "-")")
    }

    @Test func `the messages of a WebSocket are kept in both directions, and pass unchanged`() throws {
        let stage = try Self.stage("{bodies: 10}")
        let origin = try RawOrigin(WebSocketWire.echo)
        let client = try stage.pintle.connect()
        try client.send(
            "GET http://127.0.0.1:\(origin.port)/chat HTTP/1.1\r\nHost: x\r\n\(WebSocketWire.handshake)\r\n")
        #expect(try client.readHead().status == 101)
        client.forgetTaken()
        for (kind, payload) in [
            (WebSocketWire.Kind.text, Array("hello".utf8)), (.binary, [0, 255]),
            (.text, Array("longer than ten bytes".utf8)),
        ] {
            try client.send(WebSocketWire.bytes(kind, payload, isMasked: true))
            #expect(try client.readFrame().payload == payload)
            client.forgetTaken()
        }
        try client.send(WebSocketWire.bytes(.close, [], isMasked: true))
        _ = try client.readToEnd()
        client.finishSending()
        let messages = try self.detail(stage)["messages"] as? [[String: any Sendable]] ?? []
        let told = messages.map { message in
            "\(message["from"] ?? "") \(message["text"] ?? message["base64"] ?? "") \(message["truncated"] as? Bool == true)"
        }
        #expect(
            Set(told.prefix(6)) == [
                "client hello false", "origin hello false", "client AP8= false", "origin AP8= false",
                "client longer tha true", "origin longer tha true",
            ], "\(told)")
        #expect(try stage.exchanges("?filter=~websocket+~bq+hello").count == 1)
        let archive = try stage.ask("/api/har").json["log"] as? [String: any Sendable]
        let entry = (archive?["entries"] as? [[String: any Sendable]])?.first
        #expect((entry?["_webSocketMessages"] as? [[String: any Sendable]])?.count ?? 0 >= 6, "\(entry ?? [:])")
    }

    @Test func `a WebSocket that breaks its protocol is relayed as it is`() throws {
        let stage = try Self.stage("{bodies: 1KiB}")
        let origin = try RawOrigin { connection in
            let request = try connection.readRequestHead()
            try connection.send(WebSocketWire.switching(for: request))
            while let bytes = try connection.stream.readSome() { try connection.stream.send(bytes) }
            connection.stream.finishSending()
        }
        let client = try stage.pintle.connect()
        try client.send(
            "GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\(WebSocketWire.handshake)\r\n")
        #expect(try client.readHead().status == 101)
        let noise = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
        try client.send(noise)
        client.finishSending()
        let isSame = try client.readToEnd().bytes == noise
        #expect(isSame)
    }

    @Test(arguments: [true, false]) func `a preview tells what a body decides if it was kept`(isKept: Bool) throws {
        let stage = try AdminStage((isKept ? "capture: {bodies: 1KiB}\n" : "") + "routes: [{name: a}]")
        for body in [#"{"user": "ada"}"#, #"{"user": "#] {
            try stage.pass("/", "-H", "Content-Type: application/json", "-d", body)
        }
        _ = try self.detail(stage, of: 2)
        let folder = try TemporaryFolder()
        let next = try folder.write("version: 1\nroutes: [{name: a, request: {serialize: json}}]\n", to: "next.yaml")
        let told = try stage.ask("/api/preview", "-X", "POST", "--data-binary", "@\(next)").json
        let expected = isKept ? (unknown: 0, denied: 1, request: 1) : (unknown: 2, denied: 0, request: 0)
        #expect(told["unknown"] as? Int == expected.unknown && told["denied"] as? Int == expected.denied, "\(told)")
        #expect(told["request"] as? Int == expected.request, "\(told)")
    }

    @Test func `developer tools get bodies`() throws {
        let stage = try Self.stage("{bodies: 64KiB}")
        try stage.pass("/x", "-d", "wanted=1")
        _ = try self.detail(stage)
        let target = try stage.ask("/json/list").text
        let list = try JSONSerialization.jsonObject(with: Data(target.utf8)) as? [PintleProcess.Object]
        let url = try #require(list?.first?["webSocketDebuggerUrl"] as? String)
        let path = String(url.dropFirst("ws://127.0.0.1:\(stage.port)".count))
        let stream = try SocketStream(port: stage.port)
        try stream.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(stage.port)\r\n\(WebSocketWire.handshake)\r\n")
        #expect(try stream.readHead().status == 101)
        for (method, expected) in [
            ("getResponseBody", #""result":{"body":"12345","base64Encoded":false}"#),
            ("getRequestPostData", #""result":{"postData":"wanted=***","base64Encoded":false}"#),
        ] {
            stream.forgetTaken()
            try stream.sendFrame(
                .text, Array(#"{"id": 1, "method": "Network.\#(method)", "params": {"requestId": "1"}}"#.utf8))
            #expect(String(decoding: try stream.readFrame().payload, as: UTF8.self).contains(expected))
        }
    }

    @Test func `where nothing shows bodies the key is refused`() throws {
        let folder = try TemporaryFolder()
        try folder.write("version: 1\nlisten: [\"127.0.0.1:0\"]\ncapture: {bodies: 1KiB}\n", to: "pintle.yaml")
        let process = try ChildProcess(PintleProcess.binary, ["serve", "-c", "pintle.yaml"], folder: folder.path)
        try process.waitForExit()
        #expect(
            process.exitCode == 3 && process.errors.joined().contains("nothing shows the bodies"), "\(process.lines)")
    }

    // MARK: pintle run

    @Test func `the HAR file of a run has fields and bodies`() throws {
        let stage = try RunStage("capture: {bodies: 1KiB}")
        let origin = try self.origin("Content-Type: text/plain\r\nX-Mark: 7\r\n", Array("content".utf8))
        let url = "http://127.0.0.1:\(origin.port)/"
        let process = try stage.run(["--report", "har=a.har"], ["curl", "-s", "-o", "/dev/null", url, "-d", "a=1"])
        #expect(process.exitCode == 0, "\(process.lines)")
        let entry = try #require(try jsonObject(stage.text("a.har")).object("log").objects("entries").first)
        #expect(entry.object("response").object("content").text("text") == "content", "\(entry)")
        #expect(entry.object("request").object("postData").text("text") == "a=***")
        #expect(entry.object("response").objects("headers").contains { $0.text("name") == "X-Mark" })
    }

    @Test func `--devtools prints links that work while the command runs`() throws {
        let stage = try RunStage("capture: {bodies: 1KiB}")
        let origin = try self.origin("Content-Type: text/plain\r\n", Array("content".utf8))
        let process = try stage.start(
            ["--devtools"], environment: ["XDG_STATE_HOME": stage.folder.path],
            [
                "sh", "-c",
                "curl -s -o /dev/null http://127.0.0.1:\(origin.port)/; while [ ! -e done ]; do sleep 0.05; done",
            ])
        try Patience.wait(for: "the links") { process.errors.count >= 2 }
        let link = try #require(process.errors.first { $0.contains("#token=") }?.split(separator: " ").last)
        let parts = link.split(separator: "#token=")
        let authorization = "Authorization: Bearer \(parts[1])"
        try Patience.wait(for: "the exchange") {
            let answer = try Curl.run(["-H", authorization, "\(parts[0])api/exchanges"]).json
            return (answer["exchanges"] as? [Any])?.count == 1
        }
        let list = try Curl.run(["-H", authorization, "\(parts[0])json/list"]).text
        let tools = try #require(process.errors.first { $0.contains("devtools://") }?.split(separator: " ").last)
        #expect(list.contains(tools), "\(list)")
        let reload = try Curl.run(["-H", authorization, "-X", "POST", "\(parts[0])api/reload"])
        #expect(reload.text.contains("keeps its configuration"), "\(reload)")
        try stage.folder.write("", to: "done")
        try process.waitForExit()
        #expect(process.exitCode == 0, "\(process.lines)")
    }
}
