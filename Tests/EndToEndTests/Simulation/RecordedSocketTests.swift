// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

private typealias Bytes = HTTP2Bytes
private typealias Flag = HTTP2Bytes.Flag

/// Recordings of WebSockets: in streams of HTTP/2, compared with the origin, and the memory that they take.
struct RecordedSocketTests {
    /// A client in a tunnel that sends a text through a WebSocket in a stream, and gets an answer and the end.
    ///
    /// - Returns: the status, and the bytes of the server's frames.
    private func talk(_ stage: HTTP2Stage) throws -> (status: Int, bytes: [UInt8]) {
        let client = try stage.client()
        try client.greet()
        try client.send(
            Bytes.headers(
                [
                    (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"),
                    (":authority", "origin.test"), (":path", "/chat"), ("sec-websocket-version", "13"),
                    ("sec-websocket-protocol", "other, echo"),
                ], Flag.endHeaders))
        try client.read { !($0.answers[1]?.heads.isEmpty ?? true) || $0.answers[1]?.reset != nil }
        for frame in [
            WebSocketWire.bytes(.text, Array("hello".utf8), isMasked: true),
            WebSocketWire.bytes(.close, [3, 232], isMasked: true),
        ] { try client.send(Bytes.frame(0, on: 1, frame)) }
        try client.send(Bytes.frame(0, Flag.endStream, on: 1))
        let answer = try client.answer()
        return (answer.status, answer.body)
    }

    @Test func `a WebSocket in a stream of HTTP/2 is recorded, and played`() throws {
        let recorder = try HTTP2Stage(route: ["replay: {mode: record, tape: t}"], serving: WebSocketWire.echo)
        let live = try self.talk(recorder)
        #expect(
            live.status == 200
                && live.bytes.starts(with: WebSocketWire.bytes(.text, Array("hello".utf8), isMasked: false)))
        _ = try recorder.pintle.waitForExchanges(2)
        #expect(try recorder.pintle.stop() == 0)
        let tape = "\(recorder.folder.path)/recordings/t"
        let messages = try String(contentsOfFile: "\(tape)/0001-GET-chat.messages.jsonl", encoding: .utf8)
        #expect(messages.contains(#""from":"client","kind":"text","text":"hello""#), "\(messages)")
        #expect(messages.contains(#""from":"server","kind":"text","text":"hello""#), "\(messages)")
        let player = try HTTP2Stage(
            "recordings: {path: \"\(recorder.folder.path)/recordings\"}", route: ["replay: {tape: t}"],
            leadingTo: recorder.origin.port)
        let played = try self.talk(player)
        #expect(played.status == 200 && played.bytes == live.bytes, "\(played)")
        #expect(recorder.origin.requests.count == 1)
        let line = try #require(try player.pintle.waitForExchanges(2).first { $0["method"] as? String == "GET" })
        #expect(line["source"] as? String == "recording" && line["status"] as? Int == 101, "\(line)")
        // No origin was asked: `pintle run` tells no assurance of it.
        #expect(line["upstream_status"] == nil && line["address"] == nil, "\(line)")
    }

    /// Talks through a proxy with an origin that echoes, until both have closed.
    private func talk(_ pintle: PintleProcess, _ port: Int, _ words: [String], fields: String = "") throws {
        let client = try pintle.connect()
        try client.send(
            "GET http://127.0.0.1:\(port)/chat HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\(WebSocketWire.handshake)\(fields)\r\n"
        )
        #expect(try client.readHead().status == 101)
        for word in words {
            try client.sendFrame(.text, Array(word.utf8))
            _ = try client.readFrame()
        }
        try client.sendFrame(.close, [3, 232])
        _ = try client.readFrame()
    }

    @Test func `a comparison tells the first message that differs`() throws {
        let (folder, suffix) = (try TemporaryFolder(), Watched(""))
        let origin = try RawOrigin { connection in
            let request = try connection.readRequestHead()
            try connection.send(WebSocketWire.switching(for: request))
            while case let frame = try connection.stream.readFrame() {
                connection.stream.forgetTaken()
                let payload = frame.payload + (frame.kind == .close ? [] : Array(suffix.current.utf8))
                try connection.stream.send(WebSocketWire.bytes(frame.kind, payload, isMasked: false))
                if frame.kind == .close { return }
            }
        }
        let recorder = try RecordingTests.proxy(folder, "mode: record")
        try self.talk(recorder, origin.port, ["a", "b"])
        _ = try recorder.waitForExchanges(1)
        #expect(try recorder.stop() == 0)
        let pintle = try RecordingTests.proxy(folder, "mode: compare")
        for (number, (end, words, expected)) in [
            ("", ["a", "b"], nil), ("", ["a"], nil), ("!", ["x", "b"], nil),
            (
                "!", ["a", "b"],
                "message 1 of the server differs from its recording: it has 2 bytes here and 1 there, which differ from byte 1"
            ),
        ].enumerated() as EnumeratedSequence<[(String, [String], String?)]> {
            suffix.change { $0 = end }
            try self.talk(pintle, origin.port, words)
            let line = try #require(try pintle.waitForExchanges(number + 1).last)
            #expect(line["violations"] as? [String] == expected.map { _ in ["recording-differs"] }, "\(line)")
            #expect(line["error"] as? String == expected, "\(line)")
        }
        #expect(try RecordingTests.files(folder).count == 2)
    }

