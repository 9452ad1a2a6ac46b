// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleSerialization
import PintleTesting
import Testing

struct XMLReaderTests {
    private func name(_ local: String) -> XMLName { XMLName(local) }

    @Test func `XMP-02 a document comes part by part`() throws {
        let document = """
            <?xml version="1.0"?>
            <!-- one --><!DOCTYPE a PUBLIC '-//P' "s'.dtd" ><?go on?>
            <a x="1&lt;" y = '>/'>text&amp;<b/>
            <![CDATA[<&]]><?p?><!----></a><!--end-->
            """
        #expect(
            try events(document) == [
                .comment(" one "), .documentType(try self.type("<!DOCTYPE a PUBLIC '-//P' \"s'.dtd\"><a/>")),
                .instruction(target: "go", content: "on"),
                .start(name("a"), [XMLAttribute(name("x"), "1<"), XMLAttribute(name("y"), ">/")]),
                .text("text&"), .start(name("b"), []), .end(name("b")), .text("\n"), .section("<&"),
                .instruction(target: "p", content: ""), .comment(""), .end(name("a")), .comment("end"),
            ])
    }

    private func type(_ document: String) throws -> XMLDocumentType {
        try #require(try XMLDocument(bytes(document)).documentType)
    }

    @Test func `a document type has its name and identifiers`() throws {
        let plain = try self.type("<!DOCTYPE\na ><a/>")
        #expect(plain.name == "a" && plain.publicID == nil && plain.systemID == nil)
        let system = try self.type("<!DOCTYPE b SYSTEM ''><a/>")
        #expect(system.name == "b" && system.publicID == nil && system.systemID == "")
        let both = try self.type("<!DOCTYPE c PUBLIC \"p'\"  's\">'><a/>")
        #expect(both.name == "c" && both.publicID == "p'" && both.systemID == "s\">")
        #expect(try XMLDocument(bytes("<a/>")).documentType == nil)
    }

    @Test(arguments: [
        ("<a>\r\n\r\n\r</a>", "\n\n\n"), ("<a>&#13;&#x0D;\n</a>", "\r\r\n"),
        ("<a>&#0000000065;&#x10FFFF;</a>", "A\u{10FFFF}"),
        ("<a>&lt;&gt;&amp;&quot;&apos;</a>", "<>&\"'"), ("<a>a&amp;amp;b</a>", "a&amp;b"),
    ])
    func `references and line ends in text are replaced`(document: String, text: String) throws {
        #expect(try events(document)[1] == .text(text))
    }

    @Test func `white space in a value is spaces unless it is a reference`() throws {
        let value = try XMLDocument(bytes("<a b='\t\n\r\r\n x&#9;&#10;&#13;'/>")).root["b"]
        #expect(value == "     x\t\n\r")
    }

    @Test func `names in other encodings are read`() throws {
        let document = "<ä ö='ü'>ß</ä>"
        for name in ["utf-16", "utf-16be", "utf-32"] {
            let tree = try XMLDocument(try TextEncoding(name).encode(document))
            #expect(tree.root.name.local == "ä" && tree.root["ö"] == "ü" && tree.root.text == "ß")
        }
        let latin = bytes("<?xml version='1.0' encoding='iso-8859-1'?><a>") + [0xE9] + bytes("</a>")
        #expect(try XMLDocument(latin).root.text == "é")
    }

    @Test(arguments: [
        "<a>", "", "<a></b>", "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "<a>&x;</a>",
    ])
    func `XMP-03 a reader is of a document that is well-formed to its end`(document: String) {
        #expect(throws: XMLSyntaxError.self) { _ = try XMLReader(bytes(document)) }
        #expect(throws: XMLSyntaxError.self) { _ = try XMLDocument(bytes(document)) }
    }

    // MARK: Another parser

    /// Reads documents with expat, and tells their parts as JSON; null for those that it refuses.
    private static let script = """
        import json, sys, xml.parsers.expat
        def read(data):
            parts, held, section = [], [], [False]
            def flush():
                if section[0]: parts.append(['section', ''.join(held)])
                elif held: parts.append(['text', ''.join(held)])
                held.clear()
            def name(text):
                words = text.split(' ')
                if len(words) == 1: words = ['', words[0]]
                if len(words) == 2: words.append('')
                return words
            def add(*part):
                flush()
                parts.append(list(part))
            def cdata(begins):
                if begins: flush()
                else: flush()
                section[0] = begins
            def start(tag, attributes):
                pairs = list(zip(attributes[::2], attributes[1::2]))
                add('start', *name(tag), *[word for key, value in pairs for word in name(key) + [value]])
            parser = xml.parsers.expat.ParserCreate(namespace_separator=' ')
            parser.namespace_prefixes = True
            parser.ordered_attributes = True
            parser.StartElementHandler = start
            parser.EndElementHandler = lambda tag: add('end', *name(tag))
            parser.CharacterDataHandler = held.append
            parser.StartCdataSectionHandler = lambda: cdata(True)
            parser.EndCdataSectionHandler = lambda: cdata(False)
            parser.CommentHandler = lambda text: add('comment', text)
            parser.ProcessingInstructionHandler = lambda target, text: add('instruction', target, text)
            parser.StartDoctypeDeclHandler = lambda n, s, p, i: add('type', n, s or '-', p or '-')
            try: parser.Parse(data, True)
            except xml.parsers.expat.ExpatError: return None
            return parts
        for line in open('documents', encoding='utf-8', newline='\\n'):
            sys.stdout.write(json.dumps(read(json.loads(line).encode())) + chr(10))
        """

    private func words(_ name: XMLName) -> [String] { [name.namespace, name.local, name.prefix] }

    /// An event as the script tells it; expat tells declarations of namespaces apart.
    private func words(_ event: XMLReader.Event) -> [String] {
        switch event {
        case .documentType(let type): return ["type", type.name, type.systemID ?? "-", type.publicID ?? "-"]
        case .start(let name, let attributes):
            let own = attributes.filter { $0.name.namespace != "http://www.w3.org/2000/xmlns/" }
            return ["start"] + self.words(name) + own.flatMap { self.words($0.name) + [$0.value] }
        case .end(let name): return ["end"] + self.words(name)
        case .text(let text): return ["text", text]
        case .section(let text): return ["section", text]
        case .comment(let text): return ["comment", text]
        case .instruction(let target, let content): return ["instruction", target, content]
        }
    }

    @Test func `XMP-02 XMD-01 another parser reads the same parts, names and namespaces`() throws {
        var random = RandomXMLDocument(seed: 3)
        let documents = (0..<3_000).map { _ in random.document() }
        let folder = try TemporaryFolder()
        let encoder = JSONEncoder()
        let lines = try documents.map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }
        try folder.write(lines.joined(), to: "documents")
        let child = try ChildProcess("/usr/bin/python3", ["-c", Self.script], folder: folder.path)
        #expect(try child.waitForExit() == 0, "\(child.errors)")
        #expect(child.output.count == documents.count)
        var accepted = 0
        for (document, line) in zip(documents, child.output) {
            let theirs = try JSONDecoder().decode([[String]]?.self, from: Data(line.utf8))
            let ours = try? events(document).map { self.words($0) }
            try #require(ours == theirs, "\(document.debugDescription): \(xmlProblem(document) ?? "accepted")")
            accepted += theirs == nil ? 0 : 1
        }
        #expect((600..<2_900).contains(accepted), "\(accepted) documents were accepted")
    }

    @Test func `a tree has the parts that a reader gives`() throws {
        var random = RandomXMLDocument(seed: 4)
        for _ in 0..<2_000 {
            let document = random.document()
            for readsNamespaces in [true, false] {
                let parts = try? events(document, readsNamespaces: readsNamespaces)
                let tree = try? XMLDocument(bytes(document), readsNamespaces: readsNamespaces)
                // The tree keeps the document type apart.
                let isPart = { (event: XMLReader.Event) in if case .documentType = event { false } else { true } }
                try #require(tree.map { events(of: $0).filter(isPart) } == parts?.filter(isPart), "\(document)")
            }
        }
    }
}
