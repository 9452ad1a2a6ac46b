// SPDX-License-Identifier: Apache-2.0

import PintleSerialization
import Testing

/// The serializers that give a tree, and a reader, of XML.
struct XMLTreeSerializerTests {
    private static let foo = bytes("<?xml version=\"1.0\"?><foo><bar/>text</foo>")

    @Test(arguments: ["application/xml", "text/xml; charset=utf-8"])
    func `XMD-01 good XML of an accepted type is a tree, and a reader`(type: String) throws {
        let tree = try XMLDocumentResponseSerializer().decode(
            response(200, type), body: Self.foo, requestMethod: "GET")
        #expect(tree?.root.name.local == "foo" && tree?.root.text == "text")
        var reader = try XMLReaderResponseSerializer().decode(
            response(200, type), body: Self.foo, requestMethod: "GET")
        #expect(try reader?.next() == .start(XMLName("foo"), []))
    }

    @Test func `XMP-01 XMD-01 other types and broken XML are violations`() throws {
        let other = response(200, "nonstandard/xml")
        #expect(try violation(XMLDocumentResponseSerializer(), other, "<a/>")?.kind == .responseContentType)
        #expect(try violation(XMLReaderResponseSerializer(), other, "<a/>")?.kind == .responseContentType)
        let head = response(200, "text/xml")
        let broken = try violation(XMLDocumentResponseSerializer(), head, "<foo")
        #expect(broken?.message == "Request failed: invalid XML: line 1, column 5: “>”, “/>” or white space is due")
        #expect(try violation(XMLReaderResponseSerializer(), head, "<foo") == broken)
        let prefix = try violation(XMLDocumentResponseSerializer(), head, "<p:foo/>")
        #expect(
            prefix?.message == "Request failed: invalid XML: line 1, column 2: the prefix “p” stands for no namespace")
        #expect(try violation(XMLDocumentResponseSerializer(readsNamespaces: false), head, "<p:foo/>") == nil)
    }

    @Test func `XMD-02 nothing is a violation where there can be a body`() throws {
        let head = response(200, "text/xml")
        let tree = XMLDocumentResponseSerializer()
        #expect(try violation(tree, head, "")?.kind == .responseBody)
        #expect(try violation(XMLReaderResponseSerializer(), head, "")?.kind == .responseBody)
        #expect(try tree.decode(response(204), body: [], requestMethod: "GET") == nil)
        #expect(try tree.decode(head, body: [], requestMethod: "HEAD") == nil)
    }

    @Test func `XMP-04 a wrong status with a good tree is the status alone`() throws {
        let error = try violation(XMLDocumentResponseSerializer(), response(500, "text/xml"), "<a/>")
        #expect(error?.chain.map(\.kind) == [.responseStatus])
        let both = try violation(XMLDocumentResponseSerializer(), response(500, "text/xml"), "<a>")
        #expect(both?.chain.map(\.kind) == [.responseBody, .responseStatus])
    }

    @Test func `XMP-05 XMD-03 copies keep statuses, types, limits and options`() throws {
        var serializer = XMLDocumentResponseSerializer(
            acceptableStatusCodes: [201...201], acceptableContentTypes: ["a/b"], scanner: XMLScanner(nestingLimit: 2),
            limits: XMLDocument.Limits(nodes: 3), readsNamespaces: false)
        let copy = serializer
        serializer.limits.nodes = 4
        serializer.readsNamespaces = true
        #expect(copy != serializer && copy.limits.nodes == 3 && !copy.readsNamespaces)
        #expect(
            copy.contract.acceptableStatusCodes == [201...201]
                && copy.contract.body == .xml(XMLScanner(nestingLimit: 2)))
        #expect(try violation(copy, response(201, "a/b"), "<a><b/><c/></a>") == nil)
        #expect(try violation(copy, response(201, "a/b"), "<a><b/><c/><d/></a>")?.kind == .responseBody)
        #expect(try violation(copy, response(201, "a/b"), "<a><b><c/></b></a>") == nil)
        #expect(try violation(copy, response(201, "a/b"), "<a><b><c></c></b></a>")?.kind == .responseBody)
        let reader = XMLReaderResponseSerializer(attributeLimit: 5)
        var other = reader
        other.attributeLimit = 6
        #expect(other != reader && reader == XMLReaderResponseSerializer(attributeLimit: 5))
    }
}
