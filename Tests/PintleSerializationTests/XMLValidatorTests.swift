// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleTesting
import Testing

@Suite struct XMLValidatorTests {
    private func verdict(_ document: [UInt8], _ scanner: XMLScanner = XMLScanner()) -> XMLSyntaxError? {
        do throws(XMLSyntaxError) {
            try scanner.validate(document)
            return nil
        } catch {
            return error
        }
    }

    private func verdict(
        _ pieces: some Sequence<ArraySlice<UInt8>>, _ scanner: XMLScanner = XMLScanner()
    ) -> XMLSyntaxError? {
        var validator = XMLValidator(scanner)
        do throws(XMLSyntaxError) {
            for piece in pieces { try validator.take(Array(piece)) }
            try validator.finish()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: XMLScannerTests.wellFormed + XMLScannerTests.broken)
    func `every cut gives the verdict on the whole`(document: String) throws {
        for encoding in ["utf-8", "utf-16", "utf-16be", "utf-32"] {
            let document = try TextEncoding(encoding).encode(document)
            let whole = self.verdict(document)
            for pieces in Cuts.systematic(document) where self.verdict(pieces) != whole {
                Issue.record("\(pieces.map { Array($0) }): \(String(describing: self.verdict(pieces)))")
            }
        }
    }

    @Test(arguments: ["iso-8859-1", "windows-1252", "us-ascii", "shift_jis"])
    func `a declared encoding is read at every cut`(name: String) throws {
        let word = ["iso-8859-1": "é", "windows-1252": "€é", "us-ascii": "e"][name] ?? "日本語"
        let start = "<?xml version='1.0' encoding='\(name)'?>\n<a b='\(word)'>"
        let passing = try TextEncoding(name).encode("\(start)\(word) \(word)</a>")
        let broken = try TextEncoding(name).encode("\(start)\n\(word)</b>")
        let undecodable = try TextEncoding(name).encode("\(start) ") + [0xFF, 0xFF, 0x80] + bytes("</a>")
        #expect(self.verdict(passing) == nil)
        #expect(self.verdict(broken)?.problem == "“</b>” where “</a>” is due")
        #expect(self.verdict(broken)?.line == 3)
        for document in [passing, broken, undecodable] {
            let whole = self.verdict(document)
            for pieces in Cuts.systematic(document) where self.verdict(pieces) != whole {
                Issue.record("\(pieces.map { Array($0) }): \(String(describing: self.verdict(pieces)))")
            }
        }
    }

    @Test(arguments: ["iso-2022-jp", "ISO-2022-KR", "hz-gb-2312"]) func `encodings with states are refused`(
        name: String
    ) {
        #expect(
            self.verdict(bytes("<?xml version='1.0' encoding='\(name)'?><a/>"))?.problem
                == "the declared encoding is not the document's, or is not known")
    }

