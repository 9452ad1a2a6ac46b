// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PintleActivity
import PintleMessage
import PintlePolicy
import PintleTesting
import PintleTrust
import Testing

@testable import PintleProxy
@testable import PintleSession

/// The opening of a tunnel alone: events, and the next step.
struct TunnelOpeningTests {
    /// The events of a tunnel's opening.
    enum Event: Sendable {
        case begin
        /// A connection to a listener exists, with a verdict if one is given.
        case connected(Bool?)
        /// A connection is there whose other end is gone.
        case lost
        case proved(Bool)
        case dialled
        case notDialled(ProbeFailure)
        case failed(SessionError.Code)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        /// The verdict on the destination that is already known.
        var known: Bool?
        var policy = "tunnels: {verify: [a.test]}"
        let events: [Event]
        var actions: [String] = []

        var testDescription: String { self.name }
    }

    private static let byHTTPS = "upstream_proxy: {url: \"https://p.test\"}\ntunnels: {verify: [a.test]}"
    private static let byHTTP = "upstream_proxy: {url: \"http://p.test:3128\"}\ntunnels: {verify: [a.test]}"

    static let plain: [Row] = [
        Row(
            name: "a plain tunnel opens", policy: "", events: [.begin, .connected(nil)],
            actions: ["connection to a.test:443 {Via: 1.1 me}", "relay"]),
        Row(
            name: "a plain tunnel fails", policy: "", events: [.begin, .failed(.connectTimeout)],
            actions: ["connection to a.test:443 {Via: 1.1 me}", "fail connectTimeout"]),
        Row(
            name: "a plain tunnel by an https parent opens", policy: "upstream_proxy: {url: \"https://p.test\"}",
            events: [.begin, .connected(nil)],
            actions: ["connection to a.test:443 {Via: 1.1 me}", "relay"]),
    ]

    static let proved: [Row] = [
        Row(
            name: "a proof is asked for, and there is one", events: [.begin, .connected(nil), .proved(true), .dialled],
            actions: [
                "connection to a.test:443 {Via: 1.1 me}", "prove a.test:443", "dial 127.0.0.1, proved",
                "relay, watched, proved",
            ]),
        Row(
            name: "a proof is asked for, and fails", events: [.begin, .connected(nil), .proved(false)],
            actions: ["connection to a.test:443 {Via: 1.1 me}", "prove a.test:443", "refuse pin-mismatch: no pin"]),
        Row(
            name: "what has proved itself is gone",
            events: [.begin, .connected(nil), .proved(true), .notDialled(.refused)],
            actions: [
                "connection to a.test:443 {Via: 1.1 me}", "prove a.test:443", "dial 127.0.0.1, proved",
                "refuse connect-failure: a.test:443 cannot be verified before the tunnel opens: the connection was refused: nothing listens there",
            ]),
        Row(
            name: "what has proved itself does not answer",
            events: [.begin, .connected(nil), .proved(true), .notDialled(.timedOut(.connecting))],
            actions: [
                "connection to a.test:443 {Via: 1.1 me}", "prove a.test:443", "dial 127.0.0.1, proved",
                "refuse connect-timeout: a.test:443 cannot be verified before the tunnel opens: no answer to the connection within the time limit",
            ]),
        Row(
            name: "a proof that is known opens at once", known: true, events: [.begin, .connected(nil)],
            actions: ["connection to a.test:443 {Via: 1.1 me}", "relay, watched, proved"]),
        Row(
            name: "a refusal that is known refuses at once", known: false, events: [.begin, .connected(nil)],
            actions: ["connection to a.test:443 {Via: 1.1 me}", "refuse pin-mismatch: no pin"]),
        Row(
            name: "there is no connection for a proof", events: [.begin, .failed(.dnsFailure)],
            actions: ["connection to a.test:443 {Via: 1.1 me}", "fail dnsFailure"]),
        Row(
            name: "a connection for a proof that is lost at once", events: [.begin, .lost],
            actions: [
                "connection to a.test:443 {Via: 1.1 me}",
                "refuse connect-failure: the connection to a.test:443 was lost at once",
            ]),
    ]

    static let parents: [Row] = [
        Row(
            name: "by an http parent there is a second tunnel", policy: byHTTP,
            events: [.begin, .connected(nil), .proved(true), .connected(nil)],
            actions: [
                "connection to a.test:443 {Via: 1.1 me}", "prove a.test:443",
                "connection to a.test:443 {Via: 1.1 me}, proved", "relay, watched, proved",
            ]),
        Row(
            name: "by an http parent the second tunnel fails", policy: byHTTP,
            events: [.begin, .connected(nil), .proved(true), .failed(.connectFailure)],
            actions: [
                "connection to a.test:443 {Via: 1.1 me}", "prove a.test:443",
                "connection to a.test:443 {Via: 1.1 me}, proved", "fail connectFailure",
            ]),
        Row(
            name: "by an https parent the handshake is the session's", policy: byHTTPS,
            events: [.begin, .connected(true), .connected(nil)],
            actions: [
                "handshake with a.test:443 {Via: 1.1 me}", "connection to a.test:443 {Via: 1.1 me}, proved",
                "relay, watched, proved",
            ]),
        Row(
            name: "by an https parent a handshake without a verdict", policy: byHTTPS,
            events: [.begin, .connected(nil)],
            actions: [
                "handshake with a.test:443 {Via: 1.1 me}",
                "refuse tls-failure: a.test:443 cannot be verified before the tunnel opens: it showed no certificate",
            ]),
        Row(
            name: "by an https parent the destination is not trusted", policy: byHTTPS,
            events: [.begin, .failed(.untrusted)],
            actions: ["handshake with a.test:443 {Via: 1.1 me}", "fail untrusted"]),
        Row(
            name: "by an https parent a proof is known", known: true, policy: byHTTPS,
            events: [.begin, .connected(nil)],
            actions: ["connection to a.test:443 {Via: 1.1 me}, proved", "relay, watched, proved"]),
        Row(
            name: "by an https parent a refusal is known", known: false, policy: byHTTPS, events: [.begin],
            actions: ["refuse pin-mismatch: no pin"]),
    ]

