// SPDX-License-Identifier: Apache-2.0

import Foundation
import PintleActivity
import PintleProxy
import PintleTesting
import Testing

/// `ask.webhook`: a program that is asked, and its signed answers.
struct AskWebhookTests {
    static let secret = "0123456789abcdef0123456789"
    static let signature = AnswerSignature(secret: secret)

    static func answer(_ id: String, _ word: String = "allow") -> String {
        "{\"id\": \"\(id)\", \"answer\": \"\(word)\", \"for\": \"once\"}"
    }

    static func signed(_ body: String, at time: Timestamp = .now()) -> String {
        self.signature.value(for: Array(body.utf8), at: time)
    }

    static func id(_ question: Message) throws -> String {
        try #require(try jsonObject(question.text)["id"] as? String)
    }

    /// A proxy that asks a receiver, and an origin that is asked about.
    func stage(
        _ receiver: RawOrigin, _ ask: String = ""
    ) throws -> (pintle: PintleProcess, origin: RawOrigin, asked: AskedProcess) {
        let folder = try TemporaryFolder()
        let pintle = try PintleProcess(
            """
            admin: "127.0.0.1:0"
            destinations: {default: deny, ask: [localhost]}
            ask: {webhook: {url: "http://127.0.0.1:\(receiver.port)/ask?x=1", secret: "env:SECRET"}\(ask)}
            """, environment: ["SECRET": Self.secret], folder: folder)
        return (pintle, try RawOrigin(answering: response("done")), try AskedProcess(pintle, in: folder))
    }

    func receiver(_ respond: @escaping @Sendable (Message) throws -> String) throws -> RawOrigin {
        try RawOrigin { connection in try connection.send(respond(try connection.readRequest())) }
    }

    @Test(arguments: ["allow", "deny"])
    func `a signed response answers, and the question is signed, too`(word: String) throws {
        let receiver = try self.receiver { question in
            let body = Self.answer(try Self.id(question), word)
            return response(body, fields: "Pintle-Signature: \(Self.signed(body))\r\n")
        }
        let (pintle, origin, _) = try self.stage(receiver)
        let result = try Curl.run(proxy: pintle.port, "http://localhost:\(origin.port)/a?token=secret")
        #expect(result.status == (word == "allow" ? 200 : 403), "\(result)")
        #expect(word == "allow" || result.text.contains("denied by the webhook"), "\(result)")
        let question = try #require(receiver.requests.first)
        #expect(question.head.startLine == "POST /ask?x=1 HTTP/1.1")
        #expect(Self.signature.isValid(question.head["Pintle-Signature"], for: question.body, at: .now()))
        let document = try jsonObject(question.text)
        #expect(document["host"] as? String == "localhost" && document["port"] as? Int == origin.port)
        #expect(document["url"] as? String == "http://localhost:\(origin.port)/a")
    }

    /// Responses that answer nothing, made of the question's id.
    private static let invalid:
        [(name: String, fields: @Sendable (String) -> String, body: @Sendable (String) -> String)] = [
            ("no signature", { _ in "" }, { answer($0) }),
            (
                "another secret",
                { id in
                    "Pintle-Signature: \(AnswerSignature(secret: "another-secret-of-it").value(for: Array(answer(id).utf8), at: .now()))\r\n"
                }, { answer($0) }
            ),
            ("another body", { id in "Pintle-Signature: \(signed(answer(id, "deny")))\r\n" }, { answer($0) }),
            (
                "an old signature",
                { id in
                    let time = Timestamp(milliseconds: Timestamp.now().milliseconds - 400_000)
                    return "Pintle-Signature: \(signed(answer(id), at: time))\r\n"
                }, { answer($0) }
            ),
            ("another question", { _ in "Pintle-Signature: \(signed(answer("other")))\r\n" }, { _ in answer("other") }),
        ]

    @Test(arguments: Self.invalid.indices)
    func `a response that is not signed for its question answers nothing`(index: Int) throws {
        let (name, fields, body) = Self.invalid[index]
        let receiver = try self.receiver { question in
            let id = try Self.id(question)
            return response(body(id), fields: fields(id))
        }
        let (pintle, origin, asked) = try self.stage(receiver)
        let client = try pintle.connect()
        try client.send(get(origin.port).replacingOccurrences(of: "127.0.0.1", with: "localhost"))
        try pintle.process.waitForLine("a warning: \(name)") { $0.contains("ask.webhook: its answer") }
        #expect(origin.connections.isEmpty)
        // The question is still open, for others.
        #expect(try asked.reply("allow", "once").status == 204)
        #expect(try client.readResponse().status == 200)
    }

