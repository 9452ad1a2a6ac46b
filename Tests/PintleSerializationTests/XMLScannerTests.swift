// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleTesting
import Testing

@Suite struct XMLScannerTests {
    private func problem(_ document: String) -> String? { self.problem(bytes(document)) }

    private func problem(_ document: [UInt8]) -> String? {
        do throws(XMLSyntaxError) {
            try XMLScanner().validate(document)
            return nil
        } catch {
            return error.description
        }
    }

    static let wellFormed = [
        "<a/>", "<a></a>", "<a />", " \n<a\t\r\n></a >\n ", "<a><b/><c>x</c>y</a>",
        "<?xml version=\"1.0\"?><a/>", "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\n<a/>",
        "<a b=\"1\" c='\"' d=\"&lt;&#10;'\"/>", "<a b = 'c'/>", "<ä:ö-1.·>é</ä:ö-1.·>", "<_/>", "<:/>",
        "<a>&amp;&lt;&gt;&quot;&apos;&#65;&#x41;&#x10FFFF;</a>", "<a>]] ]> ></a>",
        "<a><![CDATA[<b>&x;]]]]><![CDATA[>]]></a>", "<!-- - --><a><!----></a><!--<b>-->",
        "<?p?><a><?p <x> ?></a><?p q?>", "<!DOCTYPE a><a/>", "<!DOCTYPE a SYSTEM \"x'y.dtd\" ><a/>",
        "<!DOCTYPE a PUBLIC '-//X//Y' \"http://example.com/\"><a/>", "\u{FEFF}<a/>", "<a>\u{10000}</a>",
    ]

    static let broken = [
        "", " ", "x", "<", "<a", "<a>", "<a/", "<a><b></a>", "<a></b>", "<a/><b/>", "<a/>x", "</a>", "x<a/>",
        "<a b/>", "<a b=c/>", "<a b='c/>", "<a b='1' b='2'/>", "<a b='1'c='2'/>", "<a b='<'/>", "<a b='&'/>",
        "<1a/>", "<-a/>", "< a/>", "<a ×='1'/>", "<a><b</a>", "</ a>", "<a></ a>", "<a></a b='c'>",
        "<a>&</a>", "<a>&amp</a>", "<a>&nope;</a>", "<a>&#0;</a>", "<a>&#;</a>", "<a>&#x;</a>", "<a>&#xD800;</a>",
        "<a>&#X41;</a>", "<a>&#1A;</a>", "<a>&#x110000;</a>", "<a>&#-5;</a>", "<a>]]></a>", "<a>\u{1}</a>",
        "<a>\u{FFFE}</a>", "<a>\u{0}</a>", "<a><![CDATA[x</a>", "<a><![cdata[x]]></a>", "<![CDATA[x]]><a/>",
        "<!-- -- --><a/>", "<!-- --->", "<a><!-- </a>", "<!--->", "<?p", "<? p?><a/>", "<?xml?><a/>",
        " <?xml version='1.0'?><a/>", "<?XML version='1.0'?><a/>", "<?xml encoding='utf-8'?><a/>",
        "<?xml version='1.0' standalone='no' encoding='utf-8'?><a/>", "<?xml version='1.0' standalone='x'?><a/>",
        "<?xml version='1.0' version='1.0'?><a/>", "<?xml version='1.0'><a/>", "<?xml version='1.0' encoding=''?><a/>",
        "<!DOCTYPE><a/>", "<!DOCTYPE a", "<!DOCTYPE a PUBLIC 'x'><a/>", "<!DOCTYPE a 'x'><a/>",
        "<a/><!DOCTYPE a>", "<!DOCTYPE a><!DOCTYPE a><a/>", "<!doctype a><a/>", "<a><!DOCTYPE a></a>", "<a><!b></a>",
    ]

    @Test(arguments: XMLScannerTests.wellFormed) func `a well-formed document passes`(document: String) {
        #expect(self.problem(document) == nil)
    }

    @Test(arguments: XMLScannerTests.broken) func `a broken document does not`(document: String) {
        #expect(self.problem(document) != nil)
    }

    @Test func `another parser draws the same line`() throws {
        let folder = try TemporaryFolder()
        let all = Self.wellFormed + Self.broken
        for (index, document) in all.enumerated() { try folder.write(document, to: "\(index)") }
        let script = """
            import sys, xml.parsers.expat
            for index in range(int(sys.argv[1])):
                try:
                    xml.parsers.expat.ParserCreate().Parse(open(str(index), 'rb').read(), True)
                    sys.stdout.write('yes' + chr(10))
                except xml.parsers.expat.ExpatError:
                    sys.stdout.write('no' + chr(10))
            """
        let child = try ChildProcess("/usr/bin/python3", ["-c", script, "\(all.count)"], folder: folder.path)
        #expect(try child.waitForExit() == 0, "\(child.errors)")
        for (document, verdict) in zip(all, child.output) where (self.problem(document) == nil) != (verdict == "yes") {
            Issue.record("\(document.debugDescription): the other parser says \(verdict)")
        }
        #expect(child.output.count == all.count)
    }

