// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleActivity
import PintleMessage
import PintleSerialization
import PintleSystem
import PintleTape
import Testing

/// A folder that is removed with the value.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/pintle-tape-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw SystemError.last }
        self.path = String(cString: made)
    }

    deinit { FileWriting.remove(self.path) }

    func names() -> [String] { FolderListing.names(in: self.path, most: 10_000).sorted() }

    func text(_ name: String) -> String { FileBytes.text("\(self.path)/\(name)") }

    func write(_ name: String, _ text: String) throws {
        try FileWriting.replace("\(self.path)/\(name)", with: Array(text.utf8))
    }
}

extension Recording {
    init(
        _ method: String = "GET", _ path: String, body: String = "", type: String? = nil, answer: String = "ok",
        fields: [(String, String)] = [], at time: Int64 = 1_700_000_000
    ) {
        var request = TapeRequest(method: method, url: "http://a.example\(path)", body: Array(body.utf8))
        if let type { request.fields.append("Content-Type", type) }
        for (name, value) in fields { request.fields.append(name, value) }
        var head = ResponseHead(status: 200, reason: "OK")
        head.fields.append("Content-Type", "text/plain")
        self.init(
            time: Timestamp(milliseconds: time * 1000), request: request,
            response: TapeResponse(head: head, body: Array(answer.utf8)), headTime: 3, endTime: 5)
    }
}

@Suite struct `A tape` {
    private static func tape(
        _ folder: TemporaryFolder, order: TapeOrder = .sequence, _ change: (inout MatchRules) throws -> Void = { _ in }
    ) throws -> Tape {
        var settings = Tape.Settings(path: folder.path)
        settings.order = order
        try change(&settings.match)
        return Tape(settings)
    }

    private static func answer(_ tape: Tape, _ recording: Recording) throws -> String {
        String(decoding: try tape.find(recording.request).response.body, as: UTF8.self)
    }

    private static func miss(_ tape: Tape, _ recording: Recording) throws -> TapeMiss {
        try #require(throws: TapeMiss.self) { try tape.find(recording.request) }
    }

