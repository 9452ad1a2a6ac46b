// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleLoop
import PintleMessage
import PintlePolicy
import PintleSerialization
import Testing

@testable import PintleProxy

/// Policy tests judge a response at once, and an exchange judges it in pieces: both find the same violations.
struct WholeVerdictTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let rules: String
        let head: ResponseHead
        let body: String

        var testDescription: String { "\(self.rules): \(self.head.status) \(self.head.fields.pairs) \(self.body)" }
    }

    /// Every combination of rules, heads and bodies.
    static let cases: [Case] = {
        let rules = [
            "status: [200]", "content_types: [application/json]", "body: json", "body: [plist, json]",
            "body: xml, status: [2xx]", "max_body: 10", "body: json, max_body: 10", "body: image",
            "status: [200], content_types: [application/json], body: {json: {schema: /s.json}}",
            "body: json, remove_nulls: true",
        ]
        let heads: [ResponseHead] = [
            ResponseHead(status: 200, fields: ["Content-Type": "application/json"]),
            ResponseHead(status: 404, fields: ["Content-Type": "application/json"]),
            ResponseHead(status: 200, fields: ["Content-Type": "text/html"]),
            ResponseHead(status: 206, fields: ["Content-Type": "application/json", "Content-Range": "bytes 0-1/9"]),
            ResponseHead(status: 204), ResponseHead(status: 200, fields: ["Content-Type": "application/xml"]),
        ]
        let bodies = ["", "{}", "{\"a\": null, \"b\": 1}", "{\"a\": ", "<a/>", "<a>", "[1, 2, 3, 4, 5, 6]"]
        return rules.flatMap { rule in
            ["reject", "report"].flatMap { treatment in
                heads.flatMap { head in
                    bodies.filter { $0.isEmpty || head.status != 204 }.map { body in
                        Case(rules: "\(rule), on_violation: \(treatment)", head: head, body: body)
                    }
                }
            }
        }
    }()

    @Test func `the verdict on a whole response is that of an exchange`() async throws {
        let loop = try Loop(name: "inspection")
        defer { loop.stop() }
        var (kept, broken) = (0, 0)
        for test in Self.cases {
            let policy = try PolicyLoader.policy(
                yaml: Array("version: 1\nroutes: [{name: a, response: {\(test.rules)}}]".utf8), file: "p.yaml",
                surroundings: LoaderEnvironment(
                    environment: [:],
                    read: { (path, _) throws(LoaderEnvironment.ReadingError) in
                        guard path == "/s.json" else { throw .notFound }
                        return Array("{\"required\": [\"b\"]}".utf8)
                    },
                    exists: { $0 == "/s.json" }))
            let route = try #require(policy.routes.routes.first)
            let judge = ResponseValidator(
                route.contract, nil, method: "GET", onViolation: policy.onViolation(on: route),
                maxBody: route.configuration.response.maxBody)
            let limits = policy.configuration.limits
            let whole = judge.verdict(on: test.head, body: Array(test.body.utf8), bodyBuffer: limits.bodyBuffer)
            let pieces = try await loop.submit { ViolationCollector.kinds(of: test, judge, limits, loop) }.get()
            #expect(Set((whole?.kinds ?? []).map(\.rawValue)) == Set(pieces.map(\.rawValue)), "\(test)")
            if pieces.isEmpty { kept += 1 } else { broken += 1 }
        }
        #expect(kept > 100 && broken > 100)
    }
}

/// Gives a response to an inspection in pieces of a few bytes, and collects the violations. Used on one loop.
private final class ViolationCollector {
    private var kinds: [ValidationError.Kind] = []
    private var isOver = false
    private let inspection: ResponseInspection

    private init(_ judge: ResponseValidator, _ limits: LimitsConfiguration, _ loop: Loop) {
        self.inspection = ResponseInspection(
            judge, limits: limits, loop: loop, reserve: { _ in true }, whenBehind: {})
    }

    static func kinds(
        of test: WholeVerdictTests.Case, _ judge: ResponseValidator, _ limits: LimitsConfiguration, _ loop: Loop
    ) -> [ValidationError.Kind] {
        let collector = ViolationCollector(judge, limits, loop)
        let body = Array(test.body.utf8)
        collector.take(collector.inspection.receive(test.head, length: UInt64(body.count)))
        var rest = body[...]
        while !rest.isEmpty, !collector.isOver {
            let piece = Array(rest.prefix(3))
            rest = rest.dropFirst(3)
            piece.withUnsafeBytes { collector.take(collector.inspection.receive($0)) }
        }
        if !collector.isOver { collector.take(collector.inspection.end()) }
        return collector.kinds
    }

    private func take(_ action: ResponseInspection.Action) {
        switch action {
        case .wait: break
        case .pass(_, let violation), .finish(let violation): self.kinds += violation?.kinds ?? []
        case .forward(let violations): self.kinds += violations.flatMap(\.kinds)
        case .reject(let violation):
            self.kinds += violation.kinds
            self.isOver = true
        case .cut(let violations):
            self.kinds += violations.flatMap(\.kinds)
            self.isOver = true
        case .refuse: self.isOver = true
        case .judge(let held, let judge):
            self.take(self.inspection.judged(ResponseInspection.judge(held, by: judge, within: .unlimited), nil))
        }
    }
}
