// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// Small messages whose check takes long delay only their own client.
@Suite(.tags(.load)) struct StandstillTests {
    let folder: TemporaryFolder

    init() throws {
        self.folder = try TemporaryFolder()
        try self.folder.write(
            """
            openapi: 3.1.0
            info: {title: lists, version: "1"}
            paths:
              /lists:
                get:
                  parameters: [{name: id, in: query, schema: {type: array, items: {$ref: "#/components/schemas/Number"}}}]
                  responses: {default: {description: any}}
                post:
                  parameters: [{name: id, in: query, schema: {type: array, items: {$ref: "#/components/schemas/Number"}}}]
                  requestBody:
                    content: {application/json: {schema: {items: {$ref: "#/components/schemas/Number"}}}}
                  responses: {default: {description: any}}
            components:
              schemas:
                Number:
                  anyOf: [{type: string}, {type: "null"}, {type: boolean}, {multipleOf: 3}, {type: integer}]
                  type: [integer, string]
            """, to: "openapi.yaml")
    }

    private static func gzip(_ bytes: [UInt8]) throws -> [UInt8] { try ShellFilter.run("gzip -9nc", bytes) }

    /// `[1,1,…]`
    private static func list(_ count: Int) -> [UInt8] {
        Array(("[" + String(repeating: "1,", count: count - 1) + "1]").utf8)
    }

    private static func post(_ port: Int, _ path: String, _ body: [UInt8], fields: String = "") -> [UInt8] {
        let head =
            "POST http://127.0.0.1:\(port)\(path) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.count)\r\n\(fields)\r\n"
        return Array(head.utf8) + body
    }

    @Test func `LOOK-06 a request that unfolds to four million values has few steps, and others go on`() throws {
        let origin = try RawOrigin(answering: response("ok"))
        let pintle = try PintleProcess(
            "engine: {threads: 1}\nroutes: [{name: r, contract: {file: openapi.yaml, requests: true}}]",
            folder: self.folder)
        let body = try Self.gzip(Self.list(4_000_000))
        #expect(body.count < 64 << 10)
        let hostile = try pintle.connect()
        try hostile.send(Self.post(origin.port, "/lists", body, fields: "Content-Encoding: gzip\r\n"))
        #expect(try pintle.serves("http://127.0.0.1:\(origin.port)/lists?id=1"))
        let answer = try hostile.readResponse(to: "POST")
        #expect(answer.status == 422)
        let reason = "to be judged it takes more than 4000000 steps; send less at a time"
        #expect(answer.text.contains(reason), "\(answer.text)")
    }

    @Test func `LOOK-06 a long list in a query is judged elsewhere, and rightly`() throws {
        let origin = try RawOrigin(answering: response("ok"))
        let pintle = try PintleProcess(
            "limits: {header_line: 64KiB}\nroutes: [{name: r, contract: {file: openapi.yaml, requests: true}}]",
            folder: self.folder)
        let ids = String(repeating: "id=1&", count: 6_000)
        #expect(try pintle.ask(get(origin.port, "/lists?\(ids)id=2")).status == 200)
        let wrong = try pintle.ask(get(origin.port, "/lists?\(ids)id=true"))
        #expect(wrong.status == 422)
        #expect(wrong.text.contains("the query parameter id at /6000: "), "\(wrong.text)")
    }

    @Test func `LOOK-06 the body of a request whose query is judged elsewhere comes whole`() throws {
        let origin = try RawOrigin(answering: response("ok"))
        let pintle = try PintleProcess(
            "limits: {header_line: 64KiB}\nroutes: [{name: r, contract: {file: openapi.yaml, requests: true}}]",
            folder: self.folder)
        let body = pattern(300_000)
        let ids = String(repeating: "id=1&", count: 6_000)
        let client = try pintle.connect()
        let head =
            "GET http://127.0.0.1:\(origin.port)/lists?\(ids) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n"
        try client.send(Array(head.utf8) + body)
        #expect(try client.readResponse().status == 200)
        #expect(origin.requests.first?.body == body)
    }

    @Test func `LOOK-06 a body too long to be judged comes whole where its query is judged elsewhere`() throws {
        let origin = try RawOrigin(answering: response("ok"))
        let pintle = try PintleProcess(
            """
            limits: {header_line: 64KiB, body_buffer: 64KiB}
            routes: [{name: r, contract: {file: openapi.yaml, requests: true}, response: {on_violation: report}}]
            """, folder: self.folder)
        let body = Array("\"".utf8) + [UInt8](repeating: 0x61, count: 300_000) + Array("\"".utf8)
        let ids = String(repeating: "id=1&", count: 6_000)
        for isChunked in [false, true] {
            let client = try pintle.connect()
            let target = "http://127.0.0.1:\(origin.port)/lists?\(ids)"
            let head = "POST \(target) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            if isChunked {
                try client.send(head + "Transfer-Encoding: chunked\r\n\r\n\(String(body.count, radix: 16))\r\n")
                try client.send(body)
                try client.send("\r\n0\r\n\r\n")
            } else {
                try client.send(Array((head + "Content-Length: \(body.count)\r\n\r\n").utf8) + body)
            }
            #expect(try client.readResponse(to: "POST").status == 200)
            #expect(origin.requests.last?.body == body)
        }
    }

    @Test func `LOOK-07 a body of a million values is serialized elsewhere, in bounds, and others go on`() throws {
        let origin = try RawOrigin(answering: response("ok"))
        let pintle = try PintleProcess(
            "engine: {threads: 1}\nroutes: [{name: r, request: {serialize: plist}}]", folder: self.folder)
        let hostile = try pintle.connect()
        let body = try Self.gzip(Self.list(4_000_000))
        try hostile.send(Self.post(origin.port, "/", body, fields: "Content-Encoding: gzip\r\n"))
        #expect(try pintle.ask(get(origin.port)).status == 200)
        let answer = try hostile.readResponse(to: "POST")
        #expect(answer.status == 413)
        #expect(
            answer.text.contains("to be serialized it takes more than 4000000 steps; send less at a time"),
            "\(answer.text)")
    }

    @Test func `LOOK-07 what is serialized elsewhere arrives as it would otherwise`() throws {
        let origin = try RawOrigin(answering: response("ok"))
        let pintle = try PintleProcess(
            "routes: [{name: r, request: {serialize: json, parameters: {tag: x}}}]", folder: self.folder)
        let members = (0..<5_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
        for fields in ["", "Content-Encoding: gzip\r\n"] {
            let plain = Array("{\(members)}".utf8)
            let client = try pintle.connect()
            try client.send(Self.post(origin.port, "/", fields.isEmpty ? plain : Self.gzip(plain), fields: fields))
            #expect(try client.readResponse(to: "POST").status == 200)
            #expect(origin.requests.last?.text == "{\(members),\"tag\":\"x\"}")
        }
    }

    @Test func `LOOK-09 a client that leaves takes its work with it`() throws {
        let origin = try RawOrigin(answering: response("ok"))
        let pintle = try PintleProcess(
            "engine: {threads: 1}\nroutes: [{name: r, contract: {file: openapi.yaml, requests: true}}]",
            folder: self.folder)
        let body = try Self.gzip(Self.list(800_000))
        for _ in 0..<40 {
            let client = try pintle.connect()
            try client.send(Self.post(origin.port, "/lists", body, fields: "Content-Encoding: gzip\r\n"))
            // A reset tells at once that the client is gone; after an end of input it might still wait for the answer.
            client.reset()
        }
        try pintle.waitForExchanges(40)
        // Were all of them judged to the end, this one would be the last in a line of forty.
        let answer = try pintle.ask(get(origin.port, "/lists?id=1"))
        #expect(answer.status == 200)
        let counters = try pintle.counters()
        #expect(counters["active"] as? Int == 0, "\(counters)")
    }

    @Test func `LOOK-06 a stream that unfolds a thousandfold is looked at in turns with others`() throws {
        let body = try Self.gzip(Self.list(15_000_000))
        let isSent = Watched(false)
        let origin = try RawOrigin { connection in
            let request = try connection.readRequest()
            if !request.head.startLine.contains("/stream ") { return try connection.send(response("ok")) }
            try connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
                    + "Content-Length: \(body.count)\r\n\r\n")
            try connection.stream.send(body)
            isSent.change { $0 = true }
        }
        let pintle = try PintleProcess(
            """
            engine: {threads: 1}
            routes: [{name: r, match: {paths: ["/stream"]}, response: {body: json, on_violation: report}}]
            """)
        let client = try pintle.connect()
        try client.send(get(origin.port, "/stream"))
        try isSent.wait(for: "the body to be sent") { $0 }
        #expect(try pintle.ask(get(origin.port, "/other")).text == "ok")
        #expect(try client.readResponse().body == body)
        let records = try pintle.waitForExchanges(2)
        #expect(records.map { $0["route"] as? String } == [nil, "r"], "the other one is answered first")
        #expect(records.allSatisfy { ($0["violations"] as? [String] ?? []).isEmpty }, "\(records)")
    }
}
