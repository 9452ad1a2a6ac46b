// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Recordings of origins, and their use in the origins' place (contract §8).
struct RecordingTests {
    /// An origin whose answers tell their number, the path and the body; with cookies and an echo of the credentials.
    static func origin() throws -> RawOrigin {
        let count = Watched(0)
        return try RawOrigin { connection in
            while true {
                let request = try connection.readRequest()
                connection.stream.forgetTaken()
                count.change { $0 += 1 }
                let credentials = request["Authorization"] ?? "none"
                let body =
                    "{\"number\":\(count.current),\"line\":\"\(request.head.startLine)\",\"seen\":\"\(credentials)\",\"got\":\(request.body.count)}"
                try connection.send(
                    response(
                        body,
                        fields:
                            "Content-Type: application/json\r\nSet-Cookie: sid=0123456789abcdef; Path=/\r\nETag: \"1\"\r\n"
                    ))
            }
        }
    }

    /// A proxy with one route for all that records, or plays, in the folder `recordings/t` of `folder`.
    static func proxy(
        _ folder: TemporaryFolder, _ replay: String, more: String = "", route: String = "", by launcher: [String] = []
    ) throws -> PintleProcess {
        try PintleProcess(
            "\(more)\nroutes:\n  - name: all\n    \(route)\n    replay: {tape: t, \(replay)}", folder: folder,
            by: launcher)
    }

    static func files(_ folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/recordings/t").sorted()
    }

    private struct Request {
        let arguments: [String]
        let path: String

        func run(_ proxy: PintleProcess, _ port: Int) throws -> Curl.Result {
            try Curl.run(proxy: proxy.port, self.arguments + ["http://127.0.0.1:\(port)\(self.path)"])
        }
    }

