// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Violations that are only reported: the traffic passes, and the log names them.
struct ReportModeTests {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private static let json = "Content-Type: application/json\r\n"
    private static let long = "[" + String(repeating: "1,", count: 50_000) + "1]"

    private func chunked(_ body: String, trailer: String = "") -> String {
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\(Self.json)\r\n"
            + "\(String(body.utf8.count, radix: 16))\r\n\(body)\r\n0\r\n\(trailer)\r\n"
    }

    private func ask(
        _ rules: String, _ answer: String, fields: String = ""
    ) throws -> (answer: Message, log: [String: any Sendable]) {
        let origin = try RawOrigin(answering: answer)
        let pintle = try PintleProcess("routes: [{name: r, response: \(rules)}]", folder: self.folder)
        let message = try pintle.ask(get(origin.port, fields: fields))
        return (message, try pintle.waitForExchanges(1)[0])
    }

    @Test func `the reason is in the log`() throws {
        let (answer, log) = try self.ask("{body: json, on_violation: report}", response("{x}", fields: Self.json))
        #expect(answer["Pintle-Violation"] == "response-body" && answer.text == "{x}")
        #expect((log["error"] as? String)?.contains("invalid JSON") == true, "\(log)")
    }

    @Test func `a wrong status is marked however long the body is`() throws {
        let (answer, log) = try self.ask(
            "{status: [200], body: json, on_violation: report}",
            response(Self.long, status: "201 Created", fields: Self.json))
        #expect(answer.status == 201 && answer.text == Self.long)
        #expect(answer["Pintle-Violation"] == "response-status")
        #expect(log["violations"] as? [String] == ["response-status"], "\(log)")
    }

    @Test func `a late violation stands behind the trailers of the origin`() throws {
        // Longer than the part that is held back, however the pieces come.
        let body = Self.long + String(repeating: " ", count: 200_000) + "x"
        let (answer, _) = try self.ask(
            "{body: json, on_violation: report}", self.chunked(body, trailer: "X-Sum: 1\r\n"))
        #expect(answer.text == body)
        #expect(answer.trailers.map(\.name) == ["X-Sum", "Pintle-Violation"], "\(answer.trailers)")
    }

    @Test(arguments: ["{body: json}", "{body: json, on_violation: report}", "{body: [json, plist]}"])
    func `trailers of a body that was held are forwarded`(rules: String) throws {
        let (answer, _) = try self.ask(rules, self.chunked("{}", trailer: "X-Sum: 1\r\n"))
        #expect(answer.text == "{}" && answer.trailers.first?.value == "1", "\(answer)")
    }

    @Test func `trailers of a body that was replaced are not`() throws {
        let (answer, _) = try self.ask(
            "{body: json, remove_nulls: true}", self.chunked(#"{"a":null}"#, trailer: "X-Sum: 1\r\n"))
        #expect(answer.text == "{}" && answer["Content-Length"] == "2" && answer.trailers.isEmpty, "\(answer)")
    }

    @Test func `a part of a document is not judged as one, and where it would be, the whole is asked for`() throws {
        let part =
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/9\r\nContent-Length: 4\r\n\(Self.json)\r\n{\"a\""
        let (answer, _) = try self.ask("{body: json, on_violation: report}", part, fields: "Range: bytes=0-3\r\n")
        #expect(answer.status == 206 && answer["Pintle-Violation"] == nil && answer.text == "{\"a\"")
        let origin = try RawOrigin(answering: response("{}", fields: Self.json))
        let pintle = try PintleProcess("routes: [{name: r, response: {body: json}}]")
        _ = try pintle.ask(get(origin.port, fields: "Range: bytes=0-3\r\nIf-Range: \"a\"\r\n"))
        #expect(origin.requests[0]["Range"] == nil && origin.requests[0]["If-Range"] == nil)
    }

    @Test func `a short body that unfolds to a long one is judged all the same`() throws {
        let plain = String(repeating: " ", count: 9 << 20) + "{}"
        let packed = try ShellFilter.run("gzip -nc", Array(plain.utf8))
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\(Self.json)\r\n")
            try connection.stream.send(packed)
        }
        let pintle = try PintleProcess("routes: [{name: r, response: {body: json, on_violation: report}}]")
        let answer = try pintle.ask(get(origin.port))
        #expect(answer.body == packed && answer["Pintle-Violation"] == nil)
    }

    @Test func `what unfolds without end is too large to be checked, and passes`() throws {
        let block = try ShellFilter.run("head -c 268435456 /dev/zero | tr '\\0' ' ' | zstd -qc")
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: \(block.count)\r\n\(Self.json)\r\n")
            try connection.stream.send(block)
        }
        let pintle = try PintleProcess("routes: [{name: r, response: {body: json, on_violation: report}}]")
        let answer = try pintle.ask(get(origin.port))
        #expect(answer.body == block && answer["Pintle-Violation"] == "body-too-large", "\(answer.head)")
    }

    @Test func `max_body is about bytes on the wire`() throws {
        let plain = #"{"a":null,"b":""# + String(repeating: "x", count: 9_000) + #""}"#
        let packed = try ShellFilter.run("gzip -nc", Array(plain.utf8))
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n"
                    + "Accept-Ranges: bytes\r\n\(Self.json)\r\n")
            try connection.stream.send(packed)
        }
        let pintle = try PintleProcess(
            "routes: [{name: r, response: {body: json, remove_nulls: true, max_body: 2KiB}}]")
        let answer = try pintle.ask(get(origin.port))
        #expect(answer.text == plain.replacingOccurrences(of: #""a":null,"#, with: ""), "\(answer.head)")
        #expect(answer["Accept-Ranges"] == nil && answer["Content-Encoding"] == nil)
    }

    @Test func `the head alone does not speak of bytes that would be replaced`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nETag: \"a\"\r\n\(Self.json)\r\n")
        }
        let pintle = try PintleProcess("routes: [{name: r, response: {body: json, remove_nulls: true}}]")
        let answer = try pintle.ask(
            "HEAD http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n", method: "HEAD")
        #expect(answer.status == 200 && answer["Content-Length"] == nil && answer["ETag"] == nil, "\(answer.head)")
    }

    @Test func `a body too long for its contract streams where violations are reported`() throws {
        try self.folder.write(
            """
            openapi: 3.1.0
            info: {title: t, version: "1"}
            paths: {/: {post: {requestBody: {content: {application/json: {schema: {type: object}}}},
              responses: {200: {description: all}}}}}
            """, to: "openapi.yaml")
        let origin = try RawOrigin(answering: response("done"))
        let pintle = try PintleProcess(
            "routes: [{name: r, contract: {file: openapi.yaml, requests: true}, response: {on_violation: report}}]",
            folder: self.folder)
        let body = try self.folder.write("[" + String(repeating: "1,", count: 5 << 20) + "1]", to: "body")
        for isChunked in [true, false] {
            let chunks = isChunked ? ["-H", "Transfer-Encoding: chunked"] : []
            let result = try Curl.run(
                proxy: pintle.port,
                chunks + [
                    "-H", "Content-Type: application/json", "--data-binary", "@\(body)",
                    "http://127.0.0.1:\(origin.port)/",
                ])
            #expect(result.status == 200 && result.head["Pintle-Violation"] == "body-too-large", "\(result)")
            #expect(origin.requests.last?.body.count == (10 << 20) + 3)
        }
    }
}
