// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleTesting
import Testing

/// The cases of web-platform-tests (eventsource/format-*), and those that limits bring.
struct ServerSentEventsTests {
    private func events(_ text: String, id: String = "", limit: Int = 10_000) -> StreamedItems<ServerSentEvent> {
        .of(bytes(text)) { ServerSentEvents(limit: limit, lastEventID: id) }
    }

    private func data(_ text: String) -> [String] { self.events(text).items.map(\.data) }

    // MARK: Lines

    @Test func `a byte order mark is taken off once`() {
        #expect(self.data("\u{FEFF}data:1\n\ndata:2\n\n") == ["1", "2"])
        #expect(self.data("\u{FEFF}\u{FEFF}data:1\n\ndata:2\n\n") == ["2"])
        #expect(self.data("data:1\n\n\u{FEFF}data:2\n\ndata:3\n\n") == ["1", "3"])
    }

    @Test func `lines end in three ways, also where they are cut`() {
        #expect(self.data("data:test\r\ndata\ndata:test\r\n\r") == ["test\n\ntest"])
        #expect(self.data("data:1\r\rdata:2\n\ndata:3\r\n\r\n") == ["1", "2", "3"])
        #expect(self.data("data:1\r\n\rdata:2\r\ndata:3\n\n") == ["1", "2\n3"])
    }

    @Test func `comments are passed over, however long`() {
        let long = String(repeating: "x", count: 2_000)
        let text = "data:1\r:\u{0}\n:\r\ndata:2\n:\(long)\rdata:3\n:data:fail\r:\(long)\ndata:4\n\n"
        let found = StreamedItems(ServerSentEvents(limit: 10_000), [bytes(text)[...]])
        #expect(found.items.map(\.data) == ["1\n2\n3\n4"])
        #expect(self.data(":\n:\n\n:x\n\ndata:1\n\n") == ["1"])
    }

    @Test func `an event that has no empty line behind it is none`() {
        #expect(self.data("data:1\n\ndata:2") == ["1"])
        #expect(self.data("data:1\n\ndata:2\n") == ["1"])
        #expect(self.data("data:1\n\ndata:2\r\n") == ["1"])
        #expect(self.data("data:1\n\ndata:2\r\n\r") == ["1", "2"])
        #expect(self.data("") == [])
    }

    // MARK: Fields

    @Test func `names of fields are exact`() {
        let text =
            "data:\u{0}\ndata:  2\rData:1\ndata\u{0}:2\ndata:1\r\u{0}data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n"
            + " data:32\ndata:4\n\n"
        #expect(self.data(text) == ["\u{0}\n 2\n1\n3\n\n4"])
        #expect(self.data("data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\n\n") == ["test\n"])
    }

    @Test func `data without a value are an empty line`() {
        #expect(self.data("data:\n\ndata\ndata\n\ndata:test\n\n") == ["", "\n", "test"])
        #expect(self.data("data:\ttest\rdata: \ndata:test\n\n") == ["\ttest\n\ntest"])
        #expect(self.data("\n\n\n") == [] && self.data("event:a\n\nid:1\n\n") == [])
    }

    @Test func `the type is a message, or named anew for each event`() {
        let found = self.events("event:test\ndata:x\n\ndata:y\n\nevent: \ndata:z\n\nevent:a\nevent: b\ndata:\n\n")
        #expect(found.items.map(\.event) == ["test", "message", "message", "b"])
        let lost = self.events("event:test\n\ndata:x\n\n")
        #expect(lost.items == [ServerSentEvent(data: "x")])
    }

    @Test func `bytes that are not UTF-8 are replaced`() {
        let text = bytes("data:ok…\ndata:") + [0xC3, 0x0A] + bytes("data:") + [0xE2, 0x82] + bytes("x\n\n")
        let found = StreamedItems.of(text) { ServerSentEvents(limit: 100) }
        #expect(found.items.map(\.data) == ["ok…\n\u{FFFD}\n\u{FFFD}x"])
    }

    // MARK: The ID

    @Test func `an ID holds until there is another, or an empty one`() {
        let ids = { (text: String) in self.events(text).items.map(\.id) }
        #expect(ids("id: 1\ndata:1\n\ndata:2\n\nid:2\ndata:3\n\ndata:4\n\n") == ["1", "1", "2", "2"])
        #expect(ids("id:1\ndata:1\n\nid:\ndata:2\n\ndata:3\n\n") == ["1", "", ""])
        #expect(ids("id:1\ndata:1\n\nid\ndata:2\n\ndata:3\n\n") == ["1", "", ""])
        #expect(ids("id:1\nid:…\ndata:1\n\n") == ["…"])
    }