    @Test func `a late answer comes to the admin endpoint, signed and once`() throws {
        let receiver = try self.receiver { _ in response("", status: "202 Accepted") }
        let (pintle, origin, asked) = try self.stage(receiver)
        let client = try pintle.connect()
        try client.send(get(origin.port).replacingOccurrences(of: "127.0.0.1", with: "localhost"))
        _ = try pintle.waitForMessages("ask")
        let id = try #require(try asked.questions().first?["id"] as? String)
        func post(_ body: String, _ signature: String?, to path: String) throws -> Int {
            let field = signature.map { ["-H", "Pintle-Signature: \($0)"] } ?? []
            return try Curl.run(field + ["-d", body, "\(asked.address)/ask/\(path)"]).status
        }
        let body = Self.answer(id)
        #expect(try post(body, nil, to: id) == 403)
        #expect(try post(body, "t=1,v1=00", to: id) == 403)
        let old = Timestamp(milliseconds: Timestamp.now().milliseconds - 400_000)
        #expect(try post(body, Self.signed(body, at: old), to: id) == 403)
        #expect(try post(body, Self.signed(Self.answer(id, "deny")), to: id) == 403)
        #expect(try post(Self.answer("other"), Self.signed(Self.answer("other")), to: id) == 400)
        #expect(try post(Self.answer("other"), Self.signed(Self.answer("other")), to: "other") == 404)
        #expect(origin.connections.isEmpty)
        let signature = Self.signed(body)
        #expect(try post(body, signature, to: id) == 204)
        #expect(try client.readResponse().status == 200)
        // An answer that comes again has no effect, also while there is another question for the host.
        let again = try pintle.connect()
        try again.send(get(origin.port).replacingOccurrences(of: "127.0.0.1", with: "localhost"))
        _ = try pintle.waitForMessages("ask", 3)
        #expect(try post(body, signature, to: id) == 404)
        #expect(try asked.questions().count == 1)
    }

    @Test func `a webhook that fails is told of, and the question ends in time`() throws {
        let receiver = try self.receiver { _ in response("", status: "500 Oops") }
        let (pintle, origin, _) = try self.stage(receiver, ", timeout: 1s")
        let result = try Curl.run(proxy: pintle.port, "http://localhost:\(origin.port)/")
        #expect(result.status == 403 && result.text.contains("not answered within 1s"), "\(result)")
        try pintle.process.waitForLine("a warning") { $0.contains("ask.webhook: it answers with status 500") }
    }

    @Test(arguments: [true, false])
    func `a webhook over TLS is asked only if it shows the pinned key`(isPinned: Bool) throws {
        let pki = TestPKI()
        let root = try pki.root("Webhook Root")
        let leaf = try pki.leaf("webhook", dns: ["localhost"], signedBy: root)
        let pin = isPinned ? leaf.pin : try pki.root("Other Root").pin
        let receiver = try self.receiver { question in
            let body = Self.answer(try Self.id(question))
            return response(body, fields: "Pintle-Signature: \(Self.signed(body))\r\n")
        }
        let terminator = try TLSTerminator(leaf, leadingTo: receiver.port)
        let folder = try TemporaryFolder()
        try folder.write(root.certificatePEM, to: "root.pem")
        let pintle = try PintleProcess(
            """
            trust: {hook: {roots: [root.pem], pinning: public_key, pins: ["\(pin)"]}}
            destinations: {default: deny, ask: [localhost]}
            ask:
              timeout: 2s
              webhook: {url: "https://localhost:\(terminator.port)/ask?x=1", secret: "env:SECRET", trust: hook}
            """, environment: ["SECRET": Self.secret], folder: folder)
        let origin = try RawOrigin(answering: response("done"))
        let result = try Curl.run(proxy: pintle.port, "http://localhost:\(origin.port)/a")
        #expect(result.status == (isPinned ? 200 : 403), "\(result)")
        #expect(receiver.requests.map(\.head.startLine) == (isPinned ? ["POST /ask?x=1 HTTP/1.1"] : []))
        if isPinned { return }
        try pintle.process.waitForLine("a warning") { $0.contains("ask.webhook: ") && $0.contains("pin") }
    }

    @Test func `the command of a run does not get the secret`() throws {
        let stage = try RunStage("ask: {webhook: {url: \"https://ask.example/\", secret: \"env:SECRET\"}}")
        let process = try stage.run(environment: ["SECRET": Self.secret, "OTHER": "kept"], ["env"])
        #expect(process.output.contains("OTHER=kept") && !process.lines.contains { $0.text.contains(Self.secret) })
    }
}
