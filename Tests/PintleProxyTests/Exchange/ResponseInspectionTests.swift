// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleActivity
import PintleLoop
import PintleMessage
import PintlePolicy
import PintleSerialization
import Testing

@testable import PintleProxy

/// The inspection of one response alone: its inputs, and its effects on the response.
struct ResponseInspectionTests {
    /// The events that an inspection receives.
    enum Event: Sendable {
        case head(Fields, UInt64?)
        case status(UInt16)
        case switching(UInt16)
        case bytes(String)
        case raw([UInt8])
        case trailers
        case end
        /// The verdict of another thread, within its budget.
        case judged(WorkBudget.Interruption?)
        case notJudged
        case proceed
        case stop
        /// Less memory is there from now on.
        case shortage
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let rules: String
        let events: [Event]
        var actions: [String] = []

        var testDescription: String { self.name }
    }

    private static let json: Fields = ["Content-Type": "application/json"]
    private static let folded: Fields = ["Content-Type": "application/json", "Content-Encoding": "gzip"]
    private static let long = "[\"" + String(repeating: "x", count: 40_000) + "\"]"
    private static let wide = "[" + String(repeating: " ", count: 70_000)

    static let rejecting: [Row] = [
        Row(
            name: "what demands nothing of bodies passes with the head", rules: "status: [200]", events: [.status(200)],
            actions: ["pass 0 bytes"]),
        Row(
            name: "a status", rules: "status: [200]", events: [.status(404)],
            actions: ["reject, response-status"]),
        Row(
            name: "a switch that is listed", rules: "status: [101]", events: [.switching(101)],
            actions: ["pass 0 bytes"]),
        Row(
            name: "a switch that is not listed", rules: "status: [200]", events: [.switching(101)],
            actions: ["reject, response-status"]),
        Row(
            name: "a good body", rules: "body: json", events: [.head(json, nil), .bytes("[1"), .bytes("]"), .end],
            actions: ["wait", "wait", "wait", "pass 3 bytes"]),
        Row(
            name: "a bad body", rules: "body: json", events: [.head(json, nil), .bytes("[1"), .end],
            actions: ["wait", "wait", "reject, response-body"]),
        Row(
            name: "trailers are kept with what is held", rules: "body: json",
            events: [.head(json, nil), .trailers, .end],
            actions: ["wait", "wait", "pass 0 bytes, trailers"]),
        Row(
            name: "trailers behind what has passed", rules: "max_body: 9",
            events: [.head(json, nil), .bytes("x"), .trailers, .end],
            actions: ["pass 0 bytes", "forward", "–", "finish"]),
        Row(
            name: "max_body in the head", rules: "max_body: 1", events: [.head(json, 2)],
            actions: ["reject, body-too-large"]),
        Row(
            name: "max_body in the body", rules: "max_body: 1", events: [.head(json, nil), .bytes("x"), .bytes("y")],
            actions: ["pass 0 bytes", "forward", "cut, body-too-large"]),
        Row(
            name: "max_body while it is held", rules: "body: json, max_body: 1",
            events: [.head(json, nil), .bytes("[]")],
            actions: ["wait", "reject, body-too-large"]),
        Row(
            name: "no memory", rules: "body: json", events: [.head(json, nil), .shortage, .bytes("[]")],
            actions: [
                "wait", "–", "refuse: as many bytes are held as limits.held_bytes (512MiB) allows; try again later",
            ]),
        Row(
            name: "a good body that is judged elsewhere", rules: "body: json",
            events: [.head(json, nil), .bytes(long), .end, .judged(nil)],
            actions: ["wait", "wait", "judge 40004 bytes", "pass 40004 bytes"]),
        Row(
            name: "a bad body that is judged elsewhere", rules: "body: json",
            events: [.head(json, nil), .bytes(long + "x"), .end, .judged(nil)],
            actions: ["wait", "wait", "judge 40005 bytes", "reject, response-body"]),
        Row(
            name: "a body that takes too many steps", rules: "body: json",
            events: [.head(json, nil), .bytes(long), .end, .judged(.steps(1))],
            actions: ["wait", "wait", "judge 40004 bytes", "reject, response-body"]),
        Row(
            name: "a body that takes too much time", rules: "body: json",
            events: [.head(json, nil), .bytes(long), .end, .judged(.time)],
            actions: ["wait", "wait", "judge 40004 bytes", "reject, response-body"]),
        Row(
            name: "a body that takes too much memory", rules: "body: json",
            events: [.head(json, nil), .bytes(long), .end, .judged(.memory)],
            actions: [
                "wait", "wait", "judge 40004 bytes",
                "refuse: as many bytes are held as limits.held_bytes (512MiB) allows; try again later",
            ]),
        Row(
            name: "a body that no thread takes", rules: "body: json",
            events: [.head(json, nil), .bytes(long), .end, .notJudged],
            actions: ["wait", "wait", "judge 40004 bytes", "refuse: no thread"]),
        Row(
            name: "a body that is stopped", rules: "body: json", events: [.head(json, nil), .bytes("["), .stop],
            actions: ["wait", "wait", "–"]),
        Row(
            name: "a placeholder for no memory",
            rules: "body: json, on_violation: placeholder, placeholder: {file: gone.json}",
            events: [.head(json, nil), .shortage, .bytes("[]")],
            actions: ["wait", "–", "reject, body-too-large"]),
    ]