    @Test(arguments: ["\u{0}\u{0}", "x\u{0}", "\u{0}x", "x\u{0}x", " \u{0}"])
    func `an ID with a zero byte does not count`(id: String) {
        #expect(self.events("id:\(id)\ndata:hello\n\n").items == [ServerSentEvent(data: "hello")])
        #expect(self.events("id:1\nid:\(id)\ndata:hello\n\n").items.map(\.id) == ["1"])
    }

    @Test func `the ID for the next connection is that of the last complete event`() {
        func lastID(_ text: String, after id: String = "") -> String {
            var parser = LineParser(ServerSentEvents(limit: 100, lastEventID: id))
            bytes(text).withUnsafeBytes { text in
                var rest = text[...]
                while !rest.isEmpty, let taken = try? parser.take(UnsafeRawBufferPointer(rebasing: rest)).taken {
                    rest = rest.dropFirst(taken)
                }
            }
            return parser.consumer.lastEventID
        }
        #expect(lastID("retry:1000\ndata:test1\n\nid:test\ndata:test2") == "")
        #expect(lastID("id:1\ndata:1\n\nid:2\ndata:2\n") == "1")
        #expect(lastID("id:1\ndata:1\n\nid:2\n\n") == "2", "also without data")
        #expect(lastID("data:1\n\n", after: "0") == "0")
        #expect(self.events("data:1\n\nid:7\ndata:2\n\n", id: "0").items.map(\.id) == ["0", "7"])
    }

    // MARK: The time

    @Test(arguments: [
        ("retry:1000", 1_000), ("retry: 0", 0), ("retry:0030", 30), ("retry:3000\nretry:1000x", 3_000),
        ("retry:1000\nretry", 1_000), ("retry:1000\nretry:", 1_000), ("retry:7\nretry:-1", 7), ("retry:7\nretry:+1", 7),
        ("retry:7\nretry:1 ", 7), ("retry:7\nretry:１", 7), ("retry:7\nRetry:8", 7),
        ("retry:9223372036854775807", Int64.max), ("retry:99999999999999999999999", Int64.max),
    ])
    func `the time to wait is a number of milliseconds`(fields: String, milliseconds: Int64) {
        let event = ServerSentEvent(data: "x", retry: .milliseconds(milliseconds))
        #expect(self.events("\(fields)\ndata:x\n\n").items == [event])
    }

    @Test func `an event has the time that came with it`() {
        let found = self.events("retry:5\n\ndata:1\n\nretry:6\ndata:2\n\ndata:3\n\n")
        #expect(found.items.map(\.retry) == [nil, .milliseconds(6), nil])
    }

    // MARK: Limits

    @Test func `an event of the limit is taken, and a longer one is an error`() {
        #expect(self.events("data:1\ndata:2345\ndata:\n\n", limit: 9).error == nil)
        let long = self.events("data:x\n\ndata:1\ndata:2345\ndata:6\ndata:78\n\n", limit: 9)
        #expect(long.items.count == 1)
        #expect(long.error == TextStreamError(.tooLong, line: 6, "an event of more than 9 bytes"))
        #expect(self.events("id:123\nevent:123\ndata:123\n\n", limit: 9).error == nil)
        #expect(self.events("id:1234\nevent:123\ndata:123\n\n", limit: 9).error?.line == 3)
        #expect(self.events("id:12345\ndata:1234\n\ndata:1234\ndata:5678\n\n", limit: 9).items.count == 2)
        let line = self.events("data:12345\n\n", limit: 9)
        #expect(line.error == TextStreamError(.tooLong, line: 1, "more than 9 bytes"))
        #expect(self.events(":23456789\n:234567890\n", limit: 9).error?.line == 2)
    }

    @Test func `random streams are the same however they are cut`() throws {
        var random = SeededGenerator(seed: 5)
        let tokens = [
            "data", "data:", "data: x", "event:e", "id", "id:1", "id:\u{0}", "retry:10", "retry:x", ":", " ", "\n",
            "\n\n", "\r", "\r\n", "\u{FEFF}", "é",
        ]
        for _ in 0..<3_000 {
            let count = Int.random(in: 0...20, using: &random)
            let text = bytes((0..<count).map { _ in tokens.randomElement(using: &random) ?? "" }.joined())
            let make = { ServerSentEvents(limit: 12) }
            let pieces = Cuts.random(text, &random)
            try #require(StreamedItems(make(), pieces) == StreamedItems(make(), [text[...]]), "\(text) in \(pieces)")
        }
    }
}
