// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSerialization
import PintleTesting
import Testing

/// Documents that are made to harm their readers: each is refused or read, at a cost that its size bounds.
@Suite struct HostileDocumentTests {
    private func problem(json document: [UInt8], _ scanner: JSONScanner = JSONScanner()) -> String? {
        do throws(JSONSyntaxError) {
            try scanner.validate(document)
            return nil
        } catch {
            return error.description
        }
    }

    private func problem(xml document: String) -> String? {
        do throws(XMLSyntaxError) {
            try XMLScanner().validate(bytes(document))
            return nil
        } catch {
            return error.description
        }
    }

    // MARK: JSON

    @Test(arguments: ["[", "{\"a\":"]) func `100,000 levels of JSON are refused at the limit`(opening: String) {
        let document = bytes(String(repeating: opening, count: 100_000))
        let error = #expect(throws: JSONSyntaxError.self) { try JSONScanner().validate(document) }
        #expect(error?.offset == 512 * opening.utf8.count)
        #expect(error?.expected == "at most 512 levels of nesting")
        #expect(throws: JSONSyntaxError.self) { try JSONScanner().parse(document) }
        #expect(throws: JSONSyntaxError.self) { try JSONScanner().removingNulls(from: document) }
    }

    @Test func `a mebibyte of nulls is taken out in one pass`() throws {
        let scanner = JSONScanner(nestingLimit: 100_000)
        let nulls = String(repeating: "null,", count: (1 << 20) / 5)
        #expect(text(try scanner.removingNulls(from: bytes("[\(nulls)null]"))) == "[]")
        #expect(text(try scanner.removingNulls(from: bytes("[\(nulls)1]"))) == "[1]")
        #expect(text(try scanner.removingNulls(from: bytes("[1,\(nulls)null]"))) == "[1]")
        let members = String(repeating: "\"k\":null,", count: (1 << 20) / 9)
        #expect(text(try scanner.removingNulls(from: bytes("{\(members)\"k\":null}"))) == "{}")
        let pairs = String(repeating: "1,null,", count: (1 << 20) / 7)
        #expect(try scanner.removingNulls(from: bytes("[\(pairs)1]"))?.count == 2 * ((1 << 20) / 7) + 3)
        let (open, close) = (String(repeating: "[null,", count: 100_000), String(repeating: "]", count: 100_000))
        #expect(
            text(try scanner.removingNulls(from: bytes("\(open)null\(close)")))
                == String(repeating: "[", count: 100_000) + close)
    }

    @Test func `keys may repeat and none is lost`() throws {
        #expect(try JSONScanner().parse(bytes(#"{"a":1,"\u0061":2,"a":3}"#)) == ["a": 1, "a": 2, "a": 3])
    }

    @Test(arguments: [
        "1e400", "-1e400", "1e-400", String(repeating: "9", count: 400), "0." + String(repeating: "1", count: 400),
    ])
    func `numbers that no Double holds pass and keep their digits`(number: String) throws {
        #expect(try JSONScanner().parse(bytes("[\(number)]")) == [.decimal(number)])
        #expect(text(try JSONWriter.write(try JSONScanner().parse(bytes("[\(number)]")))) == "[\(number)]")
    }

    @Test func `half of a surrogate pair is refused, escaped or not`() {
        for half in ["\\ud800", "\\uDBFF", "\\udc00", "\\uDFFF", "\\ud800\\ud800", "\\ud800x", "\\udc00\\ud800"] {
            #expect(self.problem(json: bytes("[\"\(half)\"]"))?.contains("expected a pair of surrogates") == true)
        }
        for half in [[0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF]] as [[UInt8]] {
            #expect(
                self.problem(json: bytes("[\"") + half + bytes("\"]"))
                    == "line 1, column 3 (byte 2): expected valid UTF-8, found byte 0xED")
        }
    }

    @Test func `zero bytes and second byte order marks are no white space`() {
        #expect(
            self.problem(json: bytes("[1]\u{0}")) == "line 1, column 4 (byte 3): expected the end, found byte 0x00")
        #expect(
            self.problem(json: bytes("[\"a\u{0}\"]"))
                == "line 1, column 4 (byte 3): expected a character or “\"”, control characters being escaped, "
                + "found byte 0x00")
        #expect(self.problem(json: [UInt8](repeating: 0, count: 1000))?.contains("found byte 0x00") == true)
        #expect(self.problem(json: bytes("\u{FEFF}[]")) == nil)
        #expect(
            self.problem(json: bytes("\u{FEFF}\u{FEFF}[]"))
                == "line 1, column 1 (byte 0): expected “{” or “[”, found byte 0xEF")
        #expect(self.problem(json: [0xEF, 0xBB]) != nil)
        #expect(self.problem(json: [0xFF, 0xFE]) != nil)
    }

    // MARK: XML

    @Test func `100,000 levels of XML are refused at the limit`() {
        #expect(
            self.problem(xml: String(repeating: "<a>", count: 100_000))
                == "line 1, column 1540: more than 512 levels of elements")
    }

    @Test func `entities that grow are refused before they are read`() {
        let laughs = """
            <?xml version="1.0"?>
            <!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol1 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">
            <!ENTITY lol2 "&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;">]><lolz>&lol2;</lolz>
            """
        let refusal = "declarations of its own, which can define entities and are not accepted"
        #expect(self.problem(xml: laughs) == "line 2, column 16: \(refusal)")
        let blowUp =
            "<!DOCTYPE a [<!ENTITY x \"\(String(repeating: "x", count: 50_000))\">]><a>"
            + String(repeating: "&x;", count: 50_000) + "</a>"
        #expect(self.problem(xml: blowUp) == "line 1, column 13: \(refusal)")
        let external = "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>"
        #expect(self.problem(xml: external) == "line 1, column 13: \(refusal)")
        // An external subset is never fetched, and nothing that it could define exists.
        #expect(
            self.problem(xml: "<!DOCTYPE a SYSTEM \"http://a.test/x.dtd\"><a>&x;</a>")
                == "line 1, column 45: “&x;” is not declared")
    }

    @Test func `a tag may have 100,000 attributes, each of them once`() {
        let attributes = (0..<100_000).map { " a\($0)='\($0)'" }.joined()
        #expect(self.problem(xml: "<a\(attributes)/>") == nil)
        #expect(
            self.problem(xml: "<a\(attributes) a99999='again'/>")?.hasSuffix(": a second attribute “a99999”") == true)
        #expect(self.problem(xml: "<a\(attributes) a0='again'/>")?.hasSuffix(": a second attribute “a0”") == true)
        let tooMany = (0..<300).map { " \(String(repeating: "n", count: 4000))\($0)=''" }.joined()
        #expect(
            self.problem(xml: "<a\(tooMany)/>")?.hasSuffix(
                ": names of attributes of more than 1048576 bytes in one tag") == true)
    }

    @Test func `the names of open elements are limited`() {
        let document = String(repeating: "<\(String(repeating: "n", count: 4096))>", count: 257)
        #expect(
            self.problem(xml: document)
                == "line 1, column \(256 * 4098 + 2): names of open elements of more than 1048576 bytes")
    }

    @Test func `zero bytes are no text and one byte order mark is`() {
        #expect(
            self.problem(xml: "<a>\u{0}</a>") == "line 1, column 4: the character U+0, which no document may have")
        #expect(
            self.problem(xml: "<a/>\u{0}") == "line 1, column 5: the character U+0, which no document may have")
        #expect(self.problem(xml: "\u{FEFF}<a>\u{FEFF}</a>") == nil)
        #expect(self.problem(xml: "\u{FEFF}\u{FEFF}<a/>") == "line 1, column 1: the first element is due")
    }

    // MARK: Memory

    @Test(.disabled(if: runsUnderSanitizer, "sanitizers keep memory of their own"))
    func `what comes in pieces takes no memory, however much it is`() async {
        await #expect(processExitsWith: .success) {
            // Once for the code, which takes memory when it is first run, and then for the documents.
            try validateLongDocuments(times: 1)
            let before = try peakMemory()
            try validateLongDocuments(times: 128)
            let grown = try peakMemory() - before
            // The smallest of them would be twice as much.
            guard grown < 4096 else { throw Growth(kibibytes: grown) }
        }
    }
}

