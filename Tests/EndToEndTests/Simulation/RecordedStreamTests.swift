// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import PintleTrust
import Testing

/// Recordings of streams: events, WebSockets, calls of gRPC; and of whole runs.
struct RecordedStreamTests {
    @Test func `events are played at once, or as they came`() throws {
        let folder = try TemporaryFolder()
        let second = Watched(false)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            try connection.send("9\r\ndata: a\n\n\r\n")
            // The client has the first event before the second is sent.
            try second.wait(for: "the first event") { $0 }
            try connection.send("9\r\ndata: b\n\n\r\n0\r\n\r\n")
        }
        let recorder = try RecordingTests.proxy(folder, "mode: record")
        let client = try recorder.connect()
        try client.send(get(origin.port, "/events"))
        _ = try client.readHead()
        while !client.receivedText.contains("data: a") { try #require(try client.fill()) }
        second.change { $0 = true }
        while !client.receivedText.hasSuffix("0\r\n\r\n") { try #require(try client.fill()) }
        #expect(try recorder.stop() == 0)
        // Half an hour passed between them, as it were: at once means at once.
        let file = "\(folder.path)/recordings/t/0001-GET-events.json"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let piece = try #require(text.range(of: #""[0-9]+ ms: 18""#, options: .regularExpression))
        try text.replacingCharacters(in: piece, with: "\"1800000 ms: 18\"").write(
            toFile: file, atomically: true, encoding: .utf8)
        let url = "http://127.0.0.1:\(origin.port)/events"
        let atOnce = try RecordingTests.proxy(folder, "mode: replay")
        let answer = try Curl.run(proxy: atOnce.port, url)
        #expect(answer.text == "data: a\n\ndata: b\n\n" && answer["Content-Type"] == "text/event-stream", "\(answer)")
        let slow = try RecordingTests.proxy(folder, "mode: replay, timing: recorded")
        let patient = try slow.connect()
        try patient.send(get(origin.port, "/events"))
        _ = try patient.readHead()
        while !patient.receivedText.contains("data: a") { try #require(try patient.fill()) }
        #expect(!patient.receivedText.contains("data: b"))
        // A proxy cannot tell a closed connection from a client that only sends no more.
        patient.reset()
        #expect(try slow.waitForExchanges(1)[0]["source"] as? String == "recording")
    }

    /// An origin of events that never end.
    private static func endless() throws -> RawOrigin {
        try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            try connection.send("9\r\ndata: a\n\n\r\n")
            _ = try connection.waitForEnd()
        }
    }

    @Test func `events that their client leaves are told as lost, by their URL without the query`() throws {
        let (folder, origin) = (try TemporaryFolder(), try Self.endless())
        let recorder = try RecordingTests.proxy(folder, "mode: record")
        let client = try recorder.connect()
        try client.send(get(origin.port, "/events?token=abcdefgh"))
        _ = try client.readHead()
        while !client.receivedText.contains("data: a") { try #require(try client.fill()) }
        client.reset()
        let lost = try #require(try recorder.waitForMessages("a recording is lost").first)
        #expect(
            lost.text("reason")
                == "GET http://127.0.0.1:\(origin.port)/events: the answer was given up before its end, as by a client that leaves",
            "\(lost)")
        #expect(try recorder.counters()["recordings_lost"] as? Int == 1)
        #expect(try recorder.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/recordings/t"))
    }

    @Test func `a run tells of events that its command has left`() throws {
        let (stage, origin) = (try RunStage(), try Self.endless())
        let url = "http://127.0.0.1:\(origin.port)/events"
        let read =
            "import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1]).readline().decode())"
        let process = try stage.run(
            ["--record", "tape"], ["/usr/bin/python3", "-c", read, "\(url)?token=abcdefgh"])
        #expect(process.exitCode == 0 && process.output == ["data: a"], "\(process.lines)")
        let lost = process.errors.filter { $0.contains("a recording is lost") }
        #expect(lost.count == 1 && lost[0].contains("GET \(url): "), "\(process.errors)")
        #expect(!lost.joined().contains("abcdefgh"))
    }

    @Test(arguments: [["--record"], ["--miss", "record", "--replay"]])
    func `a run whose recordings could not be written does not begin`(options: [String]) throws {
        let stage = try RunStage()
        for (place, reason) in [("", "name a folder"), ("/dev/null/tape", "/dev/null is a file; name a folder")] {
            let process = try stage.run(options + [place], ["/bin/echo", "begun"])
            #expect(process.exitCode == 125 && process.output.isEmpty, "\(process.lines)")
            #expect(
                process.errors == ["pintle run: \(options.last ?? "") \(place): \(reason)"], "\(process.lines)")
        }
    }