    static let reporting: [Row] = [
        Row(
            name: "a reported status", rules: "status: [200], on_violation: report", events: [.status(404)],
            actions: ["pass 0 bytes, response-status"]),
        Row(
            name: "a reported switch", rules: "status: [200], on_violation: report", events: [.switching(101)],
            actions: ["pass 0 bytes, response-status"]),
        Row(
            name: "a short body that is bad", rules: "body: json, on_violation: report",
            events: [.head(json, nil), .bytes("[1"), .end],
            actions: ["wait", "wait", "pass 2 bytes, response-body"]),
        Row(
            name: "a long body leaves before its end", rules: "body: json, on_violation: report",
            events: [.head(json, nil), .bytes(wide), .bytes("]"), .end],
            actions: ["wait", "pass 70001 bytes", "forward", "finish"]),
        Row(
            name: "a long body turns bad", rules: "body: json, on_violation: report",
            events: [.head(json, nil), .bytes(wide), .bytes("no"), .bytes("x"), .end],
            actions: ["wait", "pass 70001 bytes", "forward", "forward", "finish, response-body"]),
        Row(
            name: "a long body has no end", rules: "body: json, on_violation: report",
            events: [.head(json, nil), .bytes(wide), .end],
            actions: ["wait", "pass 70001 bytes", "finish, response-body"]),
        Row(
            name: "a bad type leaves with the head", rules: "body: json, on_violation: report",
            events: [.head(["Content-Type": "text/html"], nil), .bytes("x"), .end],
            actions: ["pass 0 bytes, response-content-type", "forward", "finish"]),
        Row(
            name: "status and body are told together", rules: "status: [201], body: json, on_violation: report",
            events: [.head(json, nil), .bytes("no"), .end],
            actions: ["wait", "wait", "pass 2 bytes, response-status, response-body"]),
        Row(
            name: "max_body is told once", rules: "max_body: 1, on_violation: report",
            events: [.head(json, nil), .bytes("ab"), .bytes("c"), .end],
            actions: ["pass 0 bytes", "forward, body-too-large", "forward", "finish"]),
        Row(
            name: "no memory to hold it", rules: "body: json, on_violation: report",
            events: [.head(json, nil), .shortage, .bytes("[]"), .end],
            actions: ["wait", "–", "pass 2 bytes, body-too-large", "finish"]),
        Row(
            name: "no memory to look at it any more", rules: "body: json, on_violation: report",
            events: [.head(json, nil), .bytes(wide), .shortage, .bytes("]"), .end],
            actions: ["wait", "pass 70001 bytes", "–", "forward, body-too-large", "finish"]),
        Row(
            name: "a check that is behind", rules: "body: json, on_violation: report",
            events: [.head(folded, nil), .raw(Unfolding.good), .end, .proceed, .proceed, .proceed],
            actions: ["wait", "wait, behind", "wait, behind", "wait, behind", "pass 329 bytes", "wait"]),
        Row(
            name: "a check that is behind turns bad", rules: "body: json, on_violation: report",
            events: [.head(folded, nil), .raw(Unfolding.bad), .end, .proceed, .proceed, .proceed],
            actions: ["wait", "wait, behind", "wait, behind", "wait, behind", "pass 331 bytes, response-body", "wait"]),
        Row(
            name: "a check that is behind while more comes", rules: "body: json, on_violation: report",
            events: [.head(folded, nil), .raw(Unfolding.bad), .proceed, .proceed, .proceed],
            actions: ["wait", "wait, behind", "wait, behind", "wait", "wait"]),
    ]

