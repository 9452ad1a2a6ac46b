// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import PintleTesting
import Testing

/// Responses with content codings, as `gzip`, `brotli` and `zstd` write them.
@Suite struct CodedResponseTests {
    private static let encoders = [
        ("gzip", "gzip -nc"), ("x-gzip", "gzip -nc"), ("br", "brotli -c"), ("zstd", "zstd -qc"),
    ]

    private func head(_ coding: String, _ type: String = "application/json", status: UInt16 = 200) -> ResponseHead {
        ResponseHead(status: status, fields: ["Content-Type": type, "Content-Encoding": coding, "ETag": "\"1\""])
    }

    private func violation(_ contract: ResponseContract, _ head: ResponseHead, _ body: [UInt8]) -> ValidationError? {
        do throws(ValidationError) {
            _ = try contract.validate(head: head, body: body, requestMethod: "GET")
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: CodedResponseTests.encoders)
    func `a coded body is judged without its coding and stays as it is`(coding: String, encoder: String) throws {
        let body = try ShellFilter.run(encoder, bytes(#"{"a":[1,null]}"#))
        let checked = try ResponseContract.json.validate(head: self.head(coding), body: body, requestMethod: "GET")
        #expect(checked == CheckedBody())
        let broken = try ShellFilter.run(encoder, bytes(#"{"a":"#))
        #expect(
            self.violation(.json, self.head(coding), broken)?.message
                == "Request failed: invalid JSON: line 1, column 6 (byte 5): expected a value, found the end")
    }

    @Test func `a coded body without its nulls is plain, and its fields say so`() throws {
        let contract = ResponseContract(body: .json(.init(removesNulls: true)))
        var head = self.head("br, gzip")
        head.fields.append("Digest", "x")
        let body = try ShellFilter.run("brotli -c | gzip -nc", bytes(#"{"a":[1,null]}"#))
        let checked = try contract.validate(head: head, body: body, requestMethod: "GET")
        #expect(checked.replacement == bytes(#"{"a":[1]}"#))
        var fields = head.fields
        CheckedBody().removeStaleFields(from: &fields)
        #expect(fields.pairs.count == head.fields.pairs.count)
        checked.removeStaleFields(from: &fields)
        #expect(fields.pairs.map(\.name) == ["Content-Type"])
    }

    @Test func `a blank body may be coded`() throws {
        let space = try ShellFilter.run("gzip -nc", bytes(" "))
        #expect(self.violation(.json, self.head("gzip"), space) == nil)
        #expect(self.violation(.json, self.head("gzip"), try ShellFilter.run("gzip -nc")) == nil)
        #expect(self.violation(.json, self.head("nobody"), []) == nil)
    }

    @Test(
        arguments: [
            (
                "compress",
                "its content coding “compress” is none that can be undone; these can: gzip, deflate, br, zstd"
            ),
            ("gzip,gzip,gzip,gzip,gzip", "it has 5 content codings, and at most 4 are undone"),
            ("gzip", "its gzip coding is broken: incorrect header check"),
        ])
    func `what cannot be undone is a violation of the body`(coding: String, problem: String) {
        let error = self.violation(.json, self.head(coding, status: 500), bytes("{}{}"))
        #expect(error?.chain.map(\.kind) == [.responseBody, .responseStatus])
        #expect(error?.message == "Request failed: the body cannot be checked: \(problem)")
        // Without a rule the body is not checked.
        #expect(self.violation(ResponseContract(), self.head(coding), bytes("{}{}")) == nil)
        #expect(self.violation(.json, self.head(coding, "text/html"), bytes("{}{}"))?.kind == .responseContentType)
    }

    @Test func `a body that unfolds beyond the limit is too large`() throws {
        var contract = ResponseContract.json
        contract.decodedLimit = 1_000
        let body = try ShellFilter.run("gzip -nc", bytes("[\(String(repeating: " ", count: 999))]"))
        let error = self.violation(contract, self.head("gzip"), body)
        #expect(error?.kind == .bodyTooLarge)
        #expect(error?.message == "Request failed: the body is too large to be checked: decoded it is over 1000 bytes")
        contract.decodedLimit = 1_001
        #expect(self.violation(contract, self.head("gzip"), body) == nil)
        // The limit applies only to decoded bodies: an uncoded body is in memory already.
        contract.decodedLimit = 1
        #expect(self.violation(contract, self.head("identity"), bytes("[1, 2]")) == nil)
    }

    @Test func `serializers give what the coding hides`() throws {
        struct Order: Decodable, Sendable, Equatable { var id: Int }
        let json = try ShellFilter.run("zstd -qc", bytes(#"{"id":1}"#))
        let head = self.head("zstd")
        #expect(try JSONResponseSerializer().decode(head, body: json, requestMethod: "GET") == ["id": 1])
        #expect(
            try DecodableResponseSerializer(Order.self).decode(head, body: json, requestMethod: "GET") == Order(id: 1))
        let strict = HTTPResponseSerializer(contract: .json)
        #expect(try strict.decode(head, body: json, requestMethod: "GET") == bytes(#"{"id":1}"#))
        let xml = try ShellFilter.run("zstd -qc", bytes("<a/>"))
        let decoded = try XMLResponseSerializer().decode(self.head("zstd", "text/xml"), body: xml, requestMethod: "GET")
        #expect(decoded == bytes("<a/>"))
        #expect(try HTTPResponseSerializer().decode(head, body: json, requestMethod: "GET") == json)
    }

    @Test func `a request asks for codings that can be undone`() {
        var fields: Fields = ["Accept-Encoding": "sdch, gzip;q=0.5", "accept-encoding": "*, br"]
        fields.narrowAcceptEncoding()
        #expect(fields.pairs.map { "\($0.name): \($0.value)" } == ["Accept-Encoding: gzip;q=0.5, br"])
        var none: Fields = ["Accept": "*/*"]
        none.narrowAcceptEncoding()
        #expect(none.pairs.count == 1)
        fields.set("Accept-Encoding", "*")
        fields.narrowAcceptEncoding()
        #expect(fields["Accept-Encoding"] == "identity")
    }
}
