// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Kept responses, judged by the rules of a previewed configuration.
struct PreviewedBodyTests {
    private static let json = "Content-Type: application/json\r\n"

    /// Sends one request under one configuration, and previews another one.
    ///
    /// - Returns: the preview, and its row without the parts that do not matter.
    private func preview(
        _ old: String, _ new: String, head: String = Self.json, body: [UInt8], arguments: [String] = [],
        log: String = "{format: json, exchanges: \"-\"}", files: [String: String] = [:]
    ) throws -> (told: [String: any Sendable], response: [String: any Sendable]) {
        let stage = try AdminStage(old, log: log)
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                try connection.send("HTTP/1.1 200 OK\r\n\(head)Content-Length: \(body.count)\r\n\r\n")
                try connection.stream.send(body)
            }
        }
        _ = try Curl.run(proxy: stage.pintle.port, ["http://127.0.0.1:\(origin.port)/a"] + arguments)
        try Patience.wait(for: "the exchange") { try stage.exchanges().count == 1 }
        for (name, text) in files { _ = try stage.folder.write(text, to: name) }
        let next = try stage.folder.write("version: 1\n\(new)\n", to: "next.yaml")
        let told = try stage.ask("/api/preview", "-X", "POST", "--data-binary", "@\(next)").json
        let row = (told["rows"] as? [PintleProcess.Object])?.first
        let after = row?["after"] as? [String: any Sendable]
        return (told, after?["response"] as? [String: any Sendable] ?? [:])
    }

    private static let capture = "capture: {bodies: 1KiB}\nroutes: [{name: a}]"
    private static let contract = "routes: [{name: a, contract: {file: api.json}}]"
    private static let api = [
        "api.json": #"""
        {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": {"/a": {"get": {"responses": {"200":
        {"description": "x", "content": {"application/json": {"schema": {"properties": {"id": {"type": "integer"}}}}}}}}}}}
        """#
    ]

    @Test func `a kept body is judged by the contract of the other configuration`() throws {
        let broken = try self.preview(
            Self.capture, Self.contract, body: Array(#"{"id": "one"}"#.utf8), files: Self.api)
        #expect(broken.told["rejected"] as? Int == 1 && broken.told["unknown"] as? Int == 0, "\(broken)")
        #expect(broken.response["verdict"] as? String == "rejected", "\(broken)")
        let words = (broken.response["violations"] as? [String])?.first ?? ""
        #expect(words.hasPrefix("response-body: ") && words.contains("id"), "\(words)")
        let kept = try self.preview(Self.capture, Self.contract, body: Array(#"{"id": 1}"#.utf8), files: Self.api)
        #expect(kept.told["rejected"] as? Int == 0 && kept.response["verdict"] as? String == "passes", "\(kept)")
    }

    @Test func `content codings are undone`() throws {
        let zipped: [UInt8] = [
            0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 0xab, 0x56, 0xca, 0x4c, 0x51, 0xb2, 0x52, 0x30, 0xac, 5, 0, 0x85, 0x40,
            0xd4,
            0x56, 9, 0, 0, 0,
        ]
        let found = try self.preview(
            Self.capture, "routes: [{name: a, response: {body: json}}]", head: Self.json + "Content-Encoding: gzip\r\n",
            body: zipped)
        #expect(found.response["verdict"] as? String == "passes", "\(found)")
    }

    @Test(arguments: [
        (#"{"password": 12345678}"#, "", "the log hides parts of its body (log.redact)"),
        (String(repeating: " ", count: 1500) + "{}", "", "only 1024 bytes of its body were kept"),
        (#"{"id": 1, "name": null}"#, "response: {body: json, remove_nulls: true}", "the route has changed its body"),
    ]) func `a body that is not known as it came cannot be told`(body: String, rules: String, reason: String) throws {
        let old = "capture: {bodies: 1KiB}\nroutes: [{name: a, \(rules)}]"
        let schema = "routes: [{name: a, response: {body: {json: {schema: any.json}}}}]"
        let found = try self.preview(
            old, schema, body: Array(body.utf8),
            files: ["any.json": #"{"properties": {"password": {"type": "integer"}}}"#])
        #expect(found.told["unknown"] as? Int == 1 && found.told["rejected"] as? Int == 0, "\(found)")
        #expect(found.response["reason"] as? String == reason, "\(found)")
    }

    @Test func `without redaction, all that came is judged`() throws {
        let found = try self.preview(
            Self.capture, "routes: [{name: a, response: {body: {json: {schema: any.json}}}}]",
            body: Array(#"{"password": 12345678}"#.utf8), log: "{format: json, exchanges: \"-\", redact: off}",
            files: ["any.json": #"{"properties": {"password": {"type": "string"}}}"#])
        #expect(found.told["rejected"] as? Int == 1, "\(found)")
    }

    @Test func `without a kept body, a head is judged as far as it goes`() throws {
        let old = "routes: [{name: a}]"
        let body = Array("{}".utf8)
        let status = try self.preview(old, "routes: [{name: a, response: {status: [404]}}]", body: body)
        #expect(status.told["rejected"] as? Int == 1 && status.told["unknown"] as? Int == 0, "\(status)")
        let document = try self.preview(old, "routes: [{name: a, response: {body: json}}]", body: body)
        #expect(document.response["reason"] as? String == "its body was not kept", "\(document)")
    }
}