    @Test func `a WebSocket is played behind the messages of its client`() throws {
        let folder = try TemporaryFolder()
        let origin = try RawOrigin { connection in
            let request = try connection.readRequestHead()
            try connection.send(WebSocketWire.switching(for: request))
            func send(_ kind: WebSocketWire.Kind, _ payload: [UInt8]) throws {
                try connection.stream.send(WebSocketWire.bytes(kind, payload, isMasked: false))
            }
            try send(.text, Array("welcome, AKIAIOSFODNN7EXAMPLE".utf8))
            for number in 0..<2 {
                _ = try connection.stream.readFrame()
                connection.stream.forgetTaken()
                try send(.text, Array("answer \(number)".utf8))
                try send(.binary, [0, 255, UInt8(number)])
            }
            try send(.close, [0x03, 0xE8])
            _ = try connection.stream.readFrame()
        }
        /// Talks as the recorded client did, with other words.
        func talk(_ pintle: PintleProcess, _ word: String) throws -> (head: MessageHead, frames: [WebSocketWire.Frame])
        {
            let client = try pintle.connect()
            try client.send(
                "GET http://127.0.0.1:\(origin.port)/chat HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\(WebSocketWire.handshake)\r\n"
            )
            let head = try client.readHead()
            var frames = [try client.readFrame()]
            for number in 0..<2 {
                try client.sendFrame(.text, Array("\(word) \(number)".utf8))
                frames += [try client.readFrame(), try client.readFrame()]
            }
            frames.append(try client.readFrame())
            try client.sendFrame(.close, [0x03, 0xE8])
            return (head, frames)
        }
        let recorder = try RecordingTests.proxy(folder, "mode: record")
        let live = try talk(recorder, "word")
        #expect(live.frames.last?.kind == .close)
        _ = try recorder.waitForExchanges(1)
        #expect(try recorder.stop() == 0)
        origin.stop()
        let lines = try String(
            contentsOfFile: "\(folder.path)/recordings/t/0001-GET-chat.messages.jsonl", encoding: .utf8)
        #expect(
            !lines.contains("AKIA") && lines.contains(#""from":"client","kind":"text","text":"word 1""#), "\(lines)")
        let player = try RecordingTests.proxy(folder, "mode: replay")
        let played = try talk(player, "other")
        #expect(
            played.head.startLine == live.head.startLine && played.head["Pintle-Simulated"] == "recording",
            "\(played.head)")
        #expect(played.head["Sec-WebSocket-Accept"] == live.head["Sec-WebSocket-Accept"])
        let expected = live.frames.map { frame in
            frame.payload.starts(with: Array("welcome".utf8))
                ? WebSocketWire.Frame(kind: .text, payload: Array("welcome, ***".utf8)) : frame
        }
        #expect(played.frames == expected)
    }

    // MARK: Runs

    /// Calls of gRPC that are echoed, with a status in the trailers.
    private static let server = """
        const http2 = require("http2"), fs = require("fs");
        const server = http2.createSecureServer({key: fs.readFileSync("site.key"), cert: fs.readFileSync("site.pem")});
        server.on("stream", (stream, head) => {
          stream.respond({":status": 200, "content-type": "application/grpc"}, {waitForTrailers: true});
          stream.on("data", data => stream.write(data));
          stream.on("end", () => stream.end());
          stream.on("wantTrailers", () => stream.sendTrailers({"grpc-status": "0", "grpc-message": head[":path"]}));
        });
        server.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));
        """

    /// Makes the suite of a product: forty requests to three origins. It prints their answers.
    private static func suite(_ rest: Int, _ events: Int, _ calls: Substring) -> String {
        """
        set -e
        for n in 1 2 3 4 5 6 7 8 9 10; do
          curl -sS http://127.0.0.1:\(rest)/users/$n?page=$n
          curl -sS -X DELETE http://127.0.0.1:\(rest)/users/$n
          curl -sS -d "{\\"n\\":$n}" -H 'Content-Type: application/json' http://127.0.0.1:\(rest)/users
        done
        for n in 1 2 3 4 5; do
          curl -sS http://127.0.0.1:\(events)/events/$n
          printf '\\0\\0\\0\\0\\005call%d' $n | curl -sS --http2 -H 'Content-Type: application/grpc' -H 'TE: trailers' \
            --data-binary @- -D heads https://localhost:\(calls)/s/Call$n
          grep -i '^grpc' heads
        done
        """
    }