    @Test func `an origin that opens no WebSocket any more differs`() throws {
        let (folder, opens) = (try TemporaryFolder(), Watched(true))
        let origin = try RawOrigin { connection in
            let request = try connection.readRequestHead()
            guard opens.current else { return try connection.send(response("no", fields: "Connection: close\r\n")) }
            try connection.send(WebSocketWire.switching(for: request))
            _ = try connection.stream.readFrame()
            try connection.stream.send(WebSocketWire.bytes(.close, [3, 232], isMasked: false))
        }
        let recorder = try RecordingTests.proxy(folder, "mode: record")
        try self.talk(recorder, origin.port, [])
        _ = try recorder.waitForExchanges(1)
        #expect(try recorder.stop() == 0)
        opens.change { $0 = false }
        let pintle = try RecordingTests.proxy(folder, "mode: compare")
        let client = try pintle.connect()
        try client.send(
            "GET http://127.0.0.1:\(origin.port)/chat HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\(WebSocketWire.handshake)\r\n"
        )
        #expect(try client.readHead().status == 200)
        let line = try #require(try pintle.waitForExchanges(1).last)
        #expect(line["violations"] as? [String] == ["recording-differs"], "\(line)")
        #expect(line.text("error").hasPrefix("the status is 200, and was 101"), "\(line)")
    }

    // MARK: Memory

    @Test func `a recording without memory is lost, and the exchange goes on`() throws {
        let folder = try TemporaryFolder()
        let body = String(repeating: "x", count: 3 << 20)
        let origin = try RawOrigin { connection in
            while true {
                let head = try connection.readRequestHead()
                connection.stream.forgetTaken()
                try connection.send(response(head.startLine.contains("/long") ? body : "ok"))
            }
        }
        let pintle = try RecordingTests.proxy(
            folder, "mode: record", more: "recordings: {bodies: 8MiB}\nlimits: {held_bytes: 1MiB, body_buffer: 64KiB}")
        for path in ["/long", "/short"] {
            let answer = try pintle.ask(get(origin.port, path))
            #expect(answer.head.status == 200 && answer.text.utf8.count == (path == "/long" ? 3 << 20 : 2))
        }
        let lost = try #require(try pintle.waitForMessages("a recording is lost", 1).first)
        #expect(lost.text("reason") == "limits.held_bytes has no room for its bodies", "\(lost)")
        #expect(lost.text("route") == "all", "\(lost)")
        let counters = try pintle.counters()
        #expect(counters["recordings_lost"] as? Int == 1, "\(counters)")
        #expect(
            counters["held_bytes"] as? Int == 0 && counters["held_bytes_peak"] as? Int ?? 0 > 900_000, "\(counters)")
        #expect(try pintle.stop() == 0)
        #expect(try RecordingTests.files(folder) == ["0001-GET-short.json", "0001-GET-short.response.txt"])
    }

    @Test func `a WebSocket without memory is lost, and goes on`() throws {
        let (folder, origin) = (try TemporaryFolder(), try RawOrigin(WebSocketWire.echo))
        let pintle = try RecordingTests.proxy(
            folder, "mode: record", more: "recordings: {bodies: 8MiB}\nlimits: {held_bytes: 1MiB, body_buffer: 64KiB}")
        try self.talk(pintle, origin.port, ["a", "b"])
        _ = try pintle.waitForExchanges(1)
        let counters = try pintle.counters()
        #expect(counters["recordings_lost"] as? Int == 1 && counters["held_bytes"] as? Int == 0, "\(counters)")
        #expect(try pintle.stop() == 0)
    }

    @Test func `a message that is too long leaves a gap, and no conversation that ends early`() throws {
        let (folder, origin) = (try TemporaryFolder(), try RawOrigin(WebSocketWire.echo))
        let pintle = try RecordingTests.proxy(folder, "mode: record", more: "recordings: {bodies: 8MiB}")
        try self.talk(pintle, origin.port, ["a", String(repeating: "x", count: 2 << 20)])
        _ = try pintle.waitForExchanges(1)
        #expect(try pintle.stop() == 0)
        let text = try String(contentsOfFile: "\(folder.path)/recordings/t/0001-GET-chat.json", encoding: .utf8)
        #expect(text.contains("a message cannot be followed: it is longer than 1 MiB"), "\(text)")
    }

    // MARK: Age

    @Test func `check and lint tell recordings that are older than max_age`() throws {
        let (folder, origin) = (try TemporaryFolder(), try RecordingTests.origin())
        let recorder = try RecordingTests.proxy(folder, "mode: record")
        for path in ["/a", "/b"] { #expect(try recorder.ask(get(origin.port, path)).head.status == 200) }
        #expect(try recorder.stop() == 0)
        let file = "\(folder.path)/recordings/t/0001-GET-a.json"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let old = text.replacingOccurrences(
            of: "\"recorded\": \"20[0-9]{2}", with: "\"recorded\": \"2001", options: .regularExpression)
        try old.write(toFile: file, atomically: true, encoding: .utf8)
        let settings = try folder.write(
            "version: 1\nrecordings: {max_age: 30d}\nroutes:\n  - name: all\n    replay: {tape: t}\n", to: "check.yaml")
        let check = try PintleProcess.run(["check", settings])
        #expect(check.exitCode == 0)
        let warnings = check.output.filter { $0.contains("max_age") }
        #expect(warnings.count == 1, "\(check.lines)")
        #expect(
            warnings[0].hasPrefix(
                "\(settings):4:5: warning: routes[0].replay: a recording in \(folder.path)/recordings/t is older than recordings.max_age (30d): 0001-GET-a.json was recorded at 2001-"
            ),
            "\(warnings)")
        let lint = try PintleProcess.run(["tapes", "lint", "\(folder.path)/recordings/t", "-c", settings])
        #expect(lint.exitCode == 1 && lint.output.count == 1, "\(lint.lines)")
        #expect(lint.output[0].hasPrefix("0001-GET-a.json: age: recorded at 2001-"), "\(lint.lines)")
    }
}
