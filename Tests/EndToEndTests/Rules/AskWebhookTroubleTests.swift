// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleTesting
import Testing

/// A webhook that does not answer as it should, and changes of the configuration meanwhile.
extension AskWebhookTests {
    /// Sends a request that is asked about.
    private func ask(_ pintle: PintleProcess, _ origin: RawOrigin) throws -> SocketStream {
        let client = try pintle.connect()
        try client.send(get(origin.port).replacingOccurrences(of: "127.0.0.1", with: "localhost"))
        return client
    }

    // MARK: Silence

    @Test func `a webhook that never answers leaves the problem of ask timeout, and no connection`() throws {
        let receiver = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let (pintle, origin, asked) = try self.stage(receiver, ", timeout: 1s")
        let answer = try self.ask(pintle, origin).readResponse()
        #expect(answer.status == 403 && answer.text.contains("destination-denied"), "\(answer)")
        #expect(answer.text.contains("not answered within 1s (ask.timeout)"), "\(answer)")
        let exchange = try #require(try pintle.waitForExchanges(1).first)
        #expect(exchange["status"] as? Int == 403 && exchange["rule"] as? String == "destinations.ask[0] \"localhost\"")
        try pintle.process.waitForLine("a warning") { $0.contains("ask.webhook: it has not answered within 1s") }
        #expect(try asked.questions().isEmpty && origin.connections.isEmpty)
        try receiver.waitUntilQuiet()
    }

    @Test(arguments: ["the client leaves", "another place answers"])
    func `a post ends with its question, however long that could have been open`(end: String) throws {
        let receiver = try RawOrigin { connection in
            _ = try connection.readRequest()
            _ = try connection.waitForEnd()
        }
        let (pintle, origin, asked) = try self.stage(receiver, ", timeout: 1h")
        let client = try self.ask(pintle, origin)
        try receiver.waitForRequests(1)
        if end == "the client leaves" {
            client.reset()
        } else {
            #expect(try asked.reply("allow", "once").status == 204)
            #expect(try client.readResponse().status == 200)
        }
        try receiver.waitUntilQuiet()
        // That is no failure of the webhook.
        #expect(!pintle.process.lines.contains { $0.text.contains("ask.webhook: ") }, "\(pintle.process.lines)")
    }

    // MARK: Broken answers

    /// Beginnings of answers, made of the question's id, after which the connection ends.
    private static let broken: [(name: String, bytes: @Sendable (String) -> String)] = [
        ("nothing", { _ in "" }), ("half a head", { _ in "HTTP/1.1 200 OK\r\nPintle-Sign" }),
        (
            "half a body",
            { id in
                let body = answer(id)
                let whole = response(body, fields: "Pintle-Signature: \(signed(body))\r\n")
                return String(whole.dropLast(body.count / 2))
            }
        ),
        (
            "a body without its last chunk",
            { id in
                let body = answer(id)
                let size = String(body.utf8.count, radix: 16)
                return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nPintle-Signature: \(signed(body))\r\n\r\n"
                    + "\(size)\r\n\(body)\r\n"
            }
        ),
    ]

    @Test(arguments: Self.broken.indices, [true, false])
    func `a webhook that is killed in the middle of its answer has answered nothing`(index: Int, isReset: Bool) throws {
        let bytes = Self.broken[index].bytes
        let receiver = try RawOrigin { connection in
            try connection.send(bytes(Self.id(connection.readRequest())))
            if isReset { connection.stream.reset() }
        }
        let (pintle, origin, asked) = try self.stage(receiver)
        let client = try self.ask(pintle, origin)
        try pintle.process.waitForLine("a warning of \(Self.broken[index].name)") { $0.contains("ask.webhook: ") }
        #expect(origin.connections.isEmpty && receiver.requests.count == 1)
        // The question is still open, for others.
        #expect(try asked.reply("allow", "once").status == 204)
        #expect(try client.readResponse().status == 200)
    }

