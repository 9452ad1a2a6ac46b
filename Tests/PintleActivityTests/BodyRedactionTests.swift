// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintleActivity

struct BodyRedactionTests {
    private func masked(_ text: String, _ type: String? = nil, secrets: [String] = []) -> String {
        let masked = BodyRedaction(secrets: secrets).masked(Array(text.utf8), type: type)
        return String(decoding: masked.bytes, as: UTF8.self)
    }

    @Test(
        arguments: [
            (#"{"password": "x", "name": "Ada"}"#, #"{"password": "***", "name": "Ada"}"#),
            (#"{"access_token":"a.b.c","n":1}"#, #"{"access_token":"***","n":1}"#),
            (#"[{"Client-Secret" : 12345}, 7]"#, #"[{"Client-Secret" : "***"}, 7]"#),
            (#"{"credentials": {"a": [1, "}"], "b": 2}, "c": 3}"#, #"{"credentials": "***", "c": 3}"#),
            (#"{"token": "with \" and \\", "c": 3}"#, #"{"token": "***", "c": 3}"#),
            (#"{"apiKey": null, "monkey": "banana"}"#, #"{"apiKey": "***", "monkey": "banana"}"#),
            (#"{"note": "password: \"x\""}"#, #"{"note": "password: \"x\""}"#),
            // Cut off at every kind of place.
            (#"{"a": 1, "password": "hal"#, #"{"a": 1, "password": "***""#),
            (#"{"a": 1, "password": {"b"#, #"{"a": 1, "password": "***""#),
            (#"{"a": 1, "password""#, #"{"a": 1, "password""#),
            (#"{"a": 1, "password": "#, #"{"a": 1, "password": "#),
            (#"{"a": 1, "passw"#, #"{"a": 1, "passw"#),
            // One document on each line.
            ("{\"token\": 1}\n{\"token\": 2}\n", "{\"token\": \"***\"}\n{\"token\": \"***\"}\n"),
        ])
    func `members with names of secrets have no values`(text: String, expected: String) {
        #expect(self.masked(text, "application/json") == expected)
    }

    @Test func `names and values that are endless characters take no quadratic time`() {
        var marks = ""
        for number in 0..<300_000 { marks.unicodeScalars.append(number % 2 == 0 ? "\u{301}" : "\u{323}") }
        #expect(self.masked("{\"a\(marks)\": 1}").utf8.count == marks.utf8.count + 8)
        #expect(self.masked("{\"\(marks)token\": 1}").utf8.elementsEqual("{\"\(marks)token\": \"***\"}".utf8))
        let form = self.masked("a\(marks)=b\(marks)", "application/x-www-form-urlencoded")
        #expect(form.utf8.elementsEqual("a\(marks)=***".utf8))
    }

    @Test func `forms have names, and files have content`() {
        let form = "application/x-www-form-urlencoded; charset=utf-8"
        #expect(self.masked("user=ada&pass=1&flag", form) == "user=***&pass=***&***")
        let parts =
            "--x\r\nContent-Disposition: form-data; name=\"pass\"\r\n\r\nhidden\r\n--x\r\n"
            + "Content-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\ncontent\r\n--x--\r\n"
        let shown = self.masked(parts, "multipart/form-data; boundary=x")
        #expect(shown == parts.replacing("hidden", with: "***"))
        #expect(self.masked(String(parts.prefix(52)), "multipart/form-data; boundary=x").hasSuffix("***"))
    }

    @Test func `the secrets of the exchange are masked wherever they stand, also when they are cut`() {
        let secrets = ["supersecret", "supersecretest", "short", "secondone"]
        #expect(self.masked("<a>supersecretest</a>supersecret short", secrets: secrets) == "<a>***</a>*** short")
        #expect(self.masked("begins superse", secrets: secrets) == "begins ***")
        #expect(self.masked("begins sup", secrets: secrets) == "begins sup")
        #expect(self.masked("secondonesecondone", secrets: secrets) == "******")
        // Bytes stay bytes.
        let bytes: [UInt8] = [0xff, 0x00] + Array("supersecret".utf8) + [0xfe]
        let shown = BodyRedaction(secrets: secrets).masked(bytes, type: "image/png").bytes
        #expect(shown == [0xff, 0x00] + Array("***".utf8) + [0xfe])
    }

    @Test func `it tells what it has masked because of its place`() {
        let redaction = BodyRedaction(secrets: [])
        let json = redaction.masked(Array(#"{"password": "hidden", "token": 12}"#.utf8), type: nil).hidden
        #expect(json == ["hidden", "12"])
        let form = redaction.masked(Array("a=1&b=two".utf8), type: "application/x-www-form-urlencoded").hidden
        #expect(form == ["1", "two"])
    }

    /// Whatever an origin sends, nothing ends and no secret is left.
    @Test(arguments: [UInt64(1), 2, 3]) func `random pieces of JSON keep no password`(seed: UInt64) {
        var generator = Shuffler(state: seed)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"password\":\"HIDDENVALUE\"", "\"a\"", "1", "\n", " ", "\\", "\"b\":",
        ]
        for _ in 0..<2000 {
            let text = (0..<12).map { _ in pieces[Int(generator.next() % UInt64(pieces.count))] }.joined()
            let shown = self.masked("{" + text)
            // Within an open string it is no member.
            let isMember = !text.contains("\\") && text.split(separator: "\"password\":", maxSplits: 1).count > 1
            if isMember { #expect(!shown.contains("\"password\":\"HIDDENVALUE\""), "seed \(seed): \(text)") }
        }
    }

    private struct Shuffler {
        var state: UInt64

        mutating func next() -> UInt64 {
            self.state = self.state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return self.state >> 33
        }
    }
}
