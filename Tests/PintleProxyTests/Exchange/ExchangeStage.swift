// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Logging
import NIOCore
import PintleActivity
import PintleLoop
import PintleMessage
import PintlePolicy
import PintleTesting
import PintleTrust

@testable import PintleProxy
@testable import PintleSession

/// An exchange between two recording streams, on a real worker with a real configuration.
///
/// It lives on its loop, except for ``run(_:)`` and the functions that this calls.
final class ExchangeStage: @unchecked Sendable {
    // Why @unchecked holds: variables are touched on the loop's thread only, through `loop.submit`.
    let engine: Engine
    let loop: Loop
    let active: ActiveConfiguration
    /// The configurations that took its place.
    private var reloaded: [ActiveConfiguration] = []
    private let counters: Counters
    private let log: ExchangeLog
    private let logFile: String
    private let folder: TemporaryFolder
    private let scenario: Scenario
    private let keeper = Gatekeeper()
    private let transcript = Transcript()
    private let worker: Worker
    private let opener: RecordingOpener
    private let client: RecordingClient
    private weak var exchange: Exchange?
    /// Held while events come, some of which an answered exchange still hears of.
    private var kept: Exchange?
    private var othersHold = 0
    private var listener: TCP.Listener?

    /// The only worker's other work.
    private final class Gatekeeper: Sendable {
        let isOpen = Watched(false)
        let isThere = Watched(false)

        func work() {
            self.isThere.change { $0 = true }
            _ = try? self.isOpen.wait(for: "the worker to go on") { $0 }
        }
    }

    init(_ scenario: Scenario) async throws {
        self.scenario = scenario
        self.folder = try TemporaryFolder()
        self.logFile = self.folder.path + "/exchanges"
        self.log = try ExchangeLog(.file(self.logFile), format: .json, redaction: .off, logger: Self.logger)
        self.engine = try Engine(threads: 1)
        self.loop = self.engine.loops[0]
        let policy = try Self.policy(scenario.policy, scenario.settings.files)
        self.counters = Counters(routes: policy.routes.routes.map(\.name))
        self.active = try Self.active(policy, self.engine, self.counters, self.log)
        let settings = scenario.settings
        let pool = WorkPool(
            memory: self.counters.memory, workers: 1, mostWaiting: settings.isPoolFull ? 0 : 1024, ofClient: 256)
        self.opener = RecordingOpener(self.transcript)
        self.worker = Worker(
            loop: self.loop, active: self.active, limiter: ConnectionLimiter(), pool: pool, origins: self.opener)
        let method = scenario.request[0].prefix { $0 != " " }
        self.client = RecordingClient(self.transcript, method: String(method))
        self.client.isWritable = !settings.isClientSlow
        self.client.takesPipes = settings.takesPipes
        self.opener.isSlow = settings.isOriginSlow
        (self.opener.verdict, self.opener.parentVerdict) = (settings.verdict, settings.parentVerdict)
        if settings.knowsPassword { try await self.learnPassword() }
        if settings.hasListener { self.listener = try TCP.Listener() }
        if settings.isPoolBusy {
            let limits = WorkPool.Limits(steps: .max, processorTime: .seconds(86_400), heldBytes: .max)
            _ = try pool.submit(for: nil, limits) { [keeper] _ in keeper.work() }
            try await self.keeper.isThere.reach("the worker") { $0 }
        }
    }