    private static let requests = [
        Request(arguments: [], path: "/a"), Request(arguments: [], path: "/a"),
        Request(arguments: ["-H", "Authorization: Bearer one-of-many-tokens"], path: "/me?access_token=abcdefgh"),
        Request(
            arguments: ["-d", #"{"name":"Ada","password":"hunter22"}"#, "-H", "Content-Type: application/json"],
            path: "/p"),
        Request(arguments: ["-d", #"{"name":"Bob"}"#, "-H", "Content-Type: application/json"], path: "/p"),
        Request(arguments: ["-X", "DELETE"], path: "/a"), Request(arguments: ["-I"], path: "/a"),
        Request(arguments: ["-H", "Transfer-Encoding: chunked", "-d", "a=1&token=xyz123"], path: "/form"),
    ]

    @Test func `what was recorded is played without the origin, byte for byte`() throws {
        let (folder, origin) = (try TemporaryFolder(), try Self.origin())
        let recorder = try Self.proxy(folder, "mode: record")
        let live = try Self.requests.map { try $0.run(recorder, origin.port) }
        #expect(live.allSatisfy { $0["Pintle-Simulated"] == nil && $0.status == 200 }, "\(live)")
        #expect(try recorder.waitForExchanges(live.count).allSatisfy { $0["source"] as? String == "origin" })
        #expect(try recorder.stop() == 0)
        origin.stop()
        #expect(try Self.files(folder).filter { !$0.contains("re") && $0.hasSuffix(".json") }.count == live.count)
        let player = try Self.proxy(folder, "mode: replay")
        for (request, answer) in zip(Self.requests, live) {
            let played = try request.run(player, origin.port)
            // The echo of the credentials is masked.
            let expected = answer.text.replacingOccurrences(of: "Bearer one-of-many-tokens", with: "***")
                .replacingOccurrences(of: "access_token=abcdefgh", with: "access_token=***")
            // curl writes the head of an answer to HEAD as its body.
            if request.arguments != ["-I"] { #expect(played.text == expected, "\(played)") }
            #expect(played.status == answer.status && played["Pintle-Simulated"] == "recording", "\(played)")
            #expect(played["ETag"] == answer["ETag"] && played["Set-Cookie"] == "sid=***; Path=/", "\(played)")
        }
        let lines = try player.waitForExchanges(live.count)
        #expect(lines.allSatisfy { $0["source"] as? String == "recording" && $0["upstream_status"] == nil }, "\(lines)")
        #expect(try player.counters()["recordings"] as? Int == live.count)
    }

    @Test func `no secret reaches the disk, and requests with other secrets match`() throws {
        let (folder, origin) = (try TemporaryFolder(), try Self.origin())
        let redact = "recordings: {redact: [X-Team, \"query:who\", \"json:/user/pin\", \"form:code\"]}"
        let route = "request: {headers: {set: {X-Key: injected-by-the-route}}}"
        let recorder = try Self.proxy(folder, "mode: record", more: redact, route: route)
        func ask(_ pintle: PintleProcess, _ secret: String) throws -> [Curl.Result] {
            let url = "http://127.0.0.1:\(origin.port)"
            let json = ["-H", "Content-Type: application/json"]
            return try [
                ["\(url)/token/ghp_\(secret)abcdefghijklmnopqrstuvwxyz0123?who=\(secret)&sig=\(secret)"],
                ["-H", "X-Team: \(secret)", "-b", "sid=\(secret)", "-u", "user:\(secret)", "\(url)/"],
                [
                    "-d", "{\"user\":{\"pin\":\"\(secret)\",\"name\":\"Ada\"},\"client_secret\":\"\(secret)\"}",
                    "\(url)/j",
                ] + json,
                ["-d", "code=\(secret)&password=\(secret)&plain=1", "\(url)/f"],
                ["-F", "token=\(secret)", "-F", "plain=1", "\(url)/m"],
                [
                    "-d", "key sk_live_\(secret)abcdefghijklmnop and AKIAIOSFODNN7EXAMPLE", "-H",
                    "Content-Type: text/plain", "\(url)/t",
                ],
            ].map { try Curl.run(proxy: pintle.port, $0) }
        }
        let live = try ask(recorder, "q1w2e3r4t5")
        #expect(live.allSatisfy { $0.status == 200 }, "\(live)")
        #expect(try recorder.stop() == 0)
        for name in try Self.files(folder) {
            let text = try String(contentsOfFile: "\(folder.path)/recordings/t/\(name)", encoding: .utf8) + name
            for secret in ["q1w2e3r4t5", "injected-by-the-route", "AKIAIOSFODNN7EXAMPLE", "dXNlcjpxMXcyZTNyNHQ1"] {
                #expect(!text.contains(secret), "\(name): \(text)")
            }
        }
        origin.stop()
        let player = try Self.proxy(folder, "mode: replay", more: redact, route: route)
        for played in try ask(player, "z9x8c7v6b5") { #expect(played.status == 200, "\(played)") }
        let lint = try PintleProcess.run(["tapes", "lint", "\(folder.path)/recordings/t"])
        #expect(lint.exitCode == 0, "\(lint.lines)")
    }

    // MARK: Misses

    @Test func `a miss says what differs, and nothing is connected or looked up for it`() throws {
        let (folder, origin) = (try TemporaryFolder(), try Self.origin())
        let recorder = try Self.proxy(folder, "mode: record")
        #expect(
            try Curl.run(proxy: recorder.port, ["-d", "{\"n\":1}", "http://127.0.0.1:\(origin.port)/p"]).status == 200)
        #expect(try recorder.stop() == 0)
        /// The connections and messages to other machines' names, or to the origin, that a proxy makes.
        func calls(_ miss: String) throws -> (answers: [Curl.Result], calls: [Substring]) {
            let file = "\(folder.path)/calls-\(miss)"
            let trace = [
                "/usr/bin/strace", "-D", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o", file,
            ]
            let pintle = try Self.proxy(folder, "miss: \(miss)", by: trace)
            let answers = try [
                Curl.run(proxy: pintle.port, ["-d", "{\"n\":2}", "http://127.0.0.1:\(origin.port)/p"]),
                Curl.run(proxy: pintle.port, "http://nowhere.invalid/"),
            ]
            #expect(try pintle.stop() == 0)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            return (answers, text.split(separator: "\n").filter { $0.contains("AF_INET") })
        }
        let (answers, made) = try calls("fail")
        #expect(made.isEmpty, "\(made)")
        #expect(answers.allSatisfy { $0.status == 504 && $0.problem == "recording-missing" }, "\(answers)")
        let detail = answers[0].json["detail"] as? String ?? ""
        #expect(
            detail.contains("0001-POST-p.json differs only in its body: it has 7 bytes here and 7 there")
                || detail.contains("/n is 2 here and 1 there"), "\(detail)")
        #expect(origin.requests.count == 1)
        // `forward` shows in the same trace that the test would notice a connection.
        let (forwarded, others) = try calls("forward")
        #expect(
            forwarded[0].status == 200 && forwarded[0]["Pintle-Simulated"] == nil && !others.isEmpty, "\(forwarded)")
    }

    @Test func `what is missing is recorded once, and then played`() throws {
        let (folder, origin) = (try TemporaryFolder(), try Self.origin())
        let pintle = try Self.proxy(folder, "miss: record")
        func ask(_ path: String) throws -> (String?, String) {
            let answer = try Curl.run(proxy: pintle.port, ["-d", "x", "http://127.0.0.1:\(origin.port)\(path)"])
            return (answer["Pintle-Simulated"], answer.text)
        }
        let first = try ask("/a")
        #expect(first.0 == nil)
        try Patience.wait(for: "the recording to be written") {
            (try? Self.files(folder).contains("0001-POST-a.json")) == true
        }
        let second = try ask("/a")
        #expect(second.0 == "recording" && second.1 == first.1)
        #expect(try ask("/b").0 == nil)
        #expect(origin.requests.count == 2)
    }

    // MARK: Comparison

    @Test func `a comparison asks the origin, and tells what differs`() throws {
        let (folder, answer) = (try TemporaryFolder(), Watched(#"{"a":1,"b":[1,2]}"#))
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                connection.stream.forgetTaken()
                try connection.send(response(answer.current, fields: "Content-Type: application/json\r\n"))
            }
        }
        let recorder = try Self.proxy(folder, "mode: record")
        #expect(try Curl.run(proxy: recorder.port, "http://127.0.0.1:\(origin.port)/a").status == 200)
        #expect(try recorder.stop() == 0)
        let pintle = try Self.proxy(folder, "mode: compare")
        for (text, expected) in [
            (#"{"b":[1,2],"a":1.0}"#, nil),
            (#"{"a":1,"b":[1,3]}"#, "the body differs from its recording: /b/1 is 3 here and 2 there"),
        ] {
            answer.change { $0 = text }
            let live = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/a")
            #expect(live.text == text && live["Pintle-Simulated"] == nil, "\(live)")
            let line = try #require(try pintle.waitForExchanges(expected == nil ? 1 : 2).last)
            #expect(line["violations"] as? [String] == expected.map { _ in ["recording-differs"] }, "\(line)")
            #expect(line["error"] as? String == expected, "\(line)")
        }
    }

    // MARK: Contracts

    @Test func `a recording is judged when it is made and when it is played, and by lint`() throws {
        let folder = try TemporaryFolder()
        let origin = try RawOrigin(answering: response("text", fields: "Content-Type: text/plain\r\n"))
        let rules = "response: {content_types: [application/json], on_violation: report}"
        let recorder = try Self.proxy(folder, "mode: record", route: rules)
        let url = "http://127.0.0.1:\(origin.port)/a"
        #expect(try Curl.run(proxy: recorder.port, url).status == 200)
        #expect(try recorder.stop() == 0)
        let text = try String(contentsOfFile: "\(folder.path)/recordings/t/0001-GET-a.json", encoding: .utf8)
        #expect(text.contains("\"violations\": [\n    \"response-content-type\"\n  ]"), "\(text)")
        let player = try Self.proxy(
            folder, "mode: replay", route: "response: {content_types: [application/json]}")
        let answer = try Curl.run(proxy: player.port, url)
        #expect(answer.status == 502 && answer.problem == "response-content-type", "\(answer)")
        let lint = try PintleProcess.run(
            ["tapes", "lint", "\(folder.path)/recordings/t", "-c", "\(folder.path)/pintle.yaml"])
        #expect(
            lint.exitCode == 1 && lint.output.contains { $0.hasPrefix("0001-GET-a.json: contract:") }, "\(lint.lines)")
    }

    // MARK: Damage

    @Test func `two processes record into one folder, and nothing is lost`() throws {
        let (folder, origin) = (try TemporaryFolder(), try Self.origin())
        let pintles = try (0..<2).map { _ in try Self.proxy(folder, "mode: record") }
        let clients = try pintles.map { try $0.connect() }
        for number in 0..<20 {
            for (index, client) in clients.enumerated() {
                try client.send(get(origin.port, "/\(index)/\(number)"))
            }
            for client in clients {
                #expect(try client.readResponse().head.status == 200)
                client.forgetTaken()
            }
        }
        for pintle in pintles { #expect(try pintle.stop() == 0) }
        let list = try PintleProcess.run(["tapes", "list", "--format", "json", "\(folder.path)/recordings/t"])
        let entries = try #require(
            JSONSerialization.jsonObject(with: Data(list.output.joined(separator: "\n").utf8)) as? [JSONObject])
        #expect(Set(entries.map { $0.text("url") }).count == 40 && entries.count == 40, "\(list.lines)")
        #expect(Set(entries.map { $0.text("file").prefix(4) }).count == 40)
    }

    @Test func `a disk that fills costs recordings, and no exchange`() throws {
        let (folder, disk) = (try TemporaryFolder(), try TemporaryFolder())
        let origin = try RawOrigin(answering: response(String(repeating: "x", count: 400_000)))
        let mount = "mount -t tmpfs -o size=2m tmpfs \"$0\" && exec \"$@\""
        let pintle = try PintleProcess(
            "recordings: {path: \"\(disk.path)\"}\nroutes: [{name: all, replay: {mode: record, tape: t}}]",
            folder: folder,
            by: ["/usr/bin/unshare", "-Urm", "/bin/sh", "-c", mount, disk.path])
        for number in 0..<10 {
            let answer = try pintle.ask(get(origin.port, "/\(number)"))
            #expect(answer.head.status == 200 && answer.text.utf8.count == 400_000)
        }
        let lost = try pintle.waitForMessages("a recording is lost", 1)
        #expect("\(lost)".contains("no space left on the device"), "\(lost)")
        // All are written, or lost, by now or soon.
        try Patience.wait(for: "lost recordings") { try pintle.counters()["recordings_lost"] as? Int ?? 0 > 0 }
        // The folder has the complete recordings, and nothing else.
        let view = "/proc/\(pintle.process.pid)/root\(disk.path)/t"
        let names = try FileManager.default.contentsOfDirectory(atPath: view)
        let documents = names.filter { $0.hasSuffix(".json") }
        #expect(!documents.isEmpty && documents.count * 2 == names.count, "\(names)")
    }

    @Test func `a body over the limit is noted without it`() throws {
        let (folder, origin) = (
            try TemporaryFolder(), try RawOrigin(answering: response(String(repeating: "x", count: 5000)))
        )
        let recorder = try Self.proxy(folder, "mode: record", more: "recordings: {bodies: 4KiB}")
        let url = "http://127.0.0.1:\(origin.port)/a"
        #expect(try Curl.run(proxy: recorder.port, url).body.count == 5000)
        // The operator learns of it now, and not from the first miss.
        let told = try #require(try recorder.waitForMessages("a recording is incomplete").first)
        #expect(
            told.text("reason") == "GET \(url): a body is longer than recordings.bodies, 4096 bytes", "\(told)")
        #expect(try recorder.stop() == 0)
        #expect(try Self.files(folder) == ["0001-GET-a.json"])
        let player = try Self.proxy(folder, "mode: replay", more: "recordings: {bodies: 4KiB}")
        let answer = try Curl.run(proxy: player.port, url)
        #expect(answer.problem == "recording-missing", "\(answer)")
        #expect(
            (answer.json["detail"] as? String)?.contains("longer than recordings.bodies, 4096 bytes") == true,
            "\(answer)")
    }

    @Test(arguments: [["--data", "a=1"], ["--data", "a=1", "-H", "Transfer-Encoding: chunked"]])
    func `a recording without its long answer is still found by the body of its request`(post: [String]) throws {
        let (folder, origin) = (
            try TemporaryFolder(), try RawOrigin(answering: response(String(repeating: "x", count: 5000)))
        )
        let recorder = try Self.proxy(folder, "mode: record", more: "recordings: {bodies: 4KiB}")
        let url = "http://127.0.0.1:\(origin.port)/a"
        #expect(try Curl.run(proxy: recorder.port, post + [url]).body.count == 5000)
        #expect(try recorder.stop() == 0)
        let player = try Self.proxy(folder, "mode: replay", more: "recordings: {bodies: 4KiB}")
        let same = try Curl.run(proxy: player.port, post + [url])
        #expect(
            (same.json["detail"] as? String)?.contains(
                "the recording 0001-POST-a.json has no body: a body is longer than recordings.bodies, 4096 bytes;")
                == true, "\(same)")
        let other = try Curl.run(proxy: player.port, "--data", "a=2", url)
        #expect(
            (other.json["detail"] as? String)?.contains("0001-POST-a.json differs only in its body: it has 3 bytes")
                == true, "\(other)")
    }

    @Test func `an answer that breaks off is not recorded`() throws {
        let folder = try TemporaryFolder()
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        }
        let recorder = try Self.proxy(folder, "mode: record")
        #expect(try Curl.run(proxy: recorder.port, "http://127.0.0.1:\(origin.port)/a").exitCode != 0)
        #expect(try recorder.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/recordings/t"))
    }

    // MARK: Dates and coding

    @Test func `dates and the expiry of cookies are moved to now`() throws {
        let folder = try TemporaryFolder()
        let fields =
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nExpires: Sun, 06 Nov 1994 09:49:37 GMT\r\n"
            + "Set-Cookie: a=b; Expires=Mon, 07 Nov 1994 08:49:37 GMT\r\n"
        let origin = try RawOrigin(answering: response("x", fields: fields))
        let url = "http://127.0.0.1:\(origin.port)/a"
        let recorder = try Self.proxy(folder, "mode: record")
        #expect(try Curl.run(proxy: recorder.port, url).status == 200)
        #expect(try recorder.stop() == 0)
        let file = "\(folder.path)/recordings/t/0001-GET-a.json"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let recorded = try #require(text.range(of: #""recorded": "[^"]*""#, options: .regularExpression))
        // One day ago, as it were.
        let moved = text.replacingCharacters(in: recorded, with: "\"recorded\": \"1994-11-06T08:49:37Z\"")
        try moved.write(toFile: file, atomically: true, encoding: .utf8)
        let player = try Self.proxy(folder, "mode: replay, refresh: on")
        let before = Date()
        let answer = try Curl.run(proxy: player.port, url)
        let dates = try ["Date", "Expires"].map { try #require(answer[$0].flatMap(Self.date)) }
        #expect(dates[0] >= before.addingTimeInterval(-2) && dates[1].timeIntervalSince(dates[0]) == 3600, "\(answer)")
        let expiry = try #require(answer["Set-Cookie"]?.components(separatedBy: "Expires=").last.flatMap(Self.date))
        #expect(expiry.timeIntervalSince(dates[0]) == 86_400, "\(answer)")
    }

    private static func date(_ text: String) -> Date? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return formatter.date(from: text)
    }

    @Test func `content codings are removed, so that a recording can be read`() throws {
        let folder = try TemporaryFolder()
        let packed = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJVyjPL8pJAQCFEUoNCwAAAA=="))
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.stream.send(
                Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n".utf8)
                    + packed)
        }
        let url = "http://127.0.0.1:\(origin.port)/a"
        let recorder = try Self.proxy(folder, "mode: record")
        #expect(try Curl.run(proxy: recorder.port, ["--compressed", url]).text == "hello world")
        #expect(try recorder.stop() == 0)
        #expect(
            try String(contentsOfFile: "\(folder.path)/recordings/t/0001-GET-a.response.txt", encoding: .utf8)
                == "hello world")
        let player = try Self.proxy(folder, "mode: replay")
        let answer = try Curl.run(proxy: player.port, ["--compressed", url])
        #expect(answer.text == "hello world" && answer["Content-Encoding"] == nil && answer["Content-Length"] == "11")
    }
}
