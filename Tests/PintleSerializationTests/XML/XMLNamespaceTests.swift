// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import Testing

/// Names with prefixes (Namespaces in XML 1.0).
struct XMLNamespaceTests {
    private static let xml = "http://www.w3.org/XML/1998/namespace"
    private static let xmlns = "http://www.w3.org/2000/xmlns/"

    private func names(_ document: String) throws -> [XMLName] {
        try events(document).compactMap { if case .start(let name, _) = $0 { name } else { nil } }
    }

    @Test func `a prefix stands for what the innermost element says`() throws {
        let document = "<p:a xmlns:p='urn:1'><p:b xmlns:p='urn:2'><p:c/></p:b><p:d/></p:a>"
        #expect(
            try self.names(document) == [
                XMLName(prefix: "p", "a", namespace: "urn:1"), XMLName(prefix: "p", "b", namespace: "urn:2"),
                XMLName(prefix: "p", "c", namespace: "urn:2"), XMLName(prefix: "p", "d", namespace: "urn:1"),
            ])
    }

    @Test func `names without prefix are in the default namespace, attributes are not`() throws {
        let root = try XMLDocument(bytes("<a xmlns='urn:1' x='1'><b xmlns=''><c/></b><d/></a>")).root
        #expect(root.name.namespace == "urn:1" && root.attributes.map(\.name.namespace) == [Self.xmlns, ""])
        #expect(root.element("b")?.name.namespace == "" && root.element(at: "b/c")?.name.namespace == "")
        #expect(root.element("d")?.name.namespace == "urn:1")
    }

    @Test func `the prefixes of XML itself need no declaration`() throws {
        let root = try XMLDocument(bytes("<a xml:lang='de' xmlns:xml='\(Self.xml)' xmlns:p='urn:1'/>")).root
        #expect(root["lang", namespace: Self.xml] == "de")
        #expect(root["p", namespace: Self.xmlns] == "urn:1")
        #expect(root.attributes.map(\.name.qualified) == ["xml:lang", "xmlns:xml", "xmlns:p"])
    }

    @Test func `a URI is what its value means`() throws {
        let document = "<a xmlns='x&amp;&#x79;\tz'/>"
        #expect(try self.names(document) == [XMLName("a", namespace: "x&y z")])
    }

    @Test(arguments: [
        ("<p:a/>", "line 1, column 2: the prefix “p” stands for no namespace"),
        ("<a\np:b='1'/>", "line 2, column 1: the prefix “p” stands for no namespace"),
        ("<a><b xmlns:p='u'/><p:c/></a>", "line 1, column 21: the prefix “p” stands for no namespace"),
        ("<xmlns:a/>", "line 1, column 2: the prefix “xmlns” stands for no namespace"),
        ("<a xmlns:p=''/>", "line 1, column 4: the prefix “p” for no namespace"),
        ("<a xmlns:xml='u'/>", "line 1, column 4: a declaration of a prefix or a namespace that is XML's own"),
        ("<a xmlns:xmlns='u'/>", "line 1, column 4: a declaration of a prefix or a namespace that is XML's own"),
        (
            "<a xmlns:p='http://www.w3.org/2000/xmlns/'/>",
            "line 1, column 4: a declaration of a prefix or a namespace that is XML's own"
        ),
        (
            "<a xmlns='http://www.w3.org/XML/1998/namespace'/>",
            "line 1, column 4: a declaration of a prefix or a namespace that is XML's own"
        ),
        ("<:a/>", "line 1, column 2: “:a” is no name with a prefix"),
        ("<a:/>", "line 1, column 2: “a:” is no name with a prefix"),
        ("<a b:c:d=''/>", "line 1, column 4: “b:c:d” is no name with a prefix"),
        ("<a xmlns:1=''/>", "line 1, column 4: “xmlns:1” is no name with a prefix"),
        (
            "<a xmlns:p='u' xmlns:q='u' p:x='' q:x=''/>",
            "line 1, column 35: a second attribute “x” of a namespace"
        ),
    ])
    func `what breaks the rules of namespaces says where`(document: String, problem: String) {
        #expect(xmlProblem(document) == problem)
        #expect(xmlProblem(document, readsNamespaces: false) == nil)
    }

    @Test func `without namespaces names are only taken apart`() throws {
        let root = try XMLDocument(bytes("<p:a xmlns='u' q:x='1'/>"), readsNamespaces: false).root
        #expect(root.name == XMLName(prefix: "p", "a"))
        #expect(root.attributes.map(\.name) == [XMLName("xmlns"), XMLName(prefix: "q", "x")])
        #expect(root["x", namespace: nil] == "1")
    }

    @Test func `names are equal when their bytes are`() throws {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(XMLName(composed) != XMLName(decomposed) && XMLName("a") == XMLName("a"))
        #expect(Set([XMLName(composed), XMLName(decomposed), XMLName(composed)]).count == 2)
        let root = try XMLDocument(bytes("<a><\(composed)/><\(decomposed)/></a>")).root
        #expect(root.elements(composed).count == 1 && root.elements().count == 2)
    }
}
