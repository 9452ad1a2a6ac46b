// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import Testing

/// Wants a key in every document, and says it as often as told.
private struct WantsKey: JSONDocumentRule {
    var key: String
    var times = 1

    func violations(of document: Parameter) -> [String] {
        guard case .dictionary(let entries) = document, entries.contains(where: { $0.key == self.key }) else {
            return (1...self.times).map { "at /\($0): \(self.key) is missing" }
        }
        return []
    }
}

@Suite struct BodyRuleTests {
    private let compound = ResponseContract.BodyRule.compound([.json(.init()), .propertyList])

    private func violation(_ rule: ResponseContract.BodyRule, _ body: String, status: UInt16 = 200) -> ValidationError?
    {
        do throws(ValidationError) {
            _ = try ResponseContract(body: rule).validate(
                head: response(status, "a/b"), body: bytes(body), requestMethod: "GET")
            return nil
        } catch {
            return error
        }
    }

    // MARK: Documents

    @Test func `a document rule sees the document`() {
        let rule = ResponseContract.BodyRule.json(.init(document: WantsKey(key: "id")))
        #expect(self.violation(rule, #"{"id":1}"#) == nil)
        let error = self.violation(rule, #"{"ID":1}"#)
        #expect(error?.kind == .responseBody)
        #expect(error?.message == "Request failed: unacceptable JSON: at /1: id is missing")
        #expect(error?.details == ["at /1: id is missing"])
        #expect(self.violation(rule, "{")?.message.hasPrefix("Request failed: invalid JSON: ") == true)
        // The empty or blank bodies that services send for no value are no documents.
        #expect(self.violation(rule, " ")?.kind == .responseBody && self.violation(rule, "")?.kind == .responseBody)
    }

    @Test func `a document rule sees no null that is taken out`() throws {
        let rule = ResponseContract.JSONRule(removesNulls: true, document: WantsKey(key: "id"))
        #expect(self.violation(.json(rule), #"{"id":null}"#)?.kind == .responseBody)
        let checked = try ResponseContract(body: .json(rule)).validate(
            head: response(200), body: bytes(#"{"id":1,"a":null}"#), requestMethod: "GET")
        #expect(checked.replacement == bytes(#"{"id":1}"#))
        let serializer = JSONResponseSerializer(rule: rule)
        #expect(
            try violationOf(serializer, #"{"a":1}"#)?.message
                == "Request failed: unacceptable JSON: at /1: id is missing")
        #expect(
            try serializer.decode(response(200, "text/json"), body: bytes(#"{"id":2,"a":null}"#), requestMethod: "GET")
                == ["id": 2])
    }

    private func violationOf(_ serializer: some ResponseSerializer, _ body: String) throws -> ValidationError? {
        try PintleSerializationTests.violation(serializer, response(200, "text/json"), body)
    }

    @Test func `of many violations three are in the message and all in the details`() {
        let rule = ResponseContract.BodyRule.json(.init(document: WantsKey(key: "id", times: 5)))
        let error = self.violation(rule, "[]", status: 500)
        #expect(
            error?.message
                == "Request failed: unacceptable JSON: at /1: id is missing; at /2: id is missing; at /3: id is missing; and 2 more"
        )
        #expect(error?.details.count == 5)
        #expect(error?.underlying?.kind == .responseStatus && error?.underlying?.details == [])
    }

    @Test func `JSON rules are equal when all that they ask is`() {
        struct Other: JSONDocumentRule {
            func violations(of document: Parameter) -> [String] { [] }
        }
        let rule = ResponseContract.JSONRule(document: WantsKey(key: "id"))
        #expect(rule == ResponseContract.JSONRule(document: WantsKey(key: "id")))
        #expect(rule != ResponseContract.JSONRule(document: WantsKey(key: "x")))
        #expect(rule != ResponseContract.JSONRule(document: Other()))
        #expect(rule != ResponseContract.JSONRule())
        #expect(ResponseContract.JSONRule(removesNulls: true) != ResponseContract.JSONRule())
    }

    // MARK: Compounds

    @Test func `the first rule that takes the body decides`() throws {
        let list = #"<?xml version="1.0"?><plist version="1.0"><array/></plist>"#
        #expect(self.violation(self.compound, "{}") == nil)
        #expect(self.violation(self.compound, list) == nil)
        #expect(self.violation(self.compound, "") == nil)
        let nulls = ResponseContract.BodyRule.compound([.xml(XMLScanner()), .json(.init(removesNulls: true)), .any])
        let validate = { (body: String) in
            try ResponseContract(body: nulls).validate(head: response(200), body: bytes(body), requestMethod: "GET")
        }
        #expect(text(try validate("[null]").replacement) == "[]")
        #expect(try validate("<a/>") == CheckedBody() && validate("x") == CheckedBody())
    }

    @Test func `what no rule takes says why for each`() {
        let error = self.violation(self.compound, "x", status: 404)
        #expect(error?.chain.map(\.kind) == [.responseBody, .responseStatus])
        let json = "invalid JSON: line 1, column 1 (byte 0): expected “{” or “[”, found “x”"
        #expect(error?.details.count == 2 && error?.details.first == json)
        #expect(error?.details.last?.hasPrefix("invalid property list: ") == true)
        #expect(
            error?.message
                == "Request failed: no rule of the list takes the body: \(error?.details.joined(separator: "; ") ?? "")"
        )
        #expect(
            self.violation(.compound([]), "{}")?.message
                == "Request failed: the list of rules is empty, so no body passes")
        #expect(self.violation(.compound([.compound([.propertyList]), .xml(XMLScanner())]), "x")?.details.count == 2)
    }

    @Test func `a compound rule has the media types of its rules`() {
        #expect(self.compound.mediaTypes == ResponseContract.jsonTypes.union(ResponseContract.propertyListTypes))
        #expect(ResponseContract.BodyRule.xml(XMLScanner()).mediaTypes == ResponseContract.xmlTypes)
        #expect(ResponseContract.BodyRule.compound([self.compound, .any]).mediaTypes == nil)
        #expect(ResponseContract.BodyRule.compound([]).mediaTypes == [])
    }

    @Test func `a compound rule reads and replaces what one of its rules does`() {
        #expect(self.compound.readsBody && !self.compound.replacesBodies)
        #expect(ResponseContract.BodyRule.compound([self.compound, .json(.init(removesNulls: true))]).replacesBodies)
        #expect(!ResponseContract.BodyRule.any.readsBody)
        let empty = ResponseHead(status: 200, fields: ["Content-Length": "0"])
        let need = { (rule: ResponseContract.BodyRule) in
            ResponseContract(body: rule).bodyNeed(for: empty, requestMethod: "GET")
        }
        #expect(need(self.compound) == .nothing && need(.compound([.propertyList])) == .whole)
    }

    // MARK: Media types

    @Test(
        arguments: [
            ("application/problem+json", true), ("Application/VND.api+JSON; a=\"+xml\"", true), ("image/svg+xml", true),
            ("application/+json", false), ("application/json+x", false), ("+json", false),
            ("application/x+plist", false),
            ("text/html", false), ("application/json", true),
        ])
    func `structured suffixes count only when asked`(type: String, isStructured: Bool) {
        var contract = ResponseContract(acceptableContentTypes: ["application/json", "text/xml"])
        let head = response(200, type)
        #expect((contract.validateHead(head, requestMethod: "GET") == nil) == (type == "application/json"))
        contract.acceptsStructuredSuffixes = true
        #expect((contract.validateHead(head, requestMethod: "GET") == nil) == isStructured)
        contract.acceptableContentTypes = ["text/plain"]
        #expect(contract.validateHead(head, requestMethod: "GET") != nil)
    }

    @Test(arguments: [
        "text/html;charset=\"utf-8\"", "text/html ; charset = utf-8", "\ttext/html\t;a=\"b;c\\\"d\";charset=utf-8",
        "text/html;", "text/html;;;charset", "TEXT/HTML; boundary=\"a, b\"", "text/html;charset=\"open",
    ])
    func `RSP-07 whatever follows a type does not count`(type: String) {
        let contract = ResponseContract(acceptableContentTypes: ["text/html"])
        #expect(contract.validateHead(response(200, type), requestMethod: "GET") == nil)
    }

    @Test(
        arguments: [
            ("text/plain; charset=\"iso-8859-1\"", "iso-8859-1"),
            ("text/plain;a=\";charset=x\";Charset=iso-8859-1", "iso-8859-1"),
            ("text/plain; charset=\"iso\\-8859-1\"", "iso-8859-1"),
            ("text/plain; a=\"\\\";charset=iso-8859-1\"", "utf-8"),
        ])
    func `the charset is read around quotes`(type: String, name: String) throws {
        let fields: Fields = ["Content-Type": type]
        #expect(fields.textEncoding == (try TextEncoding(name)))
    }
}