    @Test func `broken UTF-8 is found at every cut, wherever it stands`() {
        let places = [
            ("<a>x", "</a>"), ("<a", "/>"), ("<a b='", "'/>"), ("<!--", "--><a/>"), ("<a><![CDATA[", "]]></a>"),
            ("<a>&", ";</a>"), ("<a ", "='1'/>"), ("<?p ", "?><a/>"), ("<!DOCTYPE a SYSTEM '", "'><a/>"), ("", "<a/>"),
        ]
        for (name, broken) in JSONValidatorTests.brokenUTF8 {
            // These are byte order marks of UTF-16, or part of one.
            for (start, rest) in places where !start.isEmpty || broken[0] < 0xFE {
                for rest in [rest, ""] {
                    let document = bytes(start) + broken + bytes(rest)
                    let whole = self.verdict(document)
                    #expect(whole?.problem == "a byte that is not UTF-8", "\(name) after \(start)")
                    #expect(whole?.column == start.utf8.count + 1, "\(name) after \(start)")
                    for pieces in Cuts.systematic(document) { #expect(self.verdict(pieces) == whole, "\(name)") }
                }
            }
        }
    }

    @Test func `random documents have one verdict, however they are cut`() {
        var random = SeededGenerator(seed: 12)
        var refused = 0
        for _ in 0..<4000 {
            var document = bytes(RandomXML.document(&random))
            for _ in 0..<Int.random(in: 0...2, using: &random) { Mutation.xml.apply(to: &document, &random) }
            let scanner = XMLScanner(nestingLimit: Int.random(in: 2...6, using: &random))
            let whole = self.verdict(document, scanner)
            if whole != nil { refused += 1 }
            for _ in 0..<3 {
                let pieces = Cuts.random(document, &random)
                guard self.verdict(pieces, scanner) != whole else { continue }
                Issue.record("\(pieces.map { Array($0) }), where the whole is \(String(describing: whole))")
            }
        }
        #expect(refused > 500 && refused < 3500)
    }

    @Test func `names and declarations are limited, at every cut`() {
        let name = String(repeating: "n", count: 4096)
        #expect(self.verdict(bytes("<\(name) \(name)='&amp;'></\(name)>")) == nil)
        let long = name + "n"
        let documents = [
            ("<\(long)/>", "line 1, column 2: a name of more than 4096 bytes"),
            ("<a \(long)=''/>", "line 1, column 4: a name of more than 4096 bytes"),
            ("<a>&\(long);</a>", "line 1, column 5: a name of more than 4096 bytes"),
            ("<?xml version='1.0'\(String(repeating: " ", count: 4075))?><a/>", nil),
            (
                "<?xml version='1.0'\(String(repeating: " ", count: 4076))?><a/>",
                "line 1, column 1: a declaration of more than 4096 bytes"
            ),
            (
                "\n<!DOCTYPE a SYSTEM '\(name)'><a/>",
                "line 2, column 1: a declaration of more than 4096 bytes"
            ),
        ]
        for (document, problem) in documents {
            let document = bytes(document)
            #expect(self.verdict(document)?.description == problem)
            for size in [1000, 4095, 4096, 4097] {
                let pieces = stride(from: 0, to: document.count, by: size).map {
                    document[$0..<min($0 + size, document.count)]
                }
                #expect(self.verdict(pieces)?.description == problem)
            }
        }
    }

    @Test func `an error is told as soon as it is certain, and again`() {
        var validator = XMLValidator()
        let error = #expect(throws: XMLSyntaxError.self) { try validator.take(bytes("<a></b>")) }
        #expect(error?.description == "line 1, column 4: “</b>” where “</a>” is due")
        #expect(#expect(throws: XMLSyntaxError.self) { try validator.finish() } == error)
    }
}

/// Random documents for property tests.
enum RandomXML {
    private static let texts = [
        "text", " ", "\n", "é", "日本", "😀", "&lt;", "&#65;", "&#x1F600;", "]]", ">", "<!-- - c -->", "<?p i?>",
        "<![CDATA[<a>&]]]]>", "'", "\"",
    ]

    static func document(_ random: inout SeededGenerator) -> String {
        let starts = ["", "", "<?xml version='1.0'?>\n", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>", "<!-- c -->"]
        let types = ["", "", "<!DOCTYPE a>", "<!DOCTYPE a PUBLIC '-//x' \"y\" >\n"]
        let ends = ["", "\n", "<!--e-->", "<?e?>"]
        return (starts.randomElement(using: &random) ?? "") + (types.randomElement(using: &random) ?? "")
            + self.element(depth: 4, &random) + (ends.randomElement(using: &random) ?? "")
    }

    private static func element(depth: Int, _ random: inout SeededGenerator) -> String {
        let name = ["a", "b:c", "é", "long-name.1"].randomElement(using: &random) ?? "a"
        var text = "<\(name)"
        for attribute in ["x", "y", "ü"] where Int.random(in: 0...3, using: &random) == 0 {
            text += " \(attribute)" + (["='1'", " = \"é&amp;'\"", "=\n''"].randomElement(using: &random) ?? "")
        }
        guard depth > 0, Bool.random(using: &random) else { return text + "/>" }
        text += ">"
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            text +=
                Bool.random(using: &random)
                ? self.element(depth: depth - 1, &random) : (self.texts.randomElement(using: &random) ?? "")
        }
        return text + "</\(name)>"
    }
}
