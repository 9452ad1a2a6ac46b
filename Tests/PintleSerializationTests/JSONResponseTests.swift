// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import Testing

@Suite struct JSONResponseTests {
    private func violation(_ head: ResponseHead, _ body: String, method: String = "GET") -> ValidationError? {
        do throws(ValidationError) {
            #expect(
                try ResponseContract.json.validate(head: head, body: bytes(body), requestMethod: method)
                    == CheckedBody())
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["application/json", "text/json", "text/javascript"])
    func `JRS-01 the usual types are acceptable`(type: String) {
        #expect(self.violation(response(200, type), "{}") == nil)
        #expect(self.violation(response(200, "nonstandard/json"), "{}")?.kind == .responseContentType)
    }

    @Test func `JRS-02 a dictionary passes`() {
        #expect(self.violation(response(200, "text/json"), #"{"foo": "bar"}"#) == nil)
    }

    @Test func `JRS-03 broken JSON is a violation`() {
        let error = self.violation(response(200, "application/json"), "{invalid}")
        #expect(error?.kind == .responseBody)
        #expect(
            error?.message
                == "Request failed: invalid JSON: line 1, column 2 (byte 1): expected a key in quotes or “}”, found “i”"
        )
        #expect(error?.underlying == nil)
    }

    @Test(arguments: ["GET", "HEAD"]) func `JRS-04 an empty body passes`(method: String) {
        #expect(self.violation(response(200, "application/json"), "", method: method) == nil)
    }

    @Test func `JRS-05 a single space passes`() {
        #expect(self.violation(response(200, "application/json"), " ") == nil)
    }

    @Test(arguments: ["  ", "\n"]) func `JRS-06 other white space is a violation`(body: String) {
        #expect(self.violation(response(200, "application/json"), body)?.kind == .responseBody)
    }

    @Test func `JRS-07 a wrong status with good JSON is the status alone`() {
        let error = self.violation(response(500, "application/json"), "{}")
        #expect(error?.kind == .responseStatus)
        #expect(error?.underlying == nil)
    }

    @Test func `JRS-08 broken JSON has the wrong status behind it`() {
        let error = self.violation(response(500, "application/json"), "{")
        #expect(error?.kind == .responseBody)
        #expect(error?.underlying?.kind == .responseStatus)
        #expect(error?.underlying?.underlying == nil)
    }

    @Test func `JRS-09 a wrong type is not parsed and stands behind the status`() {
        let error = self.violation(response(500, "text/html"), "{")
        #expect(error?.chain.map(\.kind) == [.responseStatus, .responseContentType])
    }

    @Test func `JRS-10 a wrong type is a violation`() {
        let error = self.violation(response(200, "text/html"), "{}")
        #expect(error?.chain.map(\.kind) == [.responseContentType])
        #expect(error?.message == "Request failed: unacceptable content-type: text/html")
    }

    @Test func `JRS-11 a wrong type with an empty body is a violation unless there can be no body`() {
        #expect(self.violation(response(200, "text/html"), "")?.kind == .responseContentType)
        #expect(self.violation(response(204, "text/html"), "") == nil)
        #expect(self.violation(response(200, "text/html"), "", method: "HEAD") == nil)
    }

    @Test func `JRS-12 a wrong status with an empty body is the status alone`() {
        #expect(self.violation(response(404), "")?.chain.map(\.kind) == [.responseStatus])
    }

    @Test func `JRS-13 a scalar passes only with the fragments option`() throws {
        #expect(self.violation(response(200, "text/json"), "1")?.kind == .responseBody)
        var contract = ResponseContract.json
        contract.body = .json(.init(scanner: JSONScanner(fragmentsAllowed: true)))
        #expect(
            try contract.validate(head: response(200, "text/json"), body: bytes("1"), requestMethod: "GET")
                == CheckedBody())
    }

    @Test func `JRS-17 nulls are taken out only when asked`() throws {
        let head = response(200, "application/json")
        #expect(
            try ResponseContract.json.validate(head: head, body: bytes("[null]"), requestMethod: "GET") == CheckedBody()
        )
        var contract = ResponseContract.json
        contract.body = .json(.init(removesNulls: true))
        #expect(
            text(try contract.validate(head: head, body: bytes("[null]"), requestMethod: "GET").replacement) == "[]")
        #expect(try contract.validate(head: head, body: bytes("[]"), requestMethod: "GET") == CheckedBody())
        #expect(try contract.validate(head: head, body: bytes(" "), requestMethod: "GET") == CheckedBody())
    }

    @Test func `JRS-20 a copy has every setting`() {
        let contract = ResponseContract(
            acceptableStatusCodes: [200...204], acceptableContentTypes: ["a/b"],
            body: .json(.init(scanner: JSONScanner(fragmentsAllowed: true), removesNulls: true)))
        let copy = contract
        #expect(copy == contract)
        #expect(copy != .json)
    }

    @Test func `a body whose coding is broken cannot be checked`() {
        let fields: Fields = ["Content-Type": "application/json", "Content-Encoding": "br"]
        let error = self.violation(ResponseHead(status: 200, fields: fields), "x")
        #expect(error?.kind == .responseBody)
        #expect(error?.message == "Request failed: the body cannot be checked: its br coding is cut off")
        #expect(self.violation(ResponseHead(status: 200, fields: fields), "") == nil)
    }
}
