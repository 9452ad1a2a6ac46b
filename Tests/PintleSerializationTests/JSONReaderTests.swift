// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleTesting
import Testing

@Suite struct JSONReaderTests {
    @Test(
        arguments: [
            ("0", .integer(0)), ("-0", .number(-0.0)), ("9223372036854775807", .integer(.max)),
            ("9223372036854775808", .decimal("9223372036854775808")), ("1.0", .number(1)), ("1.10", .number(1.1)),
            ("1e2", .number(100)), ("0.1", .number(0.1)),
            ("0.10000000000000000001", .decimal("0.10000000000000000001")),
            ("1e400", .decimal("1e400")), ("1e-400", .decimal("1e-400")), ("0e99", .number(0)),
            ("5e-324", .number(.leastNonzeroMagnitude)),
            ("1e99999999999999999999", .decimal("1e99999999999999999999")),
            ("123456789.125E-3", .number(123456.789125)),
        ] as [(String, Parameter)])
    func `a number loses nothing`(text: String, expected: Parameter) throws {
        #expect(try JSONScanner().parse(bytes("[\(text)]")) == [expected])
    }

    @Test func `a number is the nearest that a Double holds, however many digits it has`() throws {
        var random = SeededGenerator(seed: 23)
        for _ in 0..<3000 {
            var text = String(random.next() >> UInt64.random(in: 0...60, using: &random))
            let point = Int.random(in: 0...text.utf8.count, using: &random)
            if point > 0, point < text.utf8.count, text.utf8.first != UInt8(ascii: "0") {
                text.insert(".", at: text.index(text.startIndex, offsetBy: point))
            }
            if Bool.random(using: &random) { text = "-" + text }
            switch try JSONScanner(fragmentsAllowed: true).parse(bytes(text)) {
            case .integer(let whole): #expect(String(whole) == text)
            case .number(let number): #expect(number.bitPattern == Double(text)?.bitPattern, "\(text)")
            case .decimal(let digits): #expect(digits == text)
            case let other: Issue.record("\(text) is read as \(other)")
            }
        }
    }

    @Test func `strings are unescaped`() throws {
        let document = #"["\"\\\/\b\f\n\r\t\u00e9\ud83d\uDE00\u0000","plain",""]"#
        #expect(try JSONScanner().parse(bytes(document)) == ["\"\\/\u{8}\u{c}\n\r\té😀\u{0}", "plain", ""])
    }

    @Test func `keys keep their order and repeat`() throws {
        let parameter = try JSONScanner().parse(bytes(#" { "b" : 1 , "a" : { "x" : [ ] } , "b" : "b" } "#))
        #expect(parameter == ["b": 1, "a": ["x": []], "b": "b"])
        #expect(parameter["b"] == 1)
    }

    @Test func `a fragment is read where it is allowed`() throws {
        #expect(try JSONScanner(fragmentsAllowed: true).parse(bytes(" \"a\" ")) == "a")
        #expect(try JSONScanner(fragmentsAllowed: true).parse(bytes("12")) == 12)
    }
}
