// SPDX-License-Identifier: Apache-2.0

import PintleActivity
import PintleMessage
import PintleSerialization
import PintleTape
import Testing

@Suite struct `The status of a recording` {
    private static func ends(_ status: Int) -> String {
        "the status is \(status), which ends no exchange: give one from 200 to 999, or 101 with the messages of a WebSocket"
    }

    /// Edits the only recording of a tape, and returns what cannot be read then.
    private static func findings(_ folder: TemporaryFolder, _ old: String, _ new: String) throws -> [String] {
        let text = folder.text("0001-GET-a.json")
        #expect(text.contains(old))
        try folder.write("0001-GET-a.json", text.replacing(old, with: new))
        let content = try TapeContent(path: folder.path)
        #expect(content.recordings.isEmpty)
        return content.findings.filter { $0.kind == .broken }.map {
            "\($0.file): \($0.message.replacing(folder.path, with: "DIR"))"
        }
    }

    @Test(arguments: [100, 101, 103, 199])
    func `one for which clients wait is refused with its file`(status: Int) throws {
        let folder = try TemporaryFolder()
        try Tape(.init(path: folder.path)).add(Recording("GET", "/a"))
        #expect(
            try Self.findings(folder, "\"status\": 200", "\"status\": \(status)") == [
                "0001-GET-a.json: DIR/0001-GET-a.json: \(Self.ends(status))"
            ])
        let miss = try #require(throws: TapeMiss.self) {
            try Tape(.init(path: folder.path)).find(Recording("GET", "/a").request)
        }
        #expect(miss.description.hasSuffix("; 1 files cannot be read, which `pintle tapes lint` tells"), "\(miss)")
    }

    @Test(arguments: [102, 200, 404])
    func `messages of a WebSocket follow a 101 only`(status: Int) throws {
        let folder = try TemporaryFolder()
        try Tape(.init(path: folder.path)).add(Self.socket([]))
        #expect(
            try Self.findings(folder, "\"status\": 101", "\"status\": \(status)") == [
                "0001-GET-a.json: DIR/0001-GET-a.json: the status is \(status), but messages of a WebSocket follow a 101 only"
            ])
    }

    @Test func `a WebSocket without a message is one`() throws {
        let folder = try TemporaryFolder()
        let recording = Self.socket([])
        try Tape(.init(path: folder.path)).add(recording)
        #expect(try Tape(.init(path: folder.path)).find(recording.request) == recording)
    }

    @Test func `an archive's is refused with its line, and the rest is played`() throws {
        let folder = try TemporaryFolder()
        var broken = Recording("GET", "/broken")
        broken.response.head.status = 101
        let document = TapeArchive.document([broken, Recording("GET", "/a")], version: "1")
        try folder.write("x.har", document.jsonText)
        let content = try TapeContent(path: "\(folder.path)/x.har")
        #expect(content.recordings.map(\.recording.request.url) == ["http://a.example/a"])
        #expect(
            content.findings.map(\.message.description) == ["1 entries cannot be read; line 10: \(Self.ends(101))"])
        #expect(
            try Tape(.init(path: "\(folder.path)/x.har")).find(Recording("GET", "/a").request).response.head.status
                == 200)
    }

    static func socket(_ messages: [TapeMessage], protocol name: String? = nil) -> Recording {
        var recording = Recording("GET", "/a", answer: "")
        recording.response.head = ResponseHead(status: 101, reason: "Switching Protocols")
        if let name { recording.response.head.fields.append("Sec-WebSocket-Protocol", name) }
        recording.response.messages = messages
        return recording
    }
}

/// The comparison of a WebSocket with its recording.
@Suite struct `Messages and their recording` {
    private typealias Said = `The status of a recording`

    /// Messages from words: `>` begins those of the client, `<` those of the server; the rest is a text, `#` bytes, or `close`.
    private static func messages(_ words: [String]) -> [TapeMessage] {
        words.map { word in
            let rest = word.dropFirst()
            let kind: TapeMessage.Kind = rest == "close" ? .close : rest.hasPrefix("#") ? .binary : .text
            return TapeMessage(
                time: 0, isFromClient: word.hasPrefix(">"), kind: kind,
                bytes: kind == .close ? [3, 232] : Array(rest.utf8))
        }
    }

    private static func differences(
        _ here: [String], _ there: [String], protocols: (here: String?, there: String?) = (nil, nil)
    ) throws -> [String] {
        var settings = Tape.Settings(path: "/none")
        settings.match.ignoredJSON = [["now"]]
        let recorded = Said.socket(Self.messages(there), protocol: protocols.there)
        let live = Said.socket(Self.messages(here), protocol: protocols.here)
        return Tape(settings).differences(recorded, from: live.response, to: live.request)
    }

    @Test(arguments: [
        (["<a", ">x", "<b", "<close"], ["<a", ">x", "<b", "<close"]),
        // JSON by its values, without those that do not matter.
        (["<{\"a\":1,\"now\":5}"], ["<{\"now\":6,\"a\":1.0}"]),
        // A client that leaves earlier, or later, than the recorded one.
        (["<a", ">close", "<close"], ["<a", ">x", "<b", "<close"]), (["<a", "<b"], ["<a"]),
        // The answer to something else.
        ([">x", "<a", "<b"], [">y", "<c", "<d"]), (["<a", ">x", "<b"], ["<a", ">y", "<c"]),
        // A message that came before another one of the client.
        (["<a", ">x", ">y", "<b"], ["<a", ">x", "<b", ">y"]), ([">x", "<a"], ["<a", ">x"]),
        (["<token ghp_abcdefghijklmnopqrstuvwxyz0123456789"], ["<token ***"]),
    ])
    func `the same is no difference`(here: [String], there: [String]) throws {
        #expect(try Self.differences(here, there) == [])
    }

    @Test(arguments: [
        (
            ["<a"], ["<b"],
            "message 1 of the server differs from its recording: it has 1 bytes here and 1 there, which differ from byte 0"
        ),
        (
            ["<a", "<#b"], ["<a", "<b"],
            "message 2 of the server differs from its recording: it is binary, and was a text"
        ),
        (
            ["<a", "<close"], ["<a", "<b"],
            "message 2 of the server differs from its recording: it is the close, and was a text"
        ),
        (
            [">x", "<{\"a\":1}"], [">x", "<{\"a\":2}"],
            "message 1 of the server differs from its recording: /a is 1 here and 2 there"
        ),
        // It came before the client has said something else.
        (
            ["<a", ">x"], ["<b", ">y"],
            "message 1 of the server differs from its recording: it has 1 bytes here and 1 there, which differ from byte 0"
        ),
    ])
    func `the first one that differs is told`(here: [String], there: [String], expected: String) throws {
        #expect(try Self.differences(here, there) == [expected])
    }

    @Test func `another subprotocol is a difference, and its messages are not compared`() throws {
        #expect(
            try Self.differences(["<a"], ["<b"], protocols: ("v2", nil)) == ["the subprotocol is v2, and was missing"])
    }
}
