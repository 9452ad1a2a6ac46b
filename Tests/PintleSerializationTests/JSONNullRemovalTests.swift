// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSerialization
import Testing

@Suite struct JSONNullRemovalTests {
    @Test func `JRS-15 nulls vanish from dictionaries and arrays`() throws {
        let document = #"{"key":"value","nullkey":null,"array":[{"subnullkey":null}],"arrayWithNulls":[null]}"#
        #expect(
            text(try JSONScanner().removingNulls(from: bytes(document)))
                == #"{"key":"value","array":[{}],"arrayWithNulls":[]}"#)
    }

    @Test(arguments: [
        ("[null]", "[]"), ("[null,1]", "[1]"), ("[1,null]", "[1]"), ("[1,null,2]", "[1,2]"), ("[null,null]", "[]"),
        ("[null,null,1,null,null,2,null]", "[1,2]"), (#"{"a":null}"#, "{}"), (#"{"a":null,"b":1}"#, #"{"b":1}"#),
        (#"{"b":1,"a":null}"#, #"{"b":1}"#), (#"{"a":{"b":{"c":null}}}"#, #"{"a":{"b":{}}}"#),
        ("[[null],[null]]", "[[],[]]"), ("[[],null,[]]", "[[],[]]"), ("[null,[null,{\"a\":null}],null]", "[[{}]]"),
        ("[ 1 , null , 2 ]", "[ 1  , 2 ]"), ("[ null , 1 ]", "[  1 ]"), ("[ 1 , null ]", "[ 1  ]"),
        (#"{ "a" : null , "b" : "null" }"#, #"{  "b" : "null" }"#), (#"["null",null,"\"null"]"#, #"["null","\"null"]"#),
        (#"{"null":1,"x":null}"#, #"{"null":1}"#), (#"[true,null,false]"#, "[true,false]"),
    ])
    func `JRS-16 every null member vanishes and empty containers stay`(document: String, expected: String) throws {
        #expect(text(try JSONScanner().removingNulls(from: bytes(document))) == expected)
    }

    @Test(arguments: ["null", " null ", "1", "\"null\"", "[]", #"{"a":[1,"null"]}"#])
    func `JRS-17 a null at the top and documents without null stay`(document: String) throws {
        #expect(try JSONScanner(fragmentsAllowed: true).removingNulls(from: bytes(document)) == nil)
    }

    @Test func `JRS-16 order, numbers and strings keep their spelling`() throws {
        let document = #"{"z":1.50,"a":-0,"m":1E+2,"n":null,"s":"\u0041\/é","z":12345678901234567890}"#
        #expect(
            text(try JSONScanner().removingNulls(from: bytes(document)))
                == document.replacingOccurrences(of: #""n":null,"#, with: ""))
    }

    @Test func `JRS-19 removal works on its own, on any encoding`() throws {
        let document = try #require("\u{FEFF}[null,\"é\"]".data(using: .utf16LittleEndian))
        #expect(text(try JSONScanner().removingNulls(from: Array(document))) == "[\"é\"]")
        #expect(throws: JSONSyntaxError.self) { try JSONScanner().removingNulls(from: bytes("[null")) }
    }
}