    @Test(arguments: Self.rejecting + Self.reporting)
    func `an inspection says what becomes of a response`(row: Row) async throws {
        let policy = try ExchangeStage.policy("routes: [{name: a, response: {\(row.rules)}}]")
        let loop = try Loop(name: "inspection")
        let actions = try await loop.submit { try InspectionPlay(policy, loop).play(row.events) }.get()
        loop.stop()
        #expect(actions == row.actions, "\(row.name): there is \(actions)")
    }
}

/// Plays events to an inspection. Used on one loop.
private final class InspectionPlay {
    private var hasMemory = true
    private var judging: (held: HeldResponse, judge: ResponseValidator)?
    private let policy: Policy
    private let loop: Loop

    init(_ policy: Policy, _ loop: Loop) { (self.policy, self.loop) = (policy, loop) }

    func play(_ events: [ResponseInspectionTests.Event]) throws -> [String] {
        let route = try #require(self.policy.routes.routes.first)
        let judge = ResponseValidator(
            route.contract, nil, method: "GET", onViolation: self.policy.onViolation(on: route),
            maxBody: route.configuration.response.maxBody)
        let inspection = ResponseInspection(
            judge, limits: self.policy.configuration.limits, loop: self.loop,
            reserve: { [unowned self] _ in self.hasMemory }, whenBehind: {})  // The play outlives the inspection.
        return try events.map { self.spell(try self.perform($0, inspection), inspection) }
    }

    private func perform(
        _ event: ResponseInspectionTests.Event, _ inspection: ResponseInspection
    ) throws -> ResponseInspection.Action? {
        switch event {
        case .head(let fields, let length):
            return inspection.receive(ResponseHead(status: 200, fields: fields), length: length)
        case .status(let status): return inspection.receive(ResponseHead(status: status), length: nil)
        case .switching(let status): return inspection.receive(switching: ResponseHead(status: status))
        case .bytes(let text): return Array(text.utf8).withUnsafeBytes { inspection.receive($0) }
        case .raw(let bytes): return bytes.withUnsafeBytes { inspection.receive($0) }
        case .trailers: return inspection.keep(trailers: ["X": "y"]) ? .wait : nil
        case .end: return inspection.end()
        case .judged(let interruption):
            let (held, judge) = try #require(self.judging)
            return inspection.judged(ResponseInspection.judge(held, by: judge, within: .unlimited), interruption)
        case .notJudged: return inspection.notJudged("no thread")
        case .proceed: return inspection.proceed()
        case .stop:
            inspection.stop()
            return nil
        case .shortage:
            self.hasMemory = false
            return nil
        }
    }

    private func spell(_ action: ResponseInspection.Action?, _ inspection: ResponseInspection) -> String {
        let behind = inspection.isBehind ? ", behind" : ""
        switch action {
        case nil: return "–"
        case .wait: return "wait\(behind)"
        case .pass(let held, let violation):
            let trailers = held.trailers.isEmpty ? "" : ", trailers"
            return "pass \(held.body.readableBytes) bytes\(trailers)\(Self.spelled(violation))\(behind)"
        case .reject(let violation): return "reject\(Self.spelled(violation))"
        case .refuse(let reason): return "refuse: \(reason)"
        case .judge(let held, let judge):
            self.judging = (held, judge)
            return "judge \(held.body.readableBytes) bytes"
        case .forward(let violations): return "forward\(violations.map(Self.spelled).joined())\(behind)"
        case .cut(let violations): return "cut\(violations.map(Self.spelled).joined())"
        case .finish(let violation): return "finish\(Self.spelled(violation))"
        }
    }

    private static func spelled(_ violation: ValidationError?) -> String {
        (violation?.kinds ?? []).map { ", \($0.rawValue)" }.joined()
    }
}
