// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSerialization
import PintleTesting
import Testing

@Suite struct BodyCheckTests {
    /// Returns the finding of a check that gets pieces.
    private func streamed(
        _ contract: ResponseContract, _ head: ResponseHead, _ pieces: [ArraySlice<UInt8>]
    ) throws -> ValidationError? {
        let check = try #require(BodyCheck(contract, head: head, requestMethod: "GET"))
        do throws(ValidationError) {
            for piece in pieces {
                try Array(piece).withUnsafeBufferPointer { bytes throws(ValidationError) in
                    try check.take(UnsafeRawBufferPointer(bytes))
                }
            }
            try check.finish()
            return nil
        } catch {
            #expect(throws: error) { try check.finish() }
            return error
        }
    }

    private func whole(_ contract: ResponseContract, _ head: ResponseHead, _ body: [UInt8]) -> ValidationError? {
        do throws(ValidationError) {
            _ = try contract.validate(head: head, body: body, requestMethod: "GET")
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: ["", " ", "  ", "\n", "{}", #"{"a":[1,2,"ü"]}"#, "[1,]", "nul", "1", "[\u{1}]", "{\"a\":1"],
        [UInt16(200), 500])
    func `a body in pieces has the verdict of the whole`(text: String, status: UInt16) throws {
        for (coding, encoder) in [("identity", "cat"), ("gzip", "gzip -nc"), ("br, zstd", "brotli -c | zstd -qc")] {
            let head = ResponseHead(
                status: status, fields: ["Content-Type": "application/json", "Content-Encoding": coding])
            let body = try ShellFilter.run(encoder, bytes(text))
            let verdict = self.whole(.json, head, body)
            #expect(try self.streamed(.json, head, [body[...]]) == verdict)
            #expect(try self.streamed(.json, head, body.indices.map { body[$0...$0] }) == verdict)
            #expect(try self.streamed(.json, head, [[], body[...], []]) == verdict)
        }
    }

    @Test(
        arguments: ["", " ", "<a/>", "<a>ü</b>", "<?xml version='1.0'?><a><b/></a>", "<a>&x;</a>"], [UInt16(200), 500])
    func `XML in pieces has the verdict of the whole`(text: String, status: UInt16) throws {
        let contract = ResponseContract(body: .xml(XMLScanner()))
        for (coding, encoder) in [("identity", "cat"), ("gzip", "gzip -nc")] {
            let head = ResponseHead(status: status, fields: ["Content-Encoding": coding])
            let body = try ShellFilter.run(encoder, bytes(text))
            let verdict = self.whole(contract, head, body)
            #expect(try self.streamed(contract, head, [body[...]]) == verdict)
            #expect(try self.streamed(contract, head, body.indices.map { body[$0...$0] }) == verdict)
        }
    }

    @Test func `what is wrong with the codings has the verdict of the whole`() throws {
        let gzip = try ShellFilter.run("gzip -nc", bytes("[\(String(repeating: " ", count: 200_000))]"))
        var contract = ResponseContract.json
        contract.decodedLimit = 100_000
        for (coding, body) in [
            ("gzip", Array(gzip.dropLast())), ("gzip", gzip + [0]), ("gzip", gzip), ("exi", gzip), ("exi", []),
            ("gzip, gzip, gzip, gzip, gzip", gzip), ("zstd", gzip),
        ] as [(String, [UInt8])] {
            let head = ResponseHead(
                status: 200, fields: ["Content-Type": "application/json", "Content-Encoding": coding])
            let limited = self.whole(contract, head, body)
            #expect((limited == nil) == body.isEmpty)
            #expect(try self.streamed(contract, head, [body[...]]) == limited)
            #expect(try self.streamed(.json, head, body.indices.map { body[$0...$0] }) == self.whole(.json, head, body))
        }
    }

    @Test func `rules that must see the whole body, or none, have no check`() {
        let head = response(200, "application/json")
        let hasNone = { (contract: ResponseContract, head: ResponseHead, method: String) in
            BodyCheck(contract, head: head, requestMethod: method) == nil
        }
        let rules: [ResponseContract.BodyRule] = [
            .any, .json(.init(removesNulls: true)), .propertyList, .compound([.json(.init())]),
        ]
        for rule in rules { #expect(hasNone(ResponseContract(body: rule), head, "GET")) }
        #expect(hasNone(.json, head, "HEAD") && hasNone(.json, response(204), "GET"))
        #expect(hasNone(.json, response(200, "text/html"), "GET"))
        #expect(!hasNone(.json, head, "GET"))
    }
}