    @Test func `a recording is read back as it was written`() throws {
        let folder = try TemporaryFolder()
        var recording = Recording("POST", "/users/17?a=b", body: "{\"name\":\"Ada\"}", type: "application/json")
        recording.response.head.status = 101
        recording.response.trailers.append("grpc-status", "0")
        recording.response.pieces = [.init(time: 4, end: 1), .init(time: 9, end: 2)]
        recording.response.messages = [
            TapeMessage(time: 1, isFromClient: true, kind: .text, bytes: Array("hé".utf8)),
            TapeMessage(time: 2, isFromClient: false, kind: .binary, bytes: [0, 1, 255]),
        ]
        recording.violations = ["response-body"]
        #expect(try Self.tape(folder).add(recording) == "0001-POST-users-17.json")
        #expect(
            folder.names() == [
                "0001-POST-users-17.json", "0001-POST-users-17.messages.jsonl", "0001-POST-users-17.request.json",
                "0001-POST-users-17.response.txt",
            ])
        #expect(try Self.tape(folder).find(recording.request) == recording)
        #expect(
            folder.text("0001-POST-users-17.json").hasPrefix(
                """
                {
                  "tape": 1,
                  "recorded": "2023-11-14T22:13:20.000Z",
                  "request": {
                    "method": "POST",
                    "url": "http://a.example/users/17?a=b",
                    "fields": [
                      "Content-Type: application/json"
                    ],

                """))
    }

    @Test func `recordings of one request are played in their order, and the last one again`() throws {
        let folder = try TemporaryFolder()
        let writer = try Self.tape(folder)
        for answer in ["one", "two", "three"] { try writer.add(Recording("GET", "/a", answer: answer)) }
        let sequence = try Self.tape(folder)
        #expect(
            try (0..<5).map { _ in try Self.answer(sequence, Recording("GET", "/a")) } == [
                "one", "two", "three", "three", "three",
            ])
        let first = try Self.tape(folder, order: .first)
        #expect(try (0..<2).map { _ in try Self.answer(first, Recording("GET", "/a")) } == ["one", "one"])
    }

    @Test(arguments: [
        ("application/json", #"{"a": 1, "b": [true, 2.0]}"#, #"{"b":[true,2],"a":1.0}"#),
        ("application/x-www-form-urlencoded", "a=%41+b&c", "a=A%20b&c"),
        ("multipart/form-data; boundary=x", "--x\r\n\r\n1\r\n--x--\r\n", "--other\r\n\r\n1\r\n--other--\r\n"),
    ])
    func `bodies that mean the same match`(type: String, recorded: String, asked: String) throws {
        let folder = try TemporaryFolder()
        try Self.tape(folder).add(Recording("POST", "/a", body: recorded, type: type))
        #expect(try Self.answer(try Self.tape(folder), Recording("POST", "/a", body: asked, type: type)) == "ok")
    }

    @Test func `ignored parts do not matter, and fields that are named do`() throws {
        let folder = try TemporaryFolder()
        let json = "application/json"
        try Self.tape(folder).add(
            Recording(
                "POST", "/a?ts=1&q=2&p=3", body: #"{"meta":{"now":1},"x":[1,2]}"#, type: json, fields: [("Accept", "a")]
            ))
        let tape = try Self.tape(folder) { match in
            match.ignoredQuery = ["ts"]
            match.ignoredJSON = try ["/meta/now", "/x/1"].map { try RedactionRule.segments($0) }
            match.fields = ["accept"]
        }
        let body = #"{"meta":{"now":2},"x":[1,3]}"#
        #expect(
            try Self.answer(
                tape, Recording("POST", "/a?p=3&ts=9&q=2", body: body, type: json, fields: [("Accept", "a")])) == "ok")
        let miss = try Self.miss(
            tape, Recording("POST", "/a?p=3&q=2", body: body, type: json, fields: [("Accept", "b")]))
        #expect(
            miss.description
                == "\(folder.path) has no recording of POST http://a.example/a?p=3&q=2 among its 1; 0001-POST-a.json differs only in a field: accept: b here, accept: a there"
        )
    }

    @Test(arguments: [
        ("PUT", "/a", #"{"n":1,"m":[{"x":"y"}]}"#, "its method, POST"),
        ("POST", "/b", #"{"n":1,"m":[{"x":"y"}]}"#, "its URL, http://a.example/a"),
        ("POST", "/a", #"{"n":2,"m":[{"x":"y"}]}"#, "its body: /n is 2 here and 1 there"),
        ("POST", "/a", #"{"n":1,"m":[{"x":"z"}]}"#, #"its body: /m/0/x is "z" here and "y" there"#),
        ("POST", "/a", #"{"n":1}"#, "its body: /m is only there"),
        ("POST", "/a", #"{"n":1,"m":[]}"#, "its body: /m has 0 elements here and 1 there"),
        ("POST", "/a", "plain", "its body: it has 5 bytes here and 23 there, which differ from byte 0"),
    ])
    func `a miss says in which part the only near recording differs`(
        method: String, path: String, body: String, expected: String
    ) throws {
        let folder = try TemporaryFolder()
        let json = "application/json"
        try Self.tape(folder).add(Recording("POST", "/a", body: #"{"n":1,"m":[{"x":"y"}]}"#, type: json))
        let miss = try Self.miss(try Self.tape(folder), Recording(method, path, body: body, type: json))
        #expect(miss.kind == .unknown)
        #expect(miss.description.hasSuffix("; 0001-POST-a.json differs only in \(expected)"), "\(miss)")
    }

    @Test func `a miss with two near recordings names none`() throws {
        let folder = try TemporaryFolder()
        for path in ["/a", "/b"] { try Self.tape(folder).add(Recording("GET", path)) }
        #expect(
            try Self.miss(try Self.tape(folder), Recording("GET", "/c")).description
                == "\(folder.path) has no recording of GET http://a.example/c among its 2")
    }

    @Test func `secrets are not on the disk, and requests with other ones match`() throws {
        let folder = try TemporaryFolder()
        var planted = PlantedSecrets(seed: 3)
        let tape = try Self.tape(folder)
        var secrets: [String] = []
        for (number, (_, secret)) in planted.all().enumerated() {
            let body = "{\"note\":\"\(secret)\"}"
            secrets.append(secret)
            try tape.add(
                Recording(
                    "POST", "/\(number)/\(secret)?q=\(secret)", body: body, type: "application/json",
                    answer: "got \(secret)",
                    fields: [("Authorization", "Bearer \(secret)"), ("X-Note", secret)]))
        }
        for name in folder.names() {
            let text = folder.text(name) + name
            for secret in secrets { #expect(!text.contains(secret), "\(name)") }
        }
        let player = try Self.tape(folder)
        for (number, (_, secret)) in planted.all().enumerated() {
            let body = "{\"note\":\"\(secret)\"}"
            #expect(
                try Self.answer(
                    player,
                    Recording(
                        "POST", "/\(number)/\(secret)?q=\(secret)", body: body, type: "application/json",
                        fields: [("Authorization", "Bearer \(secret)")])) == "got ***")
        }
        #expect(try Self.lint(folder).isEmpty)
    }

    // MARK: Damage

    private static func lint(_ folder: TemporaryFolder, olderThan oldest: Int64? = nil) throws -> [TapeFinding] {
        var content = try TapeContent(path: folder.path)
        content.lint(olderThan: oldest.map { Timestamp(milliseconds: $0 * 1000) })
        return content.findings
    }

    @Test func `files that were cut, changed or lost are told, and never played`() throws {
        let folder = try TemporaryFolder()
        for path in ["/cut", "/changed", "/lost", "/garbage", "/whole"] {
            try Self.tape(folder).add(Recording("GET", path, answer: "answer"))
        }
        try folder.write("0001-GET-cut.response.txt", "ans")
        try folder.write("0002-GET-changed.response.txt", "ANSWER")
        FileWriting.remove("\(folder.path)/0003-GET-lost.response.txt")
        try folder.write("0004-GET-garbage.json", "{\"tape\": 1, \"reco")
        try folder.write("0006-GET-orphan.response.txt", "x")
        let tape = try Self.tape(folder)
        #expect(try Self.answer(tape, Recording("GET", "/whole")) == "answer")
        for path in ["/cut", "/changed", "/lost"] {
            #expect(try Self.miss(tape, Recording("GET", path)).kind == .unreadable)
        }
        #expect(
            try Self.miss(tape, Recording("GET", "/garbage")).description.hasSuffix(
                "; 1 files cannot be read, which `pintle tapes lint` tells"))
        let found = try Self.lint(folder).map {
            "\($0.file) \($0.kind): \($0.message.replacing(folder.path, with: "DIR"))"
        }
        let expected = [
            "0001-GET-cut.json broken: DIR: 0001-GET-cut.response.txt has 3 bytes instead of 6",
            "0002-GET-changed.json broken: DIR: 0002-GET-changed.response.txt was changed; remove \"size\" and \"crc32\" from the recording if that is meant",
            "0003-GET-lost.json broken: DIR/0003-GET-lost.response.txt: no such file or folder",
            "0004-GET-garbage.json broken: DIR/0004-GET-garbage.json: no JSON at line 1: expected a character or “\"”, control characters being escaped, found the end",
            "0004-GET-garbage.response.txt incomplete: no recording has this body; remove it",
            "0006-GET-orphan.response.txt incomplete: no recording has this body; remove it",
        ]
        #expect(found == expected)
    }

    /// With quadratic work this would take hours.
    @Test(.timeLimit(.minutes(15))) func `the first secrets of a long body are told, and the number of the others`()
        throws
    {
        let folder = try TemporaryFolder()
        try Self.tape(folder).add(Recording("GET", "/many", answer: "answer"))
        let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
        try folder.write(
            "0001-GET-many.response.txt", String(repeating: "token \(secret)\n", count: 100_000))
        try Self.removeSums(in: folder, of: "0001-GET-many.json")
        let found = try Self.lint(folder).map(\.message)
        #expect(found.count == 21)
        #expect(found.first?.hasSuffix(" in the body of the response, line 1") == true)
        #expect(found.dropLast().last?.hasSuffix(" in the body of the response, line 20") == true)
        #expect(found.last == "99980 more in the body of the response")
    }

    private static func removeSums(in folder: TemporaryFolder, of name: String = "0001-GET-a.json") throws {
        let lines = folder.text(name).split(separator: "\n")
        let kept = lines.filter { !$0.contains("\"size\"") && !$0.contains("\"crc32\"") }.joined(separator: "\n")
        try folder.write(name, kept.replacing(".txt\",", with: ".txt\""))
    }

    @Test(arguments: [
        ("\"tape\": 1", "\"tape\": 2", "no recording of this version: \"tape\" is not 1"),
        ("\"status\": 200", "\"status\": \"x\"", "\"status\" is not a whole number from 100 to 999"),
        ("\"0001-GET-a.response.txt\"", "\"../x\"", "\"body\" is not a file beside the recording"),
        ("Content-Type: text/plain", "Content-Type text/plain", "\"fields\" is not lines as \"Name: value\""),
    ])
    func `a document that is none is told with its place`(old: String, new: String, expected: String) throws {
        let folder = try TemporaryFolder()
        try Self.tape(folder).add(Recording("GET", "/a"))
        let text = folder.text("0001-GET-a.json")
        try folder.write("0001-GET-a.json", text.replacing(old, with: new))
        let findings = try Self.lint(folder)
        #expect(findings.first?.message == "\(folder.path)/0001-GET-a.json: \(expected)")
    }

    @Test func `a body that a person has changed is played without its sum`() throws {
        let folder = try TemporaryFolder()
        try Self.tape(folder).add(Recording("GET", "/a"))
        try folder.write("0001-GET-a.response.txt", "changed")
        try Self.removeSums(in: folder)
        #expect(try Self.answer(try Self.tape(folder), Recording("GET", "/a")) == "changed")
    }

    @Test func `a recording without its body is a miss that says so`() throws {
        let folder = try TemporaryFolder()
        var recording = Recording("GET", "/a", answer: "")
        recording.gap = "its response is longer than recordings.bodies, 10 bytes"
        try Self.tape(folder).add(recording)
        let miss = try Self.miss(try Self.tape(folder), recording)
        #expect(miss.kind == .incomplete)
        #expect(
            miss.description
                == "the recording 0001-GET-a.json has no body: its response is longer than recordings.bodies, 10 bytes")
    }

    @Test func `a folder that is not there is a miss that names it`() throws {
        let miss = try Self.miss(Tape(.init(path: "/nonexistent/tape")), Recording("GET", "/a"))
        #expect(miss.kind == .unreadable)
        #expect(miss.description == "the tape cannot be read: /nonexistent/tape: no such file or folder")
    }

    @Test func `lint tells secrets that were left, and age`() throws {
        let folder = try TemporaryFolder()
        try Self.tape(folder).add(Recording("GET", "/a", answer: "answer"))
        try folder.write("0001-GET-a.response.txt", "AKIAIOSFODNN7EXAMPLE")
        try Self.removeSums(in: folder)
        #expect(
            try Self.lint(folder, olderThan: 1_800_000_000).map { "\($0.kind): \($0.message)" } == [
                "age: recorded at 2023-11-14T22:13:20.000Z; record it anew",
                "secret: AWS access key in the body of the response, line 1",
            ])
    }

    @Test func `writers of one folder number their recordings apart`() async throws {
        let folder = try TemporaryFolder()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                // Each opens the folder for itself, as processes do.
                let path = folder.path
                group.addTask {
                    let tape = Tape(.init(path: path))
                    for number in 0..<25 { try tape.add(Recording("GET", "/\(writer)/\(number)")) }
                }
            }
            try await group.waitForAll()
        }
        let numbers = folder.names().filter { $0.hasSuffix(".json") }.compactMap { Int($0.prefix(4)) }
        #expect(numbers == Array(1...100))
        #expect(try Self.lint(folder).isEmpty)
    }

    // MARK: Archives

    @Test func `recordings go into an archive and are played from it`() throws {
        let folder = try TemporaryFolder()
        let recordings = [
            Recording("POST", "/a?x=1", body: "{\"a\":1}", type: "application/json", answer: "one"),
            Recording("GET", "/b", answer: "\u{e9}"),
        ]
        try folder.write("x.har", TapeArchive.document(recordings, version: "1").jsonText)
        let tape = Tape(.init(path: "\(folder.path)/x.har"))
        #expect(try recordings.map { try Self.answer(tape, $0) } == ["one", "\u{e9}"])
        let error = #expect(throws: TapeError.self) { try tape.add(recordings[0]) }
        #expect(error?.reason == "an archive is only played; give a folder as tape")
    }

    @Test func `an archive that was cut is told with its line`() throws {
        let folder = try TemporaryFolder()
        let text = TapeArchive.document([Recording("GET", "/a")], version: "1").jsonText
        try folder.write("x.har", String(text.prefix(text.count / 2)))
        let miss = try Self.miss(Tape(.init(path: "\(folder.path)/x.har")), Recording("GET", "/a"))
        #expect(miss.description.contains("the file ends within the archive"))
    }

    // MARK: Comparison and dates

    @Test func `differences are those of status, type and normal form`() throws {
        let recorded = Recording("GET", "/a", answer: #"{"a":1,"b":2}"#)
        var response = recorded.response
        response.body = Array(#"{"b":2,"a":1}"#.utf8)
        let tape = Tape(.init(path: "/nonexistent"))
        #expect(tape.differences(recorded, from: response, to: recorded.request).isEmpty)
        response.head.status = 201
        response.head.fields.set("Content-Type", "application/json")
        response.body = Array(#"{"b":2,"a":5}"#.utf8)
        #expect(
            tape.differences(recorded, from: response, to: recorded.request) == [
                "the status is 201, and was 200", "the media type is application/json, and was text/plain",
                "the body differs from its recording: /a is 5 here and 1 there",
            ])
    }

    @Test func `dates are moved, and other values stay`() {
        var fields = Fields()
        fields.append("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
        fields.append("Expires", "0")
        fields.append("Set-Cookie", "a=b; Expires=Sun, 06-Nov-1994 08:49:37 GMT; Path=/")
        fields.append("X-Date", "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(
            fields.refreshed(by: 86_400).pairs.map(\.value) == [
                "Mon, 07 Nov 1994 08:49:37 GMT", "0", "a=b; Expires=Mon, 07 Nov 1994 08:49:37 GMT; Path=/",
                "Sun, 06 Nov 1994 08:49:37 GMT",
            ])
    }
}