    @Test func `three origins are recorded once, and the suite runs without a network`() throws {
        let stage = try RunStage(
            "trust: {site: {hosts: [localhost], roots: [root.pem]}}\nrecordings: {path: tapes}")
        let folder = stage.folder
        let pki = TestPKI()
        let root = try pki.root("Root")
        _ = try folder.write(pki.leaf("site", dns: ["localhost"], signedBy: root), as: "site")
        try folder.write(root.certificatePEM, to: "root.pem")
        try folder.write(Self.server, to: "server.js")
        try AuthorityFolder("\(folder.path)/pintle/ca").keep(try CertificateAuthority(named: "Test CA"))
        let rest = try RecordingTests.origin()
        let events = try RawOrigin(
            answering: response("data: one\n\ndata: two\n\n", fields: "Content-Type: text/event-stream\r\n"))
        let server = try ChildProcess("/usr/bin/node", ["server.js"], folder: folder.path)
        let calls = try server.waitForLine("its port") { $0.hasPrefix("port ") }.dropFirst(5)
        try folder.write(Self.suite(rest.port, events.port, calls), to: "suite.sh")
        let environment = ["XDG_DATA_HOME": folder.path]
        let live = try stage.run(["--record", "tapes/all"], environment: environment, ["sh", "suite.sh"])
        #expect(live.exitCode == 0, "\(live.lines)")
        rest.stop()
        events.stop()
        server.signal(15)
        try server.waitForExit()
        // A network of its own has a loopback interface alone.
        let offline = try ChildProcess(
            "/usr/bin/unshare",
            [
                "-rn", "/bin/sh", "-c", "ip link set lo up && exec \"$@\"", "sh", PintleProcess.binary, "run",
                "--replay",
                "tapes/all", "--report", "json=report.json", "--", "sh", "suite.sh",
            ], environment: RunStage.environment.merging(environment) { $1 }, folder: folder.path)
        try offline.waitForExit()
        #expect(offline.exitCode == 0, "\(offline.lines)")
        #expect(offline.output == live.output && !live.output.isEmpty)
        let summary = "40 requests and 5 tunnels, 40 of 40 answers were recordings ("
        #expect(offline.errors.contains { $0.contains(summary) }, "\(offline.errors)")
        #expect(try stage.report().object("summary").object("simulated").number("recording") == 40)
        let lint = try PintleProcess.run(["tapes", "lint", "\(folder.path)/tapes/all"])
        #expect(lint.exitCode == 0, "\(lint.lines)")
    }

    @Test func `a request without a recording ends the run with a failure, and the options are checked`() throws {
        let stage = try RunStage()
        try FileManager.default.createDirectory(atPath: "\(stage.folder.path)/none", withIntermediateDirectories: true)
        let process = try stage.run(["--replay", "none"], ["curl", "-sS", "http://127.0.0.1:9/"])
        #expect(process.output.joined().contains("recording-missing"), "\(process.lines)")
        #expect(process.errors.contains { $0.contains("1 failed") } && process.exitCode == 1, "\(process.errors)")
        let lenient = try stage.run(
            ["--replay", "none", "--fail-on", "violation"], ["curl", "-sS", "http://127.0.0.1:9/"])
        #expect(lenient.exitCode == 0, "\(lenient.lines)")
        for (options, reason) in [
            (["--miss", "fail"], "--miss belongs to --replay"), (["--record", "a", "--replay", "b"], "take one"),
            (["--record", "a.har"], "an archive is only played"), (["--replay", "nowhere"], "it cannot be read"),
            (["--replay", "a.har", "--miss", "record"], "an archive is only played"),
        ] {
            let refused = try stage.run(options, ["true"])
            #expect(refused.exitCode == 125 && refused.errors.joined().contains(reason), "\(refused.lines)")
        }
    }

    @Test func `a tunnel that is not intercepted is refused while recordings are played`() throws {
        let stage = try RunStage()
        try FileManager.default.createDirectory(atPath: "\(stage.folder.path)/none", withIntermediateDirectories: true)
        try AuthorityFolder("\(stage.folder.path)/pintle/ca").keep(try CertificateAuthority(named: "Test CA"))
        let process = try stage.run(
            ["--replay", "none", "--intercept", "other.test"], environment: ["XDG_DATA_HOME": stage.folder.path],
            ["curl", "-sS", "-o", "/dev/null", "https://127.0.0.1:9/"])
        #expect(process.errors.contains { $0.contains("denied by --replay") }, "\(process.errors)")
    }
}
