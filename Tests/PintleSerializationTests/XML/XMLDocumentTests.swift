// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import PintleTesting
import Testing

struct XMLDocumentTests {
    private static let feed = """
        <!-- a feed -->
        <feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="urn:more">
          <title>News &amp; <![CDATA[<more>]]></title>
          <entry m:id="1" id="2"><title>One<!-- no -->!</title><m:title>1</m:title></entry>
          <entry><title/><part><title>Two</title></part></entry>
        </feed><?end?>
        """

    private let document: XMLDocument

    init() throws { self.document = try XMLDocument(bytes(Self.feed)) }

    // MARK: Looking up

    @Test func `XMD-01 a document is a tree from its root on`() {
        let root = self.document.root
        #expect(root.name == XMLName("feed", namespace: "http://www.w3.org/2005/Atom") && root.parent == nil)
        #expect(
            Array(self.document.children) == [
                .comment(" a feed "), .element(root), .instruction(target: "end", content: ""),
            ])
        #expect(root.elements().map(\.name.local) == ["title", "entry", "entry"])
        #expect(root.elements().allSatisfy { $0.parent == root })
        #expect(Array(root.children).count == 7 && root.children.first { _ in true } == .text("\n  "))
        #expect(root.element("title")?.children.map(\.self) == [.text("News & "), .section("<more>")])
    }

    @Test func `elements are found by name and namespace`() throws {
        let root = self.document.root
        #expect(root.elements("entry").count == 2 && root.elements("entry", namespace: "").isEmpty)
        let entry = try #require(root.element("entry"))
        #expect(entry.elements("title").map(\.text) == ["One!", "1"])
        #expect(entry.element("title", namespace: "urn:more")?.text == "1")
        #expect(entry.element("none") == nil)
        #expect(root.descendants("title").map(\.text) == ["News & <more>", "One!", "1", "", "Two"])
        #expect(root.descendants("title", namespace: "urn:more").count == 1)
        #expect(entry.descendants().map(\.name.qualified) == ["title", "m:title"])
    }

    @Test(arguments: [
        ("title", ["News & <more>"]), ("entry/title", ["One!", "1", ""]), ("entry/part/title", ["Two"]),
        ("*/title", ["One!", "1", ""]), ("entry/*/title", ["Two"]), ("none/title", []), ("/entry//part/", ["Two"]),
        ("feed", []),
    ])
    func `elements are found by path`(path: String, texts: [String]) {
        #expect(self.document.root.elements(at: path).map(\.text) == texts)
        #expect(self.document.root.element(at: path)?.text == texts.first)
    }

    @Test func `a path may be bound to a namespace, and an empty one leads nowhere else`() {
        let root = self.document.root
        #expect(root.elements(at: "entry/title", namespace: root.name.namespace).map(\.text) == ["One!", ""])
        #expect(root.elements(at: "") == [root])
    }

    @Test func `attributes are in order, and found with or without namespace`() throws {
        let entry = try #require(self.document.root.element("entry"))
        #expect(
            entry.attributes.map(\.name.qualified) == ["m:id", "id"] && entry.attributes.map(\.value) == ["1", "2"])
        #expect(entry["id"] == "2" && entry["id", namespace: "urn:more"] == "1" && entry["id", namespace: nil] == "1")
        #expect(entry["none"] == nil && entry["m:id"] == nil)
    }

    @Test func `an element keeps its document`() throws {
        let elements = try (0..<3).map { try XMLDocument(bytes("<a><b c='\($0)'>text \($0)</b></a>")).root }
        for (number, root) in elements.enumerated() {
            #expect(root.element("b")?["c"] == "\(number)" && root.text == "text \(number)")
        }
        #expect(
            elements[0] != elements[1] && Set(elements).count == 3 && elements[0] == elements[0].element("b")?.parent)
    }

    // MARK: Limits

    @Test func `nodes and attributes are limited`() throws {
        let limits = XMLDocument.Limits(nodes: 6, attributes: 2)
        _ = try XMLDocument(bytes("<a b='' c=''><d/>e<!--f--></a>"), limits: limits)
        for more in ["<a b='' c=''><d/>e<!--f-->g</a>", "<a b='' c=''><d x=''/>e<!--f--></a>"] {
            let error = #expect(throws: XMLSyntaxError.self) { _ = try XMLDocument(bytes(more), limits: limits) }
            #expect(error?.problem == "more than 6 nodes")
        }
        let error = #expect(throws: XMLSyntaxError.self) {
            _ = try XMLDocument(bytes("<a b='' c='' d=''/>"), limits: limits)
        }
        #expect(error?.description == "line 1, column 14: more than 2 attributes")
        var reader = try XMLReader(bytes("<a b='' c=''/>"), attributeLimit: 1)
        #expect(throws: XMLSyntaxError.self) { _ = try reader.next() }
    }

    @Test func `names that differ are limited`() throws {
        let document = { (count: Int) in "<a>\((1..<count).map { "<b\($0)/>" }.joined())</a>" }
        #expect(xmlProblem(document(65_536)) == nil)
        #expect(xmlProblem(document(65_537))?.hasSuffix("more than 65536 different names") == true)
    }

    @Test func `depth costs no stack, in the reader and in the tree, nor when they go`() throws {
        let depth = 100_000
        let text = String(repeating: "<a>", count: depth) + "x" + String(repeating: "</a>", count: depth)
        let document = try XMLDocument(bytes(text), scanner: XMLScanner(nestingLimit: .max))
        #expect(document.root.text == "x" && document.root.descendants("a").count == depth - 1)
        var innermost: XMLElement? = document.root
        var levels = 0
        while let element = innermost {
            levels += 1
            innermost = element.element("a")
        }
        #expect(levels == depth)
        var reader = try XMLReader(bytes(text), scanner: XMLScanner(nestingLimit: .max))
        var count = 0
        while try reader.next() != nil { count += 1 }
        #expect(count == 2 * depth + 1)
    }

    @Test func `prefixes in force cost nothing where they are not used`() throws {
        let declarations = (0..<20_000).map { " xmlns:p\($0)='urn:\($0)'" }.joined()
        let content = String(repeating: "<p19999:b p0:x='1' p1:x='2'/>", count: 20_000)
        let document = try XMLDocument(
            bytes("<a\(declarations)>\(content)</a>"), limits: XMLDocument.Limits(attributes: 20_000))
        #expect(document.root.elements("b", namespace: "urn:19999").count == 20_000)
    }

    @Test func `a document that is one long text, value or comment is read in one pass`() throws {
        let long = String(repeating: "&amp;\r\n", count: 200_000)
        let expected = String(repeating: "&\n", count: 200_000)
        #expect(try XMLDocument(bytes("<a>\(long)</a>")).root.text == expected)
        #expect(try XMLDocument(bytes("<a b='\(long)'/>")).root["b"]?.utf8.count == 400_000)
        let dashes = String(repeating: "- ", count: 200_000)
        #expect(try XMLDocument(bytes("<a><!--\(dashes)--></a>")).root.children.map(\.self) == [.comment(dashes)])
        let brackets = String(repeating: "]", count: 400_000)
        #expect(try XMLDocument(bytes("<a><![CDATA[\(brackets)]]></a>")).root.text == brackets)
    }

    @Test func `no bytes make a tree trap`() {
        var random = SeededGenerator(seed: 12)
        for _ in 0..<4_000 {
            var document = bytes(Self.feed)
            for _ in 0..<Int.random(in: 1...3, using: &random) { Mutation.xml.apply(to: &document, &random) }
            guard let tree = try? XMLDocument(document) else { continue }
            #expect(events(of: tree).isEmpty == false)
        }
    }
}