    @Test func `an answer that failed can come later, signed`() throws {
        let receiver = try self.receiver { _ in response("", status: "500 Oops") }
        let (pintle, origin, asked) = try self.stage(receiver)
        let client = try self.ask(pintle, origin)
        try pintle.process.waitForLine("a warning") { $0.contains("ask.webhook: it answers with status 500") }
        let id = try Self.id(try #require(receiver.requests.first))
        let body = Self.answer(id)
        let later = try Curl.run([
            "-H", "Pintle-Signature: \(Self.signed(body))", "-d", body, "\(asked.address)/ask/\(id)",
        ])
        #expect(later.status == 204, "\(later)")
        #expect(try client.readResponse().text == "done")
        let exchange = try #require(try pintle.waitForExchanges(1).first)
        #expect(exchange["rule"] as? String == "destinations.ask[0] \"localhost\", granted by the webhook, once")
    }

    @Test func `a question is posted once, also if a connection that was used before breaks`() throws {
        let receiver = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(response("", status: "202 Accepted"))
            // A question on the same connection would get no answer, and be sent again on another.
            _ = try connection.readRequest()
        }
        let (pintle, origin, asked) = try self.stage(receiver)
        for number in 0..<3 {
            let client = try self.ask(pintle, origin)
            try receiver.waitForRequests(number + 1)
            _ = try pintle.waitForMessages("ask", 2 * number + 1)
            #expect(try asked.reply("allow", "once").status == 204)
            #expect(try client.readResponse().status == 200)
        }
        #expect(receiver.requests.count == 3)
        #expect(Set(try receiver.requests.map { try Self.id($0) }).count == 3)
    }

    // MARK: Endless answers

    /// The beginnings of answers, and the piece that then comes again and again.
    private static let endless: [(name: String, head: String, piece: String)] = [
        ("a body", "HTTP/1.1 200 OK\r\n\r\n", String(repeating: "x", count: 64 << 10)),
        (
            "chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "10000\r\n\(String(repeating: "{", count: 64 << 10))\r\n"
        ), ("a body that nothing needs", "HTTP/1.1 202 Accepted\r\n\r\n", String(repeating: "x", count: 64 << 10)),
        ("a body of an error", "HTTP/1.1 500 Oops\r\n\r\n", String(repeating: "x", count: 64 << 10)),
        ("a head", "HTTP/1.1 200 OK\r\n", "X-Field: \(String(repeating: "x", count: 1000))\r\n"),
        ("interim responses", "", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    ]

    @Test(arguments: Self.endless.indices)
    func `an endless answer takes little memory, and ends`(index: Int) throws {
        let (name, head, piece) = Self.endless[index]
        let receiver = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(head)
            // Until Pintle closes the connection.
            while true { try connection.send(piece) }
        }
        let (pintle, origin, asked) = try self.stage(receiver)
        let before = try pintle.memory("VmHWM")
        let client = try self.ask(pintle, origin)
        try pintle.process.waitForLine("a warning of \(name)") { $0.contains("ask.webhook: ") }
        try receiver.waitUntilQuiet()
        let grown = try pintle.memory("VmHWM") - before
        #expect(grown < 64 << 10, "\(name): \(grown) KiB")
        #expect(origin.connections.isEmpty)
        #expect(try asked.reply("allow", "once").status == 204)
        #expect(try client.readResponse().status == 200)
    }

    // MARK: Reloads

    @Test func `a reload loses no answer that is under way, and another webhook gets the open questions`() throws {
        let release = Watched(false)
        defer { release.change { $0 = true } }
        let receiver = try self.receiver { question in
            try release.wait(for: "the reload") { $0 }
            let body = Self.answer(try Self.id(question))
            return response(body, fields: "Pintle-Signature: \(Self.signed(body))\r\n")
        }
        let other = try self.receiver { question in
            let body = Self.answer(try Self.id(question), "deny")
            return response(body, fields: "Pintle-Signature: \(Self.signed(body))\r\n")
        }
        let folder = try TemporaryFolder()
        func rules(_ port: Int) -> String {
            """
            admin: "127.0.0.1:0"
            destinations: {default: deny, ask: [localhost]}
            ask: {webhook: {url: "http://127.0.0.1:\(port)/", secret: "env:SECRET"}}
            """
        }
        let pintle = try PintleProcess(
            rules(receiver.port), environment: ["SECRET": Self.secret], folder: folder)
        let origin = try RawOrigin(answering: response("done"))
        func reload() throws {
            let process = try PintleProcess.run(["reload"], environment: ["XDG_STATE_HOME": folder.path])
            #expect(process.exitCode == 0, "\(process.lines)")
        }
        let first = try self.ask(pintle, origin)
        try receiver.waitForRequests(1)
        try reload()
        release.change { $0 = true }
        #expect(try first.readResponse().status == 200)
        release.change { $0 = false }
        let second = try self.ask(pintle, origin)
        try receiver.waitForRequests(2)
        _ = try folder.write(
            "version: 1\nlog: {format: json, exchanges: \"-\"}\n\(rules(other.port))\n", to: "pintle.yaml")
        try reload()
        let denied = try second.readResponse()
        #expect(denied.status == 403 && denied.text.contains("denied by the webhook"), "\(denied)")
        #expect(try other.requests.map { try Self.id($0) } == [Self.id(receiver.requests[1])])
    }
}