    /// Expat refuses these: its names are those of the Fourth Edition, which lists the letters of Unicode 2.0.
    @Test(arguments: ["ក", "ሀ", "Ꭰ", "㐀", "ⰰ", "𐎀", "𠀀", "a‿", "a\u{EFFFF}"])
    func `a name may have every letter of the Fifth Edition`(name: String) {
        #expect(self.problem("<\(name) \(name)='1'><\(name)/></\(name)>") == nil)
    }

    @Test(arguments: ["×", "÷", "\u{37E}", "\u{2190}", "\u{3000}", "\u{E000}", "\u{F0000}", "\u{B7}", "\u{300}"])
    func `a name begins with none of the other characters`(name: String) {
        #expect(self.problem("<\(name)/>") == "line 1, column 2: the name of an element is due")
    }

    @Test(arguments: [
        "<!ENTITY x 'y'>", "<!ENTITY x SYSTEM 'file:///etc/passwd'>", "<!ENTITY % x SYSTEM 'x'> %x;",
        "<!NOTATION g SYSTEM 'g'><!ENTITY x SYSTEM 'f' NDATA g>", "<!ATTLIST a b CDATA 'c'>", "",
    ]) func `declarations of a document's own are refused`(declarations: String) {
        #expect(
            self.problem("<!DOCTYPE a [\(declarations)]><a/>")
                == "line 1, column 13: declarations of its own, which can define entities and are not accepted")
        #expect(self.problem("<!DOCTYPE a SYSTEM 'x' [\(declarations)]><a/>") != nil)
    }

    @Test func `entities do not hide behind another encoding`() throws {
        let document = "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>"
        for name in ["utf-16", "utf-16le", "utf-16be", "utf-32"] {
            #expect(self.problem(try TextEncoding(name).encode(document))?.contains("define entities") == true)
            #expect(self.problem(try TextEncoding(name).encode("<a>é</a>")) == nil)
        }
        let disguised =
            "<?xml version='1.0' encoding='UTF-7'?>+ADwAIQ-DOCTYPE a +AFs-+ADwAIQ-ENTITY x 'y'+AD4AXQ-+AD4-<a/>"
        #expect(self.problem(disguised) != nil)
    }

    @Test func `a declared encoding is the document's`() throws {
        let latin = bytes("<?xml version='1.0' encoding='iso-8859-1'?><a>") + [0xE9] + bytes("</a>")
        #expect(self.problem(latin) == nil)
        #expect(self.problem(bytes("<a>") + [0xE9] + bytes("</a>")) == "line 1, column 4: a byte that is not UTF-8")
        #expect(
            self.problem("<?xml version='1.0' encoding='us-ascii'?><a>é</a>")
                == "line 1, column 45: a byte that is not us-ascii")
        for name in ["utf-16", "nonsense", "UTF-7"] {
            #expect(
                self.problem("<?xml version='1.0' encoding='\(name)'?><a/>")
                    == "line 1, column 1: the declared encoding is not the document's, or is not known")
        }
        #expect(self.problem([0xFF, 0xFE, 0x3C]) == "line 1, column 1: this is no valid UTF-16 or UTF-32")
    }

    @Test func `errors say where and what`() {
        #expect(self.problem("<a>\n <b></a>") == "line 2, column 5: “</a>” where “</b>” is due")
        #expect(self.problem("<a>\n") == "line 2, column 1: the end, while “a” is open")
        #expect(self.problem("<a b='1'\nb='2'/>") == "line 2, column 1: a second attribute “b”")
        #expect(self.problem("<a>&x;</a>") == "line 1, column 4: “&x;” is not declared")
    }

    @Test func `depth is limited and costs no stack`() throws {
        let document = { String(repeating: "<a>", count: $0) + String(repeating: "</a>", count: $0) }
        #expect(self.problem(document(512)) == nil)
        #expect(self.problem(document(513)) == "line 1, column 1540: more than 512 levels of elements")
        try XMLScanner(nestingLimit: .max).validate(bytes(document(200_000)))
    }

    @Test func `what is cut off is never whole`() {
        let document = bytes("<?xml version='1.0'?><!DOCTYPE a><!--c--><a b='&lt;'>é<![CDATA[d]]><?p q?></a>")
        #expect(self.problem(document) == nil)
        for count in 0..<document.count { #expect(self.problem(Array(document[..<count])) != nil, "\(count) bytes") }
    }

    @Test func `no bytes make it trap`() {
        var random = SeededGenerator(seed: 7)
        let document = bytes("<?xml version='1.0'?><!DOCTYPE a SYSTEM 'x'><a b='&#10;'>é<![CDATA[d]]><?p q?></a>")
        for _ in 0..<3000 {
            var mutated = document
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                mutated[Int.random(in: 0..<mutated.count, using: &random)] = .random(in: .min ... .max, using: &random)
            }
            _ = self.problem(mutated)
        }
    }
}