/// - Parameter times: the number of pieces of 64 KiB in documents that a debug build reads byte by byte; the others have
///   eight times as many.
private func validateLongDocuments(times: Int) throws {
    let text = [UInt8](repeating: UInt8(ascii: "1"), count: 1 << 16)
    try validate(xml: "<!--", text, times: 8 * times, "--><a/>")
    try validate(xml: "<a><![CDATA[", text, times: 8 * times, "]]></a>")
    try validate(json: "[\"", text, times: 8 * times, "\"]")
    let space = [UInt8](repeating: 0x20, count: 1 << 16)
    try validate(xml: "<a b='", text, times: times, "'/>")
    try validate(xml: "<a>", text, times: times, "</a>")
    try validate(xml: "<a", space, times: times, "/>")
    try validate(json: "[0.", text, times: times, "]")
    try validate(json: "[", space, times: times, "]")
}

private struct Growth: Error {
    let kibibytes: Int
}

private func validate(json start: String, _ piece: [UInt8], times: Int, _ end: String) throws {
    var validator = JSONValidator()
    try validator.take(bytes(start))
    for _ in 0..<times { try validator.take(piece) }
    try validator.take(bytes(end))
    try validator.finish()
}

private func validate(xml start: String, _ piece: [UInt8], times: Int, _ end: String) throws {
    var validator = XMLValidator()
    try validator.take(bytes(start))
    for _ in 0..<times { try validator.take(piece) }
    try validator.take(bytes(end))
    try validator.finish()
}

/// The most memory that this process has had, in KiB.
private func peakMemory() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.filter(\.isNumber)))
}
