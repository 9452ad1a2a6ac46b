// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSerialization
import Testing

struct JSONLinesTests {
    private struct Item: Codable, Sendable, Equatable {
        let id: Int
        let name: String?
    }

    private func items(_ text: [UInt8], limit: Int = 1_000) -> StreamedItems<Item> {
        .of(text) { JSONLines<Item>(limit: limit) }
    }

    @Test(arguments: [
        #"{"id":1,"name":"a"}"# + "\n" + #"{"id":2}"# + "\n",
        #"{"id":1,"name":"a"}"# + "\r\n\r\n \t\r\n" + #"{"id":2}"#,
        "\u{FEFF}" + #" {"id":1,"name":"a"} "# + "\n\n\n" + #"{"id" : 2 , "name":null}"# + "\n",
    ])
    func `each line is a value, and blank lines are none`(text: String) {
        #expect(self.items(bytes(text)).items == [Item(id: 1, name: "a"), Item(id: 2, name: nil)])
    }

    @Test func `a line may be any value, on its own`() {
        #expect(StreamedItems.of(bytes("1\n\n-2\n3")) { JSONLines<Int>(limit: 9) }.items == [1, -2, 3])
        #expect(StreamedItems.of(bytes("\"a\"\nnull\n")) { JSONLines<String?>(limit: 9) }.items == ["a", nil])
        #expect(StreamedItems.of(bytes("[1]\n[]")) { JSONLines<[Int]>(limit: 9) }.items == [[1], []])
    }

    @Test(arguments: [
        (#"{"id":1"#, "this is no JSON: column 8: expected “,” or “}”, found the end"),
        (#"{"id":1}}"#, "this is no JSON: column 9: expected the end, found “}”"),
        (#"{"id":"one"}"#, "the JSON is not what is expected: id: this is no Int"),
        (#"{"name":"x"}"#, "the JSON is not what is expected: there is no “id”"),
        ("{\"id\":1}\r{\"id\":2}", "this is no JSON: column 10: expected the end, found “{”"),
        ("[]", "the JSON is not what is expected: this is no Dictionary<String, Any>"),
    ])
    func `a line that is not such a value is an error with its number`(line: String, problem: String) {
        let found = self.items(bytes("{\"id\":1}\n\n\(line)\n{\"id\":3}\n"))
        #expect(found.items == [Item(id: 1, name: nil)])
        #expect(found.error == TextStreamError(.invalidJSON, line: 3, problem))
    }

    @Test func `a line that is too long, or of another encoding, is an error`() {
        let long = self.items(bytes("{\"id\":1}\n{\"id\":12345}\n"), limit: 8)
        #expect(long.items.count == 1 && long.error == TextStreamError(.tooLong, line: 2, "more than 8 bytes"))
        let wide = self.items([0x7B, 0, 0x7D, 0, 0x0A, 0])
        #expect(wide.error == TextStreamError(.notUTF8, line: 1, "the line is not UTF-8 without byte order mark"))
        #expect(self.items(bytes("{\"id\":1}\n\u{FEFF}{\"id\":2}")).error?.code == .notUTF8)
        #expect(self.items(bytes("{\"id\":1,\"name\":\"") + [0xFF] + bytes("\"}")).error?.code == .invalidJSON)
    }

    @Test func `the decoder is the caller's`() {
        let maker: @Sendable () -> JSONDecoder = {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            return decoder
        }
        let found = StreamedItems(JSONLines<Date>(limit: 20, decoder: maker), [bytes("86400\n")[...]])
        #expect(found.items == [Date(timeIntervalSince1970: 86_400)])
    }
}
