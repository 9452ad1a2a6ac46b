// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleMessage
import PintleSerialization
import Testing

@Suite struct ResponseSerializerTests {
    private struct Order: Decodable, Sendable, Equatable {
        var id: Int
        var tags: [String]?
    }

    @Test func `RSP-15 the HTTP serializer gives the body, or the error alone`() throws {
        let serializer = HTTPResponseSerializer()
        #expect(try violation(serializer, response(200, "text/html"), "x") == nil)
        #expect(try serializer.decode(response(200), body: bytes("x"), requestMethod: "GET") == bytes("x"))
        #expect(try violation(serializer, response(404), "x")?.kind == .responseStatus)
        let encoded = ResponseHead(status: 200, fields: ["Content-Encoding": "gzip"])
        #expect(try serializer.decode(encoded, body: [1], requestMethod: "GET") == [1])
        var strict = HTTPResponseSerializer(contract: .json)
        strict.contract.body = .json(.init(removesNulls: true))
        let head = response(200, "text/json")
        #expect(try strict.decode(head, body: bytes("[null]"), requestMethod: "GET") == bytes("[]"))
    }

    @Test func `JRS-02 JRS-15 the JSON serializer reads values, without nulls where asked`() throws {
        let head = response(200, "application/json; charset=utf-8")
        let body = bytes(#"{"b":[1,null],"a":1.5}"#)
        var serializer = JSONResponseSerializer()
        #expect(
            try serializer.decode(head, body: body, requestMethod: "GET") == ["b": .array([1, .null]), "a": 1.5])
        serializer.rule.removesNulls = true
        #expect(try serializer.decode(head, body: body, requestMethod: "GET") == ["b": [1], "a": 1.5])
        #expect(serializer.contract.body == .json(.init(removesNulls: true)))
    }

    @Test func `TDL-20 JRS-04 JRS-05 nothing is nil and no error`() throws {
        let json = JSONResponseSerializer()
        #expect(try json.decode(response(204), body: [], requestMethod: "GET") == nil)
        #expect(try json.decode(response(204, "text/html"), body: [], requestMethod: "GET") == nil)
        let head = response(200, "application/json")
        #expect(try json.decode(head, body: [], requestMethod: "GET") == nil)
        #expect(try json.decode(head, body: bytes(" "), requestMethod: "GET") == nil)
        #expect(try json.decode(head, body: [], requestMethod: "HEAD") == nil)
    }

    @Test(arguments: [(204, ""), (200, ""), (200, " ")])
    func `a type that is decoded is there, or nil where it is optional, or it is an error`(
        status: UInt16, body: String
    ) throws {
        let head = response(status, "application/json")
        let error = try violation(DecodableResponseSerializer(Order.self), head, body)
        #expect(error?.kind == .responseBody)
        #expect(error?.message == "Request failed: there is no JSON in the response (\(status))")
        let optional = DecodableResponseSerializer(Order?.self)
        #expect(try optional.decode(head, body: bytes(body), requestMethod: "GET") == nil)
        let there = try optional.decode(
            response(200, "application/json"), body: bytes(#"{"id":1}"#), requestMethod: "GET")
        #expect(there == Order(id: 1))
    }

    @Test func `JRS-07 JRS-08 JRS-09 errors of status, type and body are told in their order`() throws {
        let json = JSONResponseSerializer()
        #expect(try violation(json, response(500, "text/json"), "{}")?.chain.map(\.kind) == [.responseStatus])
        #expect(
            try violation(json, response(500, "text/json"), "{")?.chain.map(\.kind)
                == [.responseBody, .responseStatus])
        #expect(
            try violation(json, response(500, "text/html"), "{")?.chain.map(\.kind)
                == [.responseStatus, .responseContentType])
    }

