// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSerialization
import PintleTesting
import Testing

@Suite struct XMLPropertyListTests {
    private func read(_ content: String) -> Result<PropertyListValue, PropertyListError> {
        Self.read(bytes("<?xml version=\"1.0\"?><plist version=\"1.0\">\(content)</plist>"))
    }

    private static func read(_ bytes: [UInt8]) -> Result<PropertyListValue, PropertyListError> {
        Result { () throws(PropertyListError) in try PropertyListReader.read(bytes) }
    }

    @Test(
        arguments: [
            ("<integer> 7 </integer>", .integer(7)), ("<integer>+7</integer>", .integer(7)),
            ("<integer>-0x1F</integer>", .integer(-31)),
            ("<integer>-9223372036854775808</integer>", .integer(.min)),
            ("<integer>9223372036854775808</integer>", .unsigned(1 << 63)),
            ("<real>-1.5e3</real>", .real(-1500)), ("<real>+infinity</real>", .real(.infinity)),
            ("<string>a<!-- b -->&lt;&#228;<![CDATA[&]]>\r\n</string>", .string("a<ä&\n")),
            ("<string/>", .string("")), ("<data> AP\n8= </data>", .data([0, 255])), ("<data></data>", .data([])),
            ("<date>1970-01-01T00:00:01Z</date>", .date(1)), ("<date>2000-02-29T00:00:00Z</date>", .date(951_782_400)),
            ("<date>0001-01-01T00:00:00Z</date>", .date(-62_135_596_800)),
            ("<?pi?> <array a='>'><true/> <false></false>\n</array>", .array([.bool(true), .bool(false)])),
            ("<dict><key/><dict/></dict>", .dictionary(["": .dictionary([:])])),
        ] as [(String, PropertyListValue)])
    func `LOOK-01 elements have these values`(content: String, value: PropertyListValue) {
        #expect(self.read(content) == .success(value))
    }

    @Test(
        arguments: [
            ("", "the document has no value"), ("<true/><true/>", "the document has more than one value"),
            ("text", "the document has something that no property list has"),
            ("<array>text</array>", "the document has something that no property list has"),
            ("<set/>", "the document has something that no property list has"),
            ("<true>1</true>", "the document has something that no property list has"),
            ("<string><true/></string>", "the document has something that no property list has"),
            ("<dict><true/></dict>", "the document has a value without a key"),
            ("<dict><key>a</key></dict>", "the document has a key without a value"),
            (
                "<dict><key>a</key><true/><key>a</key><true/></dict>",
                "the document has a dictionary with a key twice"
            ),
            ("<integer/>", "the document has an integer that is none, or needs more than 64 bits"),
            ("<integer>--1</integer>", "the document has an integer that is none, or needs more than 64 bits"),
            ("<integer>1 2</integer>", "the document has an integer that is none, or needs more than 64 bits"),
            (
                "<integer>18446744073709551616</integer>",
                "the document has an integer that is none, or needs more than 64 bits"
            ),
            (
                "<integer>-9223372036854775809</integer>",
                "the document has an integer that is none, or needs more than 64 bits"
            ),
            ("<real>0x1p4</real>", "the document has a real that is no number"),
            ("<real/>", "the document has a real that is no number"),
            ("<date>2001-02-29T00:00:00Z</date>", "the document has a date that is not like 2001-01-31T00:00:00Z"),
            ("<date>1970-01-01</date>", "the document has a date that is not like 2001-01-31T00:00:00Z"),
            ("<data>A?==</data>", "the document has data that is not base64"),
        ])
    func `LOOK-01 what no property list has is refused`(content: String, problem: String) {
        #expect(self.read(content) == .failure(PropertyListError(problem)))
    }

    @Test func `LOOK-01 a document is read in the encoding that it has`() throws {
        let document = "<?xml version=\"1.0\" encoding=\"ENCODING\"?><plist><array><string>é€</string></array></plist>"
        func declared(_ name: String) -> String { document.replacingOccurrences(of: "ENCODING", with: name) }
        let expected = PropertyListValue.array([.string("é€")])
        #expect(Self.read(bytes(declared("UTF-8"))) == .success(expected))
        #expect(Self.read([0xEF, 0xBB, 0xBF] + bytes(declared("UTF-8"))) == .success(expected))
        for encoding in [String.Encoding.utf16, .utf16BigEndian, .utf32] {
            let data = try #require(declared(encoding == .utf32 ? "UTF-32" : "UTF-16").data(using: encoding))
            #expect(Self.read(Array(data)) == .success(expected), "\(encoding)")
        }
        let data = try #require(declared("windows-1252").data(using: .windowsCP1252))
        #expect(Self.read(Array(data)) == .success(expected))
    }

    @Test func `LOOK-01 Foundation reads what is written, where it can be trusted to`() throws {
        let parameter: Parameter = [
            "text": "a\r\n<&>\"ä\u{1F600}", "list": [1, [2.5, [true, .data([1, 2, 3])]], [:]], "small": -1,
            "huge": .decimal("18446744073709551615"), "when": .date(-1), "then": .date(253_402_300_799),
        ]
        for format in [PropertyListWriter.Format.xml, .binary] {
            let document = Data(try PropertyListWriter.write(parameter, format: format))
            let value = try PropertyListSerialization.propertyList(from: document, format: nil)
            let expected: NSDictionary = [
                "text": "a\r\n<&>\"ä\u{1F600}", "list": [1, [2.5, [true, Data([1, 2, 3])] as [Any]], [:]] as [Any],
                "small": -1, "huge": UInt64.max, "when": Date(timeIntervalSince1970: -1),
                "then": Date(timeIntervalSince1970: 253_402_300_799),
            ]
            #expect(value as? NSDictionary == expected, "\(format)")
        }
    }

    @Test func `LOOK-01 a moment is written as the day and the second that it is in`() throws {
        for (seconds, text) in [
            (0.0, "1970-01-01T00:00:00Z"), (-0.5, "1969-12-31T23:59:59Z"), (951_868_799, "2000-02-29T23:59:59Z"),
            (-62_135_596_800, "0001-01-01T00:00:00Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            let document = String(decoding: try PropertyListWriter.write([.date(seconds)], format: .xml), as: UTF8.self)
            #expect(document.contains("<date>\(text)</date>"), "\(document)")
        }
    }

    @Test func `LOOK-01 lists of any length and texts of any kind come back from the binary format`() throws {
        for count in [0, 1, 14, 15, 16, 255, 256, 300, 70_000] {
            let list = Parameter.array((0..<count).map { .integer(Int64($0) << 20) })
            let text = String(repeating: "ä", count: count)
            let document = try PropertyListWriter.write(["list": list, text: .string(text)], format: .binary)
            guard case .dictionary(let members) = try PropertyListReader.read(document) else {
                Issue.record("no dictionary")
                continue
            }
            #expect(members[text] == .string(text))
            #expect(members["list"] == .array((0..<count).map { .integer(Int64($0) << 20) }))
        }
        // These two are equal in Swift, but different for other readers.
        let forms: Parameter = ["\u{E9}", "e\u{301}"]
        guard
            case .array(let texts) = try PropertyListReader.read(try PropertyListWriter.write(forms, format: .binary)),
            case .string(let first)? = texts.first, case .string(let last)? = texts.last
        else {
            Issue.record("no texts")
            return
        }
        #expect([first, last].map { Array($0.unicodeScalars) } == [["\u{E9}"], ["e", "\u{301}"]])
    }
}
