// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintlePolicy
import PintleSerialization
import PintleSession
import Testing

/// A request, the step that comes first, and the request as it is made.
struct PlanRow: Sendable, CustomTestStringConvertible {
    let name: String
    /// YAML after `version: 1`.
    var policy = ""
    /// A request line without a version, then fields; a Host is added.
    var request: [String] = ["GET http://a.test/"]
    var body = ""
    /// True to treat the body as one that is too long to be collected.
    var isUnbuffered = false
    /// The step with its grounds.
    var step = ""
    /// Route and destination rule.
    var decision = ""
    /// The request as it is sent, or the problem.
    var made = ""
    var minorVersion: UInt8 = 1

    var testDescription: String { self.name }

    static let files = [
        "/clip.json": "{}",
        "api.yaml": """
        openapi: 3.1.0
        info: {title: pets, version: "1"}
        servers: [{url: /v1}]
        paths:
          /pets:
            get:
              parameters:
                - {name: limit, in: query, schema: {type: integer}}
                - {name: Range, in: header, required: true, schema: {type: string}}
              responses: {200: {description: all, content: {application/json: {schema: {type: array}}}}}
            post:
              requestBody:
                required: true
                content: {application/json: {schema: {type: object, required: [name]}}}
              responses: {201: {description: made}}
        """,
    ]

    func check() throws {
        let policy = try PolicyLoader.policy(
            yaml: Array("version: 1\n\(self.policy)".utf8), file: "pintle.yaml",
            surroundings: surroundings(files: Self.files))
        let head = try RequestHead(spelled: self.request, minorVersion: self.minorVersion)
        let plan = RequestPlan(head, try head.bodyFraming(), by: policy)
        let found = (plan.spelledStep, plan.spelledDecision, self.made(plan, head))
        #expect(found.0 == self.step)
        #expect(found.1 == self.decision)
        #expect(found.2 == self.made)
    }

    private func made(_ plan: RequestPlan, _ head: RequestHead) -> String {
        let bytes = ByteBuffer(string: self.body)
        let isChunked = head.fields.contains(.transferEncoding)
        let body: RequestPlan.Body
        switch plan.step {
        case .refuse, .respond, .answer, .tunnel, .ask: return ""
        case .send: body = .streamed
        case .collect where self.isUnbuffered: body = .unbuffered(beginning: bytes, reason: Problem.unbuffered.detail)
        case .collect: body = .whole(bytes, trailers: isChunked ? ["X-Sum": "1", "Host": "b"] : [:])
        }
        do throws(Problem) {
            return try plan.request(from: head, body, of: .local, within: .unlimited).spelled
        } catch {
            return "\(error.status) \(error.name.rawValue): \(error.detail)"
        }
    }
}

extension RequestPlan {
    fileprivate var spelledStep: String {
        switch self.step {
        case .refuse(let problem): "refuse \(problem.status) \(problem.name.rawValue): \(problem.detail)"
        case .respond(let answer): "respond \(answer.status)"
        case .answer: "answer"
        case .collect: self.isSerialized ? "collect for the serializer" : "collect for the contract"
        case .send: self.undeclared.map { "send, reporting: \($0)" } ?? "send"
        case .tunnel(let authority): "tunnel to \(authority)"
        case .ask(let rule, _): "ask by \(rule)"
        }
    }

    fileprivate var spelledDecision: String {
        guard let decision else { return "" }
        let rule =
            decision.destination.denial.map { "denied by \($0)" } ?? decision.destination.rule.map {
                "allowed by \($0)"
            } ?? "by address"
        return "\(decision.route?.name ?? "-"), \(rule)"
    }
}

extension PlannedRequest {
    fileprivate var spelled: String {
        let request = self.transfer
        let fields = request.fields.pairs.filter { $0.value != "1.1 pintle" }.map { "\($0.name): \($0.value)" }
        var words =
            "\(request.method) \(request.scheme.rawValue)://\(request.authority.description(for: request.scheme))\(request.path)"
        if !fields.isEmpty { words += " {\(fields.joined(separator: ", "))}" }
        switch request.body {
        case .none: break
        case .bytes(let bytes): words += " with \"\(String(buffer: bytes))\""
        case .stream(let length): words += " streaming \(length.map { "\($0)" } ?? "chunks")"
        }
        if self.content.readableBytes > 0 { words += " from \"\(String(buffer: self.content))\"" }
        if !self.trailers.isEmpty {
            words += " then \(self.trailers.pairs.map { "\($0.name): \($0.value)" }.joined(separator: ", "))"
        }
        if let offer { words += " offering \(offer.value)" }
        if !request.isRepeatable { words += ", once" }
        if self.judge != nil { words += ", judged" }
        for breach in self.breaches { words += ", reporting \(breach.kind.rawValue): \(breach.reason)" }
        return words
    }
}

extension RequestHead {
    init(spelled lines: [String], minorVersion: UInt8 = 1) throws {
        let first = lines[0].split(separator: " ")
        var rest = lines.dropFirst().map { $0 + "\r\n" }.joined()
        let host =
            first[1].hasPrefix("http") ? first[1].split(separator: "/")[1] : first[0] == "CONNECT" ? first[1] : ""
        if !host.isEmpty, !rest.contains("Host: ") { rest = "Host: \(host)\r\n" + rest }
        let bytes = Array("\(lines[0]) HTTP/1.\(minorVersion)\r\n\(rest)\r\n".utf8)
        var parser = RequestParser(limits: HeadLimits())
        var result = Result<(head: RequestHead, length: Int)?, WireError>.success(nil)
        bytes.withUnsafeBytes { bytes in result = Result { () throws(WireError) in try parser.parse(bytes) } }
        guard let parsed = try result.get() else { throw Malformed("the test's head \(lines)") }
        self = parsed.head
    }
}