    @Test func `a type of the program is decoded and its problems have a path`() throws {
        let head = response(200, "application/json")
        let serializer = DecodableResponseSerializer([Order].self)
        let value = try serializer.decode(head, body: bytes(#"[{"id":1,"tags":["a"]},{"id":2}]"#), requestMethod: "GET")
        #expect(value == [Order(id: 1, tags: ["a"]), Order(id: 2)])
        let start = "Request failed: the JSON is not what is expected: "
        let missing = try violation(serializer, head, #"[{"id":1},{}]"#)
        #expect(missing?.kind == .responseBody)
        #expect(missing?.message == start + "[1]: there is no “id”")
        let wrong = try violation(serializer, head, #"[{"id":1,"tags":[5]}]"#)
        #expect(wrong?.message.hasPrefix(start + "[0].tags[0]: ") == true)
        #expect(try violation(serializer, head, "{")?.message.hasPrefix("Request failed: invalid JSON: ") == true)
    }

    @Test func `a decoder has the settings that it was made with`() throws {
        struct Event: Decodable, Sendable {
            var at: Date
        }
        let serializer = DecodableResponseSerializer(Event.self) {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            return decoder
        }
        let event = try serializer.decode(
            response(200, "text/json"), body: bytes(#"{"at":5}"#), requestMethod: "GET")
        #expect(event.at == Date(timeIntervalSince1970: 5))
    }

    @Test(arguments: ["application/xml", "text/xml"])
    func `LOOK-57 XMD-01 good XML of an accepted type is handed out, and what is broken or of another type is not`(
        type: String
    ) throws {
        let serializer = XMLResponseSerializer()
        let document = bytes("<?xml version=\"1.0\"?><foo><bar/>text</foo>")
        #expect(try serializer.decode(response(200, type), body: document, requestMethod: "GET") == document)
        #expect(try violation(serializer, response(200, type), "<foo")?.kind == .responseBody)
        let other = try violation(serializer, response(200, "nonstandard/xml"), "<foo/>")
        #expect(other?.chain.map(\.kind) == [.responseContentType])
    }

    @Test func `LOOK-57 XMP-05 a copy of an XML serializer keeps statuses and types`() throws {
        var serializer = XMLResponseSerializer()
        serializer.acceptableStatusCodes = [201...201]
        serializer.acceptableContentTypes = ["a/b"]
        let copy = serializer
        serializer.acceptableStatusCodes = nil
        serializer.acceptableContentTypes = nil
        #expect(copy.contract.acceptableStatusCodes == [201...201] && copy.contract.acceptableContentTypes == ["a/b"])
        #expect(try violation(copy, response(200, "a/b"), "<a/>")?.kind == .responseStatus)
        #expect(try violation(serializer, response(500, "c/d"), "<a/>") == nil)
    }

    @Test(arguments: ["application/xml", "text/xml"])
    func `XMP-01 XML types are accepted and others are not`(type: String) throws {
        let serializer = XMLResponseSerializer()
        let body = bytes("<a/>")
        #expect(try serializer.decode(response(200, type), body: body, requestMethod: "GET") == body)
        #expect(try violation(serializer, response(200, "nonstandard/xml"), "<a/>")?.kind == .responseContentType)
    }

    @Test func `XMP-03 XMD-02 broken or empty XML is a violation where there can be a body`() throws {
        let serializer = XMLResponseSerializer()
        let head = response(200, "text/xml")
        let error = try violation(serializer, head, "<foo")
        #expect(error?.kind == .responseBody)
        #expect(error?.message == "Request failed: invalid XML: line 1, column 5: “>”, “/>” or white space is due")
        #expect(try violation(serializer, head, "")?.kind == .responseBody)
        #expect(try serializer.decode(response(204), body: [], requestMethod: "GET") == nil)
        #expect(try serializer.decode(head, body: [], requestMethod: "HEAD") == nil)
    }

    @Test func `XMP-04 a wrong status with good XML is the status alone`() throws {
        let error = try violation(XMLResponseSerializer(), response(500, "text/xml"), "<a/>")
        #expect(error?.chain.map(\.kind) == [.responseStatus])
    }

    @Test func `CMP-01 the first member that takes the response wins`() throws {
        let json = JSONResponseSerializer().map { $0 ?? .null }
        let xml = XMLResponseSerializer().map { _ in Parameter.string("xml") }
        let compound = CompoundResponseSerializer([xml, json])
        let decode = { (type: String, body: String) in
            try compound.decode(response(200, type), body: bytes(body), requestMethod: "GET")
        }
        #expect(try decode("application/json", #"{"a":1}"#) == .value(["a": 1]))
        #expect(try decode("text/xml", "<a/>") == .value("xml"))
    }

    @Test func `CMP-04 CMP-05 CMP-08 what nobody takes is the body as it is`() throws {
        let json = JSONResponseSerializer()
        for members: [any ResponseSerializer<Parameter?>] in [[json], []] {
            let compound = CompoundResponseSerializer(members)
            #expect(
                try compound.decode(response(200, "text/plain"), body: bytes("x"), requestMethod: "GET")
                    == .bytes(bytes("x")))
            #expect(
                try compound.decode(response(200, "text/json"), body: bytes("{"), requestMethod: "GET")
                    == .bytes(bytes("{")))
        }
    }

    @Test func `CMP-03 CMP-06 a wrong status is an error whoever could read the body`() throws {
        let compound = CompoundResponseSerializer([JSONResponseSerializer()])
        #expect(try violation(compound, response(500, "text/plain"), "x")?.chain.map(\.kind) == [.responseStatus])
        #expect(try violation(compound, response(500, "text/json"), "{}")?.chain.map(\.kind) == [.responseStatus])
    }

    @Test func `CMP-07 members behind one that takes everything are never asked`() throws {
        let bytesFirst = CompoundResponseSerializer([
            HTTPResponseSerializer().map { _ in "bytes" }, JSONResponseSerializer().map { _ in "JSON" },
        ])
        #expect(
            try bytesFirst.decode(response(200, "text/json"), body: bytes("{}"), requestMethod: "GET")
                == .value("bytes"))
    }

    @Test func `LOOK-57 CMP-07 a member that finds the body broken does not win`() throws {
        let compound = CompoundResponseSerializer([
            XMLResponseSerializer().map { _ in "XML" }, HTTPResponseSerializer().map { _ in "bytes" },
        ])
        let head = response(200, "text/xml")
        #expect(try compound.decode(head, body: bytes("<a/>"), requestMethod: "GET") == .value("XML"))
        #expect(try compound.decode(head, body: bytes("<a"), requestMethod: "GET") == .value("bytes"))
        #expect(try violation(compound, response(500, "text/xml"), "<a/>")?.chain.map(\.kind) == [.responseStatus])
    }

    @Test func `RSP-17 JRS-20 CMP-09 copies are equal and then independent`() {
        var json = JSONResponseSerializer(rule: .init(removesNulls: true))
        let copy = json
        #expect(copy == json)
        json.acceptableContentTypes = nil
        #expect(copy != json)
        #expect(copy.contract.acceptableContentTypes == ResponseContract.jsonTypes)
        var compound = CompoundResponseSerializer([json], contract: .json)
        let other = compound
        compound.contract.acceptableStatusCodes = nil
        #expect(other.contract == .json)
        #expect(other.members.count == 1)
    }

    @Test func `rules that no empty body keeps see the whole body`() {
        let empty = ResponseHead(status: 200, fields: ["Content-Length": "0"])
        for rule in [ResponseContract.BodyRule.xml(XMLScanner()), .propertyList] {
            let contract = ResponseContract(body: rule)
            #expect(contract.bodyNeed(for: empty, requestMethod: "GET") == .whole)
            #expect(contract.bodyNeed(for: response(200), requestMethod: "GET") == .whole)
            #expect(contract.bodyNeed(for: response(204), requestMethod: "GET") == .nothing)
            #expect(contract.bodyNeed(for: response(200), requestMethod: "HEAD") == .nothing)
        }
        #expect(ResponseContract.json.bodyNeed(for: empty, requestMethod: "GET") == .nothing)
    }
}

/// Returns the error that a serializer throws for a response; nil if it throws none.
func violation(
    _ serializer: some ResponseSerializer, _ head: ResponseHead, _ body: String, method: String = "GET"
) throws -> ValidationError? {
    do throws(ValidationError) {
        _ = try serializer.decode(head, body: bytes(body), requestMethod: method)
        return nil
    } catch {
        return error
    }
}