    static var logger: Logger { Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }) }

    static func policy(_ yaml: String, _ files: [String: String] = [:]) throws -> Policy {
        try Self.checkedPolicy(yaml, files)
    }

    static func checkedPolicy(_ yaml: String, _ files: [String: String] = [:]) throws(ConfigurationError) -> Policy {
        let files = Self.files.merging(files) { $1 }
        let surroundings = LoaderEnvironment(
            environment: [:],
            read: { (path, _) throws(LoaderEnvironment.ReadingError) in
                guard let text = files[path] else { throw .notFound }
                return Array(text.utf8)
            },
            exists: { files[$0] != nil })
        return try PolicyLoader.policy(
            yaml: Array("version: 1\n\(yaml)".utf8), file: "pintle.yaml", surroundings: surroundings)
    }

    static func active(
        _ policy: Policy, _ engine: Engine, _ counters: Counters, _ log: ExchangeLog,
        continuing previous: ActiveConfiguration? = nil
    ) throws -> ActiveConfiguration {
        let logger = Self.logger
        // Nothing here is about when activity shows.
        let scheduler = Scheduler { _, _ in {} }
        let activity = Activity(counters: counters, scheduler: scheduler, logger: logger)
        return try ActiveConfiguration(
            policy: policy, engine: engine, activity: activity, counters: counters, sinks: ExchangeSinks(log: log),
            logger: logger,
            continuing: previous)
    }

    // MARK: Playing

    /// Plays the scenario; if it has not ended by itself, the client then leaves.
    func run() async throws -> (lines: [String], breaches: [String]) {
        var events = self.scenario.events[...]
        while !events.isEmpty {
            // Everything up to the next wait happens in one turn.
            let together = Array(events.prefix { !$0.isWaiting })
            events = events.dropFirst(together.count)
            try await self.loop.submit { for event in together { try self.play(event) } }.get()
            guard let event = events.popFirst() else { break }
            try await self.wait(event)
        }
        try await self.loop.submit {
            if !self.client.isOver { self.client.leave() }
            self.listener = nil
        }.get()
        self.keeper.isOpen.change { $0 = true }
        try await self.wait(.gone)
        try await self.condition("memory to be given back") { self.counters.memory.read().held == self.othersHold }
        let record = try await self.record()
        for active in [self.active] + self.reloaded { await active.close() }
        await self.engine.stopped()
        return (self.transcript.lines + [record], self.transcript.breaches)
    }

    /// Plays the scenario and then makes a call that no stream makes.
    func provoke(_ bug: @escaping @Sendable (Exchange) -> Void) async throws {
        try await self.loop.submit {
            for event in self.scenario.events { try self.play(event) }
            if let kept = self.kept { bug(kept) }
        }.get()
        // Nothing was trapped: the process ends well, and the test does not.
        exit(0)
    }

    /// The line between the events that lead to a state and those that happen in it.
    static let mark = "--"

    private func wait(_ event: Event) async throws {
        switch event {
        case .until(let line):
            try await self.condition(line) { self.transcript.lines.contains { $0.hasPrefix(line) } }
        case .gone:
            try await self.loop.submit { self.kept = nil }.get()
            try await self.condition("the exchange to be let go of") { self.exchange == nil }
        default: try await self.loop.submit {}.get()
        }
    }

    /// Runs turns until `isReached` holds on the loop.
    private func condition(_ what: String, _ isReached: @escaping @Sendable () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(300)
        while try await !self.loop.submit(isReached).get() {
            guard .now < end else {
                throw TestFailure("waited for \(what); there is: \(self.transcript.lines)")
            }
            await Task.yield()
        }
    }

    private func play(_ event: Event) throws {
        switch event {
        case .begin: try self.begin().begin()
        case .refuse(let problem): try self.begin().refuse(problem)
        case .body(let text): self.client.give(ByteBuffer(string: text))
        case .bodyOf(let count): self.client.give(ByteBuffer(repeating: 0x78, count: count))
        case .endOfBody(let trailers): self.client.endBody(trailers)
        case .clientFellBehind:
            self.client.isWritable = false
            self.exchange?.clientFellBehind()
        case .clientCaughtUp:
            self.client.isWritable = true
            self.exchange?.clientCaughtUp()
        case .clientLeft: if self.client.isOver { self.kept?.clientLeft() } else { self.client.leave() }
        case .mark: self.transcript.note(Self.mark)
        case .clientFails(let problem): self.client.exchange?.fail(with: problem)
        case .reload(let yaml):
            let policy = try Self.policy(yaml, self.scenario.settings.files)
            let counters = Counters(routes: policy.routes.routes.map(\.name), continuing: self.counters)
            let next = try Self.active(policy, self.engine, counters, self.log, continuing: self.active)
            self.reloaded.append(next)
            self.worker.replace(active: next)
        case .drain: self.worker.drain(self.loop.makePromise())
        case .isProved(let isGood): try self.keepProof(isGood)
        case .listenerBreaks: self.listener = nil
        case .othersHold(let bytes):
            self.counters.memory.change(by: bytes)
            self.othersHold += bytes
        case .poolIsFree: self.keeper.isOpen.change { $0 = true }
        case .wants: self.noteWants()
        case .held: self.transcript.note("held: \(self.counters.memory.read().held - self.othersHold)")
        case .turn, .until, .gone: break
        default: try self.playOrigin(event)
        }
    }

    private func noteWants() {
        guard let exchange else { return self.transcript.note("wants nothing: it is gone") }
        let words = "\(exchange.wantsBody ? "body" : "no body"), \(exchange.wantsEndOfBody ? "end" : "no end")"
        self.transcript.note("wants \(words)")
    }

    private func playOrigin(_ event: Event) throws {
        guard let origin = self.opener.origins.last, !origin.isOver, let exchange = self.exchange else {
            return self.transcript.breach("the test has no origin for \(event)")
        }
        switch event {
        case .interim(let status, let fields):
            exchange.originSent(interim: ResponseHead(status: status, fields: fields))
        case .head(let status, let fields, let length):
            exchange.originAnswered(ResponseHead(status: status, fields: fields), length: length)
        case .bytes(let text): Array(text.utf8).withUnsafeBytes { exchange.originSent($0) }
        case .bytesOf(let count): [UInt8](repeating: 0x78, count: count).withUnsafeBytes { exchange.originSent($0) }
        case .raw(let bytes): bytes.withUnsafeBytes { exchange.originSent($0) }
        case .trailers(let fields): exchange.originSent(trailers: fields)
        case .originTook:
            origin.take()
            exchange.originTookBody(1)
        case .originEndsWhenGiven:
            origin.whenGiven = { [unowned origin, weak exchange] in
                // unowned: its own closure.
                origin.end()
                exchange?.originEnded(nil, TransferMetrics())
            }
        case .originEnds:
            origin.end()
            exchange.originEnded(nil, TransferMetrics())
        case .originFails(let code, let message):
            origin.end()
            exchange.originEnded(SessionError(code, message), TransferMetrics())
        case .originRefused(let verdict):
            origin.end()
            let message = verdict.error?.message ?? ""
            exchange.originEnded(SessionError(.untrusted, message, verdict: verdict), TransferMetrics())
        case .connected:
            origin.end()
            exchange.originHandedOver(ConnectionHandoff(connection: try self.connection()), TransferMetrics())
        case .switched(let fields, let early):
            origin.end()
            let head = ResponseHead(status: 101, fields: fields)
            exchange.originHandedOver(
                ConnectionHandoff(
                    connection: try self.connection(), head: head, version: "1.1", early: ByteBuffer(string: early)),
                TransferMetrics())
        default: preconditionFailure("an event is played that is none of the origin's")
        }
    }

    private func learnPassword() async throws {
        guard let passwords = self.active.passwords else { throw TestFailure("nobody asks for a password") }
        let head = try RequestHead(spelled: self.scenario.request)
        let isRight = Watched<Bool?>(nil)
        _ = passwords.check(head.fields, of: nil) { answer in isRight.change { $0 = answer } }
        try await isRight.reach("the password") { $0 == true }
    }

    private func keepProof(_ isGood: Bool) throws {
        let question = TunnelVerifier.Question(
            authority: Authority(host: "a.test", port: 443), address: try TCP.address(self.listener?.port ?? 0),
            evaluator: self.active.session(for: nil).session.evaluator)
        let verdict = Verdict(outcome: .trusted, host: "a.test")
        let refusal = TunnelVerifier.Refusal(problem: Problem(.pinMismatch, "no pin"), verdict: nil)
        self.active.verifications.keep(isGood ? .success(verdict) : .failure(refusal), to: question)
    }

    private func connection() throws -> EstablishedConnection {
        if let port = self.scenario.settings.port { return EstablishedConnection(socket: try TCP.connect(to: port)) }
        if let listener { return EstablishedConnection(socket: try TCP.connect(to: listener.port)) }
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw TestFailure("no pair of sockets")
        }
        close(ends[1])
        return EstablishedConnection(socket: ends[0])
    }

    private func begin() throws -> Exchange {
        let head = try RequestHead(spelled: self.scenario.request, minorVersion: self.scenario.settings.minorVersion)
        let exchange = Exchange(
            ReceivedRequest(head, try head.bodyFraming()), from: self.client, of: .address(IPAddress(v4: 0x7F00_0001)),
            on: self.worker)
        (self.exchange, self.kept) = (exchange, exchange)
        self.client.serve(exchange)
        return exchange
    }

    // MARK: The record

    /// Returns the counters and the logged exchange, in one line.
    private func record() async throws -> String {
        self.log.flush(within: .seconds(60))
        let counts = self.worker.active.counters.snapshot().overall
        let outcome = "\(counts.completed) completed, \(counts.failed) failed, \(counts.cancelled) left"
        guard counts.started == 1, counts.active == 0 else { return "record: \(counts.started) started, \(outcome)" }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: self.logFile))
        guard let line = try JSONSerialization.jsonObject(with: bytes) as? [String: Any] else { return "record: none" }
        var words = [counts.completed == 1 ? "completed" : counts.failed == 1 ? "failed" : "left"]
        words.append(line["decision"] as? String ?? "")
        if let status = line["status"] as? Int { words.append("\(status)") }
        if let user = line["user"] as? String { words.append("for \(user)") }
        // The length of a problem document depends on the exchange's id, so it is not counted.
        words.append("up \(counts.bytesUp) down \(counts.bytesDown - self.client.problemBytes)")
        if let kinds = line["violations"] as? [String] { words.append(kinds.joined(separator: " ")) }
        if line["bytes_in"] as? Int != counts.bytesUp || line["bytes_out"] as? Int != counts.bytesDown {
            words.append("but the log says otherwise: \(line)")
        }
        return "record: \(words.joined(separator: " "))"
    }
}
