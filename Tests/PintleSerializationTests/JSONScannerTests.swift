// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSerialization
import Testing

@Suite struct JSONScannerTests {
    let fragments = JSONScanner(fragmentsAllowed: true)

    @Test(arguments: [
        "{}", "[]", " [ ] ", "{ \"a\" : 1 , \"b\" : [ ] }\r\n\t", "[0,-0,1,-1,10,0.5,1.25e3,1E-7,2e+0,-1.0]",
        "[true,false,null]", #"["\"\\\/\b\f\n\r\té"]"#, #"["\ud83d\ude00"]"#, "[\"é日😀\u{10FFFF}\u{7F}\"]",
        #"{"a":1,"a":2}"#, "[[[[[[[[]]]]]]]]", #"{"":{"":[]}}"#, "[\"01234567\",\"0123456\",\"012345678\"]",
    ])
    func `documents in order`(document: String) throws {
        try JSONScanner().validate(bytes(document))
        try bytes(document).withUnsafeBytes { raw in try JSONScanner().validate(raw) }
    }

    @Test(arguments: [
        ("", "byte 0", "“{” or “[”", "the end"), ("  ", "byte 2", "“{” or “[”", "the end"),
        ("1", "byte 0", "“{” or “[”", "“1”"), ("{invalid}", "byte 1", "a key in quotes or “}”", "“i”"),
        ("[1,]", "byte 3", "a value", "“]”"), ("[,]", "byte 1", "a value or “]”", "“,”"),
        ("{\"a\":1,}", "byte 7", "a key in quotes", "“}”"), ("{\"a\"}", "byte 4", "“:”", "“}”"),
        ("[1 2]", "byte 3", "“,” or “]”", "“2”"), ("{\"a\":1]", "byte 6", "“,” or “}”", "“]”"),
        ("[1}", "byte 2", "“,” or “]”", "“}”"), ("[1] x", "byte 4", "the end", "“x”"),
        ("[01]", "byte 2", "“,” or “]”", "“1”"),
        ("[1.]", "byte 3", "a digit", "“]”"), ("[-]", "byte 2", "a digit", "“]”"), ("[1e]", "byte 3", "a digit", "“]”"),
        ("[+1]", "byte 1", "a value or “]”", "“+”"), ("[.5]", "byte 1", "a value or “]”", "“.”"),
        ("[tru]", "byte 1", "“true”, “false” or “null”", "“t”"),
        ("[nulL]", "byte 1", "“true”, “false” or “null”", "“n”"),
        ("[NaN]", "byte 1", "a value or “]”", "“N”"),
        ("[\"a", "byte 3", "a character or “\"”, control characters being escaped", "the end"),
        ("[\"\t\"]", "byte 2", "a character or “\"”, control characters being escaped", "byte 0x09"),
        ("[\"\\x\"]", "byte 3", "one of “\"\\/bfnrtu” after “\\”", "“x”"),
        ("[\"\\", "byte 3", "one of “\"\\/bfnrtu” after “\\”", "the end"),
        ("[\"\\u12g4\"]", "byte 6", "four hexadecimal digits after “\\u”", "“g”"),
        ("[\"\\ud800\"]", "byte 2", "a pair of surrogates", "“\\”"),
        ("[\"\\ude00\"]", "byte 2", "a pair of surrogates", "“\\”"),
        ("[\"\\ud800\\u0041\"]", "byte 2", "a pair of surrogates", "“\\”"),
        ("[", "byte 1", "a value or “]”", "the end"),
        ("{", "byte 1", "a key in quotes or “}”", "the end"), ("[1", "byte 2", "“,” or “]”", "the end"),
        ("[]]", "byte 2", "the end", "“]”"),
        ("{\"a\":1", "byte 6", "“,” or “}”", "the end"), ("[1,", "byte 3", "a value", "the end"),
        ("[]\u{0}", "byte 2", "the end", "byte 0x00"),
        ("[']", "byte 1", "a value or “]”", "“'”"), ("[1]/**/", "byte 3", "the end", "“/”"),
        ("[\u{A0}]", "byte 1", "a value or “]”", "byte 0xC2"),
    ])
    func `the first error is named`(document: String, place: String, expected: String, found: String) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONScanner().validate(bytes(document)) }
        #expect(
            error?.description
                == "line 1, column \((error?.offset ?? 0) + 1) (\(place)): expected \(expected), found \(found)")
    }

    @Test func `an error has line and column`() {
        let error = #expect(throws: JSONSyntaxError.self) {
            try JSONScanner().validate(bytes("{\n  \"a\": 1,\n  b\n}"))
        }
        #expect(error?.line == 3)
        #expect(error?.column == 3)
        #expect(error?.offset == 14)
    }

    @Test(
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x9F, 0xBF], [0xE2, 0x82],
            [0xED, 0xA0, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF0, 0x9F, 0x98], [0xFF],
            [0xE2, 0x28, 0xA1], [0xF0, 0x9F, 0x28, 0x80], [0xF0, 0x9F, 0x98, 0x28],
        ] as [[UInt8]])
    func `broken UTF-8 is an error at every place in a word`(broken: [UInt8]) {
        for padding in 0..<9 {
            let document = bytes("[\"" + String(repeating: "x", count: padding)) + broken + bytes("\"]")
            let error = #expect(throws: JSONSyntaxError.self) { try JSONScanner().validate(document) }
            #expect(error?.expected == "valid UTF-8")
            #expect(error?.offset == 2 + padding)
        }
    }

    @Test func `special bytes are found at every place in a word`() throws {
        for padding in 0..<20 {
            let run = String(repeating: "~", count: padding)
            try JSONScanner().validate(bytes("[\"\(run)\\n\(run)é\(run)\"]"))
            #expect(throws: JSONSyntaxError.self) { try JSONScanner().validate(bytes("[\"\(run)\u{1F}\(run)\"]")) }
            #expect(throws: JSONSyntaxError.self) { try JSONScanner().validate(bytes("[\"\(run)\"\(run)\"]")) }
        }
    }

    @Test func `JRS-13 a scalar at the top needs the fragments option`() throws {
        for fragment in ["1", "\"a\"", "null", "true", " -0.5 "] {
            #expect(throws: JSONSyntaxError.self) { try JSONScanner().validate(bytes(fragment)) }
            try self.fragments.validate(bytes(fragment))
        }
        #expect(throws: JSONSyntaxError.self) { try self.fragments.validate([]) }
        #expect(throws: JSONSyntaxError.self) { try self.fragments.validate(bytes("1 2")) }
    }

    @Test(
        arguments: [
            String.Encoding.utf8, .utf16BigEndian, .utf16LittleEndian, .utf32BigEndian, .utf32LittleEndian,
        ], ["", "\u{FEFF}"])
    func `JRS-14 Unicode encodings are told apart`(encoding: String.Encoding, mark: String) throws {
        for document in ["[]", "{\"é\":\"日😀\"}", "[\"日\"]"] {
            let data = try #require((mark + document).data(using: encoding))
            try JSONScanner().validate(Array(data))
            #expect(text(try JSONWriter.write(try JSONScanner().parse(Array(data)))) == document)
            let broken = try #require((mark + document + "x").data(using: encoding))
            let error = #expect(throws: JSONSyntaxError.self) { try JSONScanner().validate(Array(broken)) }
            #expect(error?.expected == "the end")
        }
        let one = try #require((mark + "1").data(using: encoding))
        try self.fragments.validate(Array(one))
    }

    @Test(
        arguments: [
            [0x5B, 0, 0x5D], [0x5B, 0, 0x22, 0, 0x00, 0xD8, 0x22, 0, 0x5D, 0], [0xFF, 0xFE, 0x5B, 0, 0x5D, 0, 0],
            [0, 0, 0, 0x5B, 0, 0x11, 0, 0], [0, 0, 0, 0x5B, 0, 0, 0xD8, 0],
        ] as [[UInt8]])
    func `JRS-14 broken UTF-16 and UTF-32 are errors`(broken: [UInt8]) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONScanner().validate(broken) }
        #expect(error?.expected == "valid UTF-16 or UTF-32")
    }

    @Test func `nesting is limited and never overflows the stack`() throws {
        let open = { (depth: Int) in [UInt8](repeating: UInt8(ascii: "["), count: depth) }
        let close = { (depth: Int) in [UInt8](repeating: UInt8(ascii: "]"), count: depth) }
        try JSONScanner().validate(open(512) + close(512))
        let error = #expect(throws: JSONSyntaxError.self) { try JSONScanner().validate(open(513) + close(513)) }
        #expect(error?.offset == 512)
        #expect(error?.expected == "at most 512 levels of nesting")
        #expect(throws: JSONSyntaxError.self) { try JSONScanner().validate(open(100_000) + close(100_000)) }
        let deep = JSONScanner(nestingLimit: 100_000)
        try deep.validate(open(100_000) + close(100_000))
        #expect(throws: JSONSyntaxError.self) { try deep.parse(open(100_000) + close(100_000)) }
        #expect(
            try deep.removingNulls(from: open(50_000) + bytes("null") + close(50_000)) == open(50_000) + close(50_000))
        #expect(throws: JSONSyntaxError.self) { try JSONScanner(nestingLimit: 0).validate(bytes("[]")) }
        #expect(throws: JSONSyntaxError.self) { try JSONScanner(nestingLimit: -1).validate(bytes("[]")) }
    }

    @Test func `a mebibyte is read and written back`() throws {
        let member = #"{"id":12345,"name":"Grüße","tags":["a","b",null],"ratio":0.125}"#
        let document =
            "[" + Array(repeating: member, count: (1 << 20) / member.utf8.count + 1).joined(separator: ",") + "]"
        #expect(document.utf8.count >= 1 << 20)
        try JSONScanner().validate(bytes(document))
        #expect(text(try JSONWriter.write(try JSONScanner().parse(bytes(document)))) == document)
        let slim = try JSONScanner().removingNulls(from: bytes(document))
        #expect(text(slim) == document.replacingOccurrences(of: ",null", with: ""))
    }
}