    @Test(arguments: Self.plain + Self.proved + Self.parents)
    func `an opening says what comes next`(row: Row) async throws {
        let engine = try Engine(threads: 1)
        let policy = try ExchangeStage.policy(row.policy)
        let counters = Counters(routes: [])
        let log = try ExchangeLog(.off, format: .json, redaction: .off, logger: ExchangeStage.logger)
        let active = try ExchangeStage.active(policy, engine, counters, log)
        let actions = try OpeningPlay(active).play(row)
        await active.close()
        await engine.stopped()
        #expect(actions == row.actions, "\(row.name): there is \(actions)")
    }

    static let bugs = ["it begins twice", "a connection comes that nobody asked for", "a proof comes unasked"]

    @Test(arguments: Self.bugs)
    func `what cannot be traps`(bug: String) async {
        await #expect(processExitsWith: .failure) { [bug] in
            let engine = try Engine(threads: 1)
            let log = try ExchangeLog(.off, format: .json, redaction: .off, logger: ExchangeStage.logger)
            let active = try ExchangeStage.active(try ExchangeStage.policy(""), engine, Counters(routes: []), log)
            let events: [Event] =
                switch bug {
                case "it begins twice": [.begin, .begin]
                case "a proof comes unasked": [.begin, .proved(true)]
                default: [.connected(nil)]
                }
            _ = try OpeningPlay(active).play(Row(name: bug, events: events))
            exit(0)
        }
    }
}

/// Plays events to an opening.
private struct OpeningPlay {
    private let active: ActiveConfiguration
    private let listener: TCP.Listener
    private static let authority = Authority(host: "a.test", port: 443)

    init(_ active: ActiveConfiguration) throws {
        self.active = active
        self.listener = try TCP.Listener()
    }

    func play(_ row: TunnelOpeningTests.Row) throws -> [String] {
        let head = RequestHead(method: "CONNECT", target: .authority(Self.authority))
        let plan = RequestPlan(head, .none, by: self.active.policy)
        let decision = try #require(plan.decision)
        let parent: ProxyServer? = if case .by(let link) = self.active.way(decision.way) { link.server } else { nil }
        if let known = row.known { try self.keep(known, isByAddress: parent?.scheme != .https) }
        var opening = TunnelOpening(to: Self.authority, plan, by: parent, ["Via": "1.1 me"], in: self.active)
        return try row.events.map { Self.spell(try self.perform($0, &opening), opening) }
    }

    private func keep(_ isGood: Bool, isByAddress: Bool) throws {
        let question = TunnelVerifier.Question(
            authority: Self.authority, address: isByAddress ? try TCP.address(self.listener.port) : nil,
            evaluator: self.active.session(for: nil).session.evaluator)
        self.active.verifications.keep(self.answer(isGood), to: question)
    }

    private func answer(_ isGood: Bool) -> TunnelVerifier.Answer {
        isGood
            ? .success(Verdict(outcome: .trusted, host: "a.test"))
            : .failure(TunnelVerifier.Refusal(problem: Problem(.pinMismatch, "no pin"), verdict: nil))
    }

    private func perform(
        _ event: TunnelOpeningTests.Event, _ opening: inout TunnelOpening
    ) throws -> TunnelOpening.Action {
        switch event {
        case .begin: return opening.begin()
        case .connected(let isTrusted):
            let connection = EstablishedConnection(socket: try TCP.connect(to: self.listener.port))
            return opening.connected(
                connection, verdict: isTrusted == nil ? nil : Verdict(outcome: .trusted, host: "a.test"))
        case .lost:
            let unconnected = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            return opening.connected(EstablishedConnection(socket: unconnected), verdict: nil)
        case .proved(let isGood): return opening.proved(self.answer(isGood))
        case .dialled: return opening.dialled(.success(try TCP.connect(to: self.listener.port)))
        case .notDialled(let failure): return opening.dialled(.failure(failure))
        case .failed(let code):
            return opening.failed(
                SessionError(
                    code, "no",
                    verdict: Verdict(outcome: .refused(.init(code: .pinMismatch, message: "no pin")), host: "a.test")))
        }
    }

    private static func spell(_ action: TunnelOpening.Action, _ opening: TunnelOpening) -> String {
        let proof = opening.proof == nil ? "" : ", proved"
        switch action {
        case .connect(let request, _): return request.spelled + proof
        case .prove(let question, _, _): return "prove \(question.authority)"
        case .dial(let address, _): return "dial \(address.ipAddress ?? "")\(proof)"
        case .relay(let connection, let watch):
            connection.close()
            return "relay\(watch == nil ? "" : ", watched")\(proof)"
        case .fail(let error): return "fail \(error.code)"
        case .refuse(let problem, _): return "refuse \(problem.name.rawValue): \(problem.detail)"
        }
    }
}
