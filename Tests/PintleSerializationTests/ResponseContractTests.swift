// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import Testing

@Suite struct ResponseContractTests {
    let plain = ResponseContract()
    let html = ResponseContract(acceptableContentTypes: ["text/html"])

    private func violation(
        _ contract: ResponseContract, _ head: ResponseHead, _ body: String = "", method: String = "GET"
    ) -> ValidationError? {
        do throws(ValidationError) {
            _ = try contract.validate(head: head, body: bytes(body), requestMethod: method)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: UInt16(200)...299)
    func `RSP-01 every 2xx is acceptable`(status: UInt16) {
        #expect(self.violation(self.plain, response(status, "text/html"), "text") == nil)
    }

    @Test(arguments: UInt16(400)...599)
    func `RSP-02 every 4xx and 5xx is a violation`(status: UInt16) {
        #expect(self.violation(self.plain, response(status, "text/html"), "text")?.kind == .responseStatus)
        #expect(self.plain.validateHead(response(status), requestMethod: "GET")?.kind == .responseStatus)
    }

    @Test(arguments: [UInt16](100...199) + [UInt16](300...399))
    func `RSP-03 every 1xx and 3xx is a violation`(status: UInt16) {
        #expect(self.violation(self.plain, response(status))?.kind == .responseStatus)
    }

    @Test func `RSP-04 no type and no body is acceptable`() {
        #expect(self.violation(self.html, response(205)) == nil)
        #expect(self.html.validateHead(response(205), requestMethod: "GET") == nil)
    }

    @Test func `RSP-05 no type with a body is a violation`() {
        let error = self.violation(self.html, response(205), "test")
        #expect(error?.kind == .responseContentType)
        #expect(error?.message == "Request failed: no content-type")
        #expect(error?.contentType == nil)
        let announced = ResponseHead(status: 205, fields: ["Content-Length": "4"])
        #expect(self.html.validateHead(announced, requestMethod: "GET")?.kind == .responseContentType)
    }

    @Test func `a long type is cut where it is quoted`() {
        let type = "text/" + String(repeating: "y", count: 15_000)
        let message = self.violation(self.html, response(200, type), "text")?.message
        let quoted = "text/" + String(repeating: "y", count: 75) + "…"
        #expect(message == "Request failed: unacceptable content-type: \(quoted)")
    }

    @Test func `RSP-06 without a set of types every type is acceptable`() {
        #expect(self.violation(self.plain, response(200, "text/html"), "text") == nil)
        #expect(self.violation(self.plain, response(200), "text") == nil)
    }

    @Test(arguments: [
        "application/json; charset=utf-8", "Application/JSON", "application/json ;a=b", "application/json",
    ])
    func `RSP-07 parameters and letter case of a type do not count`(type: String) {
        let contract = ResponseContract(acceptableContentTypes: ["APPLICATION/json"])
        #expect(self.violation(contract, response(200, type), "{}") == nil)
    }

    @Test(arguments: ["application/json, text/html", "application/jsonx", "", "application", "json"])
    func `RSP-07 what is no member is a violation`(type: String) {
        #expect(self.violation(.json, response(200, type), "{}")?.kind == .responseContentType)
    }

    @Test func `RSP-07 of two types both must be acceptable`() {
        let head = ResponseHead(status: 200, fields: ["Content-Type": "application/json", "Content-Type": "text/html"])
        let error = self.violation(.json, head, "{}")
        #expect(error?.message == "Request failed: unacceptable content-type: text/html")
    }

    @Test(
        arguments: [
            (204, "GET", true), (304, "GET", true), (200, "HEAD", true), (200, "GET", false), (205, "GET", false),
        ]
            as [(UInt16, String, Bool)])
    func `RSP-08 a wrong type without body passes only where there can be none`(
        status: UInt16, method: String, passes: Bool
    ) {
        let contract = ResponseContract(acceptableStatusCodes: nil, acceptableContentTypes: ["text/html"])
        let error = self.violation(contract, response(status, "a/b"), method: method)
        #expect((error == nil) == passes)
        #expect((contract.validateHead(response(status, "a/b"), requestMethod: method) == nil) == passes)
    }

    @Test func `RSP-09 a wrong status has the wrong type behind it`() {
        let error = self.violation(self.html, response(500, "a/b"), "x")
        #expect(error?.kind == .responseStatus)
        #expect(error?.underlying?.kind == .responseContentType)
        #expect(error?.underlying?.underlying == nil)
        #expect(error?.chain.map(\.status) == [500, 500])
        #expect(error?.chain.map(\.contentType) == ["a/b", "a/b"])
        #expect(self.html.validateHead(response(500, "a/b"), requestMethod: "GET") == error)
    }

    @Test func `RSP-10 a wrong status without a body stands alone where the type need not be right`() {
        let head = self.violation(self.html, response(500, "a/b"), method: "HEAD")
        #expect(head?.kind == .responseStatus)
        #expect(head?.underlying == nil)
        #expect(self.violation(self.html, response(500))?.underlying == nil)
        #expect(self.violation(self.html, response(500, "a/b"))?.underlying?.kind == .responseContentType)
    }

    @Test func `RSP-11 a wrong status with the right type stands alone`() {
        let error = self.violation(self.html, response(500, "text/html"), "x")
        #expect(error?.kind == .responseStatus)
        #expect(error?.underlying == nil)
    }

    @Test(arguments: UInt16(100)...599)
    func `RSP-13 without sets everything is acceptable`(status: UInt16) {
        let contract = ResponseContract(acceptableStatusCodes: nil, acceptableContentTypes: nil)
        #expect(self.violation(contract, response(status, "a/b"), "x") == nil)
    }

    @Test func `RSP-13 empty sets accept nothing`() {
        #expect(self.violation(ResponseContract(acceptableStatusCodes: []), response(200))?.kind == .responseStatus)
        #expect(
            self.violation(ResponseContract(acceptableContentTypes: []), response(200, "a/b"))?.kind
                == .responseContentType)
    }

