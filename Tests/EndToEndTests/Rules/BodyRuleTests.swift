// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Demands of a route on bodies besides JSON, and bodies that a route may send in place of the original.
struct BodyRuleTests {
    let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// Asks a route for a body of an origin.
    private func fetch(
        _ rules: String, _ body: [UInt8], type: String, fields: String = "", more: String = "", _ curl: String...
    ) throws -> Curl.Result {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\nContent-Type: \(type)\r\n\(fields)\r\n")
            try connection.stream.send(body)
        }
        let pintle = try PintleProcess("\(more)\nroutes: [{name: r, response: \(rules)}]", folder: self.folder)
        return try Curl.run(proxy: pintle.port, curl + ["http://127.0.0.1:\(origin.port)/"])
    }

    private func fetch(_ rules: String, _ body: String, type: String) throws -> Curl.Result {
        try self.fetch(rules, Array(body.utf8), type: type)
    }

    /// The output of a tool of the system.
    private func packed(_ bytes: [UInt8], _ command: String) throws -> [UInt8] {
        let file = try self.folder.write(bytes, to: "plain")
        let process = try ChildProcess("/bin/sh", ["-c", "\(command) < \(file) > \(file).packed"])
        #expect(try process.waitForExit() == 0, "\(process.lines)")
        return try #require(fileBytes("\(file).packed"))
    }

    @Test(arguments: [
        ("xml", "application/xml", "<a><b/></a>", "<a><b></a>"),
        ("plist", "application/x-plist", "<plist version=\"1.0\"><dict/></plist>", "<plist><dict></plist>"),
        ("[json, xml]", "text/xml", "<a/>", "{]"), ("[json, xml]", "application/json", "[1]", "<a"),
    ])
    func `each rule takes its documents and no others`(rule: String, type: String, good: String, bad: String) throws {
        let passed = try self.fetch("{body: \(rule)}", good, type: type)
        #expect(passed.status == 200 && passed.text == good, "\(passed)")
        let refused = try self.fetch("{body: \(rule)}", bad, type: type)
        #expect(refused.status == 502 && refused.problem == "response-body", "\(refused)")
        let wrongType = try self.fetch("{body: \(rule)}", good, type: "text/html")
        #expect(wrongType.status == 502 && wrongType.problem == "response-content-type", "\(wrongType)")
    }

    @Test func `an image is decoded, and one of too many pixels is refused`() throws {
        let path = self.folder.path + "/a.png"
        let convert = try ChildProcess("/usr/bin/convert", ["-size", "40x30", "xc:red", path])
        #expect(try convert.waitForExit() == 0, "\(convert.lines)")
        let image = try #require(fileBytes(path))
        let passed = try self.fetch("{body: image}", image, type: "image/png")
        #expect(passed.status == 200 && passed.body == image, "\(passed)")
        let cut = try self.fetch("{body: image}", Array(image.dropLast(20)), type: "image/png")
        #expect(cut.status == 502 && cut.problem == "response-body", "\(cut)")
        let large = try self.fetch("{body: {image: {max_pixels: 1199}}}", image, type: "image/png")
        #expect(large.status == 502 && large.text.contains("40 × 30 pixels"), "\(large)")
    }

    @Test(arguments: [("gzip -c", "gzip"), ("brotli -c", "br"), ("zstd -c", "zstd")])
    func `a compressed body is judged in plain and passed on as it came`(command: String, coding: String) throws {
        let good = try self.packed(Array(#"{"a":null,"b":1}"#.utf8), command)
        let fields = "Content-Encoding: \(coding)\r\nETag: \"1\"\r\n"
        let passed = try self.fetch("{body: json}", good, type: "application/json", fields: fields)
        #expect(passed.status == 200 && passed.body == good, "\(passed)")
        #expect(passed["Content-Encoding"] == coding && passed["ETag"] == "\"1\"")
        let changed = try self.fetch(
            "{body: json, remove_nulls: true}", good, type: "application/json", fields: fields)
        #expect(changed.text == #"{"b":1}"# && changed["Content-Length"] == "7", "\(changed)")
        #expect(changed["Content-Encoding"] == nil && changed["ETag"] == nil)
        let bad = try self.packed(Array("{".utf8), command)
        let refused = try self.fetch("{body: json}", bad, type: "application/json", fields: fields)
        #expect(refused.status == 502 && refused.problem == "response-body", "\(refused)")
    }

    @Test func `a body that unfolds beyond the buffer is too large`() throws {
        let bomb = try self.packed([UInt8](repeating: 0x20, count: 1 << 20), "gzip -c")
        let result = try self.fetch(
            "{body: json}", bomb, type: "application/json", fields: "Content-Encoding: gzip\r\n",
            more: "limits: {body_buffer: 64KiB}")
        #expect(result.status == 502 && result.problem == "body-too-large", "\(result)")
    }

    @Test func `a schema is kept, and violations have pointers`() throws {
        try self.folder.write(
            """
            type: object
            required: [amount]
            properties: {amount: {$ref: "parts.json#/$defs/amount"}}
            """, to: "charge.yaml")
        try self.folder.write(#"{"$defs":{"amount":{"type":"integer","minimum":1}}}"#, to: "parts.json")
        let rules = "{body: {json: {schema: charge.yaml}}}"
        let passed = try self.fetch(rules, #"{"amount":1}"#, type: "application/json")
        #expect(passed.status == 200, "\(passed)")
        let refused = try self.fetch(rules, #"{"amount":0}"#, type: "application/json")
        #expect(refused.status == 502 && refused.problem == "response-body", "\(refused)")
        #expect((refused.json["detail"] as? String)?.contains("at /amount: ") == true, "\(refused)")
        let empty = try self.fetch(rules, "", type: "application/json")
        #expect(empty.status == 502 && empty.problem == "response-body", "nothing satisfies no schema: \(empty)")
    }

    @Test func `structured suffixes are taken where they are asked for`() throws {
        let plain = try self.fetch("{body: json}", "{}", type: "application/problem+json")
        #expect(plain.problem == "response-content-type", "\(plain)")
        let taken = try self.fetch("{body: json, structured_suffixes: true}", "{}", type: "application/problem+json")
        #expect(taken.status == 200 && taken.text == "{}", "\(taken)")
    }

    @Test func `LOOK-119 the route's fields are on placeholders and problems as well`() throws {
        let folder = try TemporaryFolder()
        try folder.write("gone", to: "gone.txt")
        let origin = try RawOrigin(answering: response("{"))
        for violation in ["placeholder, placeholder: {file: gone.txt}", "reject"] {
            let pintle = try PintleProcess(
                "routes: [{name: r, response: {body: json, on_violation: \(violation), headers: {set: {X-A: b}}}}]",
                folder: folder)
            let answer = try pintle.ask(get(origin.port))
            #expect(answer["X-A"] == "b", "\(answer)")
        }
    }

    @Test func `a placeholder takes the place of a response that breaks the rules`() throws {
        try self.folder.write("nothing to see", to: "missing.txt")
        let rules = "{body: json, on_violation: placeholder, placeholder: {file: missing.txt, status: 203}}"
        let replaced = try self.fetch(rules, "oops", type: "application/json")
        #expect(replaced.status == 203 && replaced.text == "nothing to see", "\(replaced)")
        #expect(replaced["Content-Type"] == "text/plain" && replaced["Pintle-Violation"] == "response-body")
        let passed = try self.fetch(rules, "[]", type: "application/json")
        #expect(passed.status == 200 && passed.text == "[]" && passed["Pintle-Violation"] == nil, "\(passed)")
    }

    @Test func `fields of responses are removed, set and added`() throws {
        let result = try self.fetch(
            "{headers: {remove: [Server], set: {X-A: b}, add: {X-C: d}}}", [], type: "text/plain",
            fields: "Server: s\r\nX-A: a\r\nX-C: c\r\n")
        #expect(result["Server"] == nil && result.head.values("X-A") == ["b"], "\(result)")
        #expect(result.head.values("X-C") == ["c", "d"])
    }

    @Test func `max_body is a limit on what comes, announced or not`() throws {
        let body = pattern(5000)
        let passed = try self.fetch("{max_body: 5000}", body, type: "text/plain")
        #expect(passed.status == 200 && passed.body == body, "\(passed)")
        let refused = try self.fetch("{max_body: 4999}", body, type: "text/plain")
        #expect(refused.status == 502 && refused.problem == "body-too-large", "\(refused)")
        let reported = try self.fetch("{max_body: 4999, on_violation: report}", body, type: "text/plain")
        #expect(reported.body == body && reported["Pintle-Violation"] == "body-too-large", "\(reported)")
        #expect(reported.head.values("Pintle-Violation").count == 1)
        let held = try self.fetch("{max_body: 5, body: json}", Array("[1, 2, 3]".utf8), type: "application/json")
        #expect(held.status == 502 && held.problem == "body-too-large", "\(held)")
    }

    @Test func `a streamed body over max_body is cut, and never looks complete`() throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in 0..<4 { try connection.send("400\r\n\(String(repeating: "x", count: 1024))\r\n") }
            try connection.send("0\r\n\r\n")
        }
        let pintle = try PintleProcess("routes: [{name: r, response: {max_body: 2KiB}}]")
        let result = try Curl.run(proxy: pintle.port, "http://127.0.0.1:\(origin.port)/")
        #expect(result.exitCode == 18 || result.exitCode == 56, "\(result)")
        #expect(result.body.count <= 2048)
        let record = try pintle.waitForExchanges(1)[0]
        #expect(record["violations"] as? [String] == ["body-too-large"], "\(record)")
    }
}