    @Test(
        arguments: [
            ([201...201], ", expected 201"), ([200...204, 304...304], ", expected 200-204 or 304"),
            ([200...200, 202...202, 206...206], ", expected 200, 202 or 206"), ([200...299], ""),
            ([], "; the list of statuses is empty, so none passes"),
        ] as [([ClosedRange<UInt16>], String)])
    func `LOOK-44 the message says which statuses are expected, where it is not any success`(
        acceptableStatusCodes: [ClosedRange<UInt16>], expectation: String
    ) {
        let error = self.violation(ResponseContract(acceptableStatusCodes: acceptableStatusCodes), response(404))
        #expect(error?.message == "Request failed: not found (404)\(expectation)")
    }

    @Test(
        arguments: [
            (404, "Request failed: not found (404)"), (500, "Request failed: internal server error (500)"),
            (499, "Request failed: client error (499)"), (302, "Request failed: found (302)"),
            (999, "Request failed: unknown status (999)"),
        ] as [(UInt16, String)])
    func `RSP-14 the message names the status`(status: UInt16, message: String) {
        #expect(self.violation(self.plain, response(status))?.message == message)
    }

    @Test(arguments: [UInt16](100...103) + [200, 226, 304, 399, 451, 499, 511, 599, 600, 999])
    func `RSP-14 every status has a text in lower case`(status: UInt16) {
        let text = ReasonText.text(for: status)
        #expect(!text.isEmpty)
        #expect(text == text.lowercased())
    }

    @Test func `RSP-16 a response in order is passed on unchanged`() throws {
        #expect(try self.plain.validate(head: response(200), body: bytes("x"), requestMethod: "GET") == CheckedBody())
    }

    @Test func `RSP-17 a copy is equal and then independent`() {
        var copy = self.html
        #expect(copy == self.html)
        copy.acceptableContentTypes = ["A/B; c=d"]
        copy.acceptableStatusCodes = [200...200, 304...304]
        #expect(copy.acceptableContentTypes == ["a/b"])
        #expect(self.violation(copy, response(304, "a/b")) == nil)
        #expect(self.violation(copy, response(201, "a/b"))?.kind == .responseStatus)
        #expect(self.html.acceptableContentTypes == ["text/html"])
    }

    @Test(
        arguments: [
            (ResponseContract(), ResponseHead(status: 200), "GET", .nothing),
            (.json, ResponseHead(status: 200), "GET", .whole), (.json, ResponseHead(status: 200), "HEAD", .nothing),
            (.json, ResponseHead(status: 204), "GET", .nothing),
            (.json, ResponseHead(status: 200, fields: ["Content-Length": "0"]), "GET", .nothing),
            (ResponseContract(acceptableContentTypes: ["a/b"]), ResponseHead(status: 200), "GET", .firstByte),
            (
                ResponseContract(acceptableContentTypes: ["a/b"]),
                ResponseHead(status: 200, fields: ["Transfer-Encoding": "chunked", "Content-Length": "0"]), "GET",
                .firstByte
            ),
            (ResponseContract(acceptableContentTypes: ["a/b"]), response(200, "a/b"), "GET", .nothing),
            (
                ResponseContract(acceptableContentTypes: ["a/b"]),
                ResponseHead(status: 200, fields: ["Content-Length": "1"]),
                "GET", .nothing
            ),
        ] as [(ResponseContract, ResponseHead, String, ResponseContract.BodyNeed)])
    func `the head tells how much of the body is needed`(
        contract: ResponseContract, head: ResponseHead, method: String, need: ResponseContract.BodyNeed
    ) {
        #expect(contract.bodyNeed(for: head, requestMethod: method) == need)
    }
}
