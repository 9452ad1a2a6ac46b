// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleActivity
import PintleMessage
import PintleTesting
import PintleTrust

@testable import PintleLoop
@testable import PintleSession

/// A session's pool and an origin on one loop, on which one course after the other is played.
final class OriginStage: @unchecked Sendable {
    // Why @unchecked holds: variables are touched on the loop's thread only.
    let engine: Engine
    let loop: Loop
    let pool: TransferPool
    let listener: PolledListener
    let memory = MemoryBudget()

    init() throws {
        self.engine = try Engine(threads: 1)
        self.loop = self.engine.loops[0]
        self.listener = try PolledListener()
        var configuration = SessionConfiguration()
        configuration.httpVersion = .http2
        configuration.responseHead = HeadLimits(bytes: ModelHeads.most, line: ModelHeads.line)
        self.pool = TransferPool(
            loop: self.loop, configuration: configuration,
            evaluator: try TrustEvaluator(policy: .default, reportsOnly: false),
            handshake: nil, judge: nil, proxy: nil, names: self.engine.names, memory: self.memory)
    }

    /// The origin in the pool; nil if it has neither connections nor transfers there.
    var host: HostNumber? {
        let request = TransferRequest(
            method: "GET", scheme: .http, authority: Authority(host: "127.0.0.1", port: UInt16(self.listener.port)),
            path: "/")
        var state = self.pool.state
        return state.host(of: request.connectionKey(by: nil))
    }

    /// True while a connection is being made for which requests wait.
    var awaitsConnection: Bool { self.host.map(self.pool.state.awaitsConnection) ?? false }

    /// Plays a course.
    ///
    /// - Returns: the breaches; empty if there are none.
    func play(_ course: OriginCourse) throws -> [String] {
        let promise = self.loop.makePromise(of: [String].self)
        self.loop.execute { OriginPlay(course, on: self) { promise.succeed($0) }.begin() }
        return try promise.futureResult.wait()
    }
}

/// One course on its stage. Its events happen at the ends of turns, when the work of the previous turn is done.
final class OriginPlay: TurnEndWork {
    /// More turns than any event needs until everything has come of it.
    private static let mostTurns = 5000
    /// More rounds than the end of any course needs.
    private static let mostRounds = 200

    private enum Phase {
        case steps
        case ending
        /// The session has ended.
        case closing
    }

    private let course: OriginCourse
    private let stage: OriginStage
    private let record: OriginRecord
    private let done: ([String]) -> Void
    private var phase = Phase.steps
    private var position = 0
    private var rounds = 0
    /// True if a client has done something since everything was looked at.
    private var hasClientActed = false
    private var settling: Settling?
    private var connections: [Weak] = []

    private struct Weak {
        weak var connection: HTTP2Connection?
    }

    /// Waits until both sides have looked at everything.
    private struct Settling {
        var turns = 0
        /// The events before the round of pings that is under way.
        var events = -1
        /// The turns in which nothing has happened.
        var quiet = 0
    }

    init(_ course: OriginCourse, on stage: OriginStage, done: @escaping ([String]) -> Void) {
        (self.course, self.stage, self.done) = (course, stage, done)
        self.record = OriginRecord(course, pool: stage.pool, listener: stage.listener)
    }

    func begin() { self.stage.loop.atEndOfTurn(self) }

    func runAtEndOfTurn() {
        let events = self.record.turn()
        guard self.record.breaches.isEmpty else { return self.end() }
        if self.settling != nil, !self.hasSettled(events) { return self.begin() }
        switch self.phase {
        case .steps: self.goOn()
        case .ending: self.goOnToEnd()
        case .closing: return self.end()
        }
        self.begin()
    }

    // MARK: Settling

    private func hasSettled(_ events: Int) -> Bool {
        guard var settling else { return true }
        defer { self.settling = settling }
        settling.turns += 1
        if settling.turns > Self.mostTurns {
            self.record.breach("it does not come to rest")
            return false
        }
        // The session reads all that a connection brings before it hears of its end.
        let open = self.record.peers.count { !$0.isOver }
        guard !self.stage.awaitsConnection, self.record.peers.allSatisfy(\.isSettled),
            self.stage.pool.shared.count <= open
        else {
            settling.quiet = 0
            return false
        }
        guard events == settling.events else {
            // Another round: the answers to this one may have come before the effects of the events.
            (settling.events, settling.quiet) = (events, 0)
            for peer in self.record.peers { peer.ping() }
            return false
        }
        settling.quiet += 1
        // Connections without settings have no pings.
        guard settling.quiet >= (self.record.peers.allSatisfy { $0.isOver || $0.maySend } ? 2 : 12) else {
            return false
        }
        self.settled()
        self.settling = nil
        return true
    }

    private func settled() {
        (self.record.hasEndedConnection, self.record.hasEndedUntold) = (false, false)
        self.hasClientActed = false
        if self.phase == .closing { return self.checkLeft() }
        for connection in self.stage.pool.shared
        where !self.connections.contains(where: { $0.connection === connection }) {
            self.connections.append(Weak(connection: connection))
        }
        for ask in self.record.asks { ask.settled() }
        for peer in self.record.peers { peer.settled() }
    }

    // MARK: Events

    private func goOn() {
        while self.record.breaches.isEmpty, self.position < self.course.steps.count {
            let step = self.course.steps[self.position]
            if case .settle = step {
                self.position += 1
                return self.settling = Settling()
            }
            // If bytes are on their way when a connection ends, it is unknown if they were seen; so they arrive first.
            if step.endsConnections || step.needsOpenRequest, self.hasClientActed { return self.settling = Settling() }
            self.position += 1
            self.play(step)
            if step.needsOpenRequest { return self.settling = Settling() }
        }
        self.settling = Settling()
        self.phase = .ending
    }

    private func play(_ step: OriginCourse.Step) {
        let record = self.record
        if step.isOfClient { self.hasClientActed = true }
        switch step {
        case .asks(let request): if record.asks.count(where: { !$0.isOver }) < 8 { record.ask(request) }
        case .gives(let request, let count): record.ask(under: request)?.play(giving: count)
        case .endsBody(let request, let trailers): record.ask(under: request)?.playEndOfBody(trailers: trailers)
        case .pauses(let request): record.ask(under: request)?.play(isPaused: true)
        case .readsOn(let request): record.ask(under: request)?.play(isPaused: false)
        case .cancels(let request): record.ask(under: request)?.cancel()
        case .greets(let connection): record.peer(under: connection)?.greet()
        case .interim(let stream, let status): record.attempt(under: stream)?.playInterim(status)
        case .head(let stream, let head): record.attempt(under: stream)?.play(head)
        case .sends(let stream, let count, let piece, let padding):
            record.attempt(under: stream)?.playSending(count, piece: piece, padding: padding)
        case .ends(let stream, let trailers, let resets):
            record.attempt(under: stream)?.playEnd(trailers: trailers, resets: resets)
        case .resets(let stream, let code): record.attempt(under: stream)?.playReset(code)
        case .opensWindow(let stream, let count):
            if let attempt = record.attempt(under: stream) { attempt.peer.playWindow(count, of: attempt) }
        case .opensConnectionWindow(let connection, let count): record.peer(under: connection)?.playWindow(count)
        case .settings(let connection, let greeting): record.peer(under: connection)?.play(settings: greeting)
        case .goAway(let connection, let last, let code): record.peer(under: connection)?.playGoAway(last, code: code)
        case .closes(let connection, let close): record.peer(under: connection)?.play(close)
        case .noise(let connection, let noise): record.peer(under: connection)?.play(noise)
        case .breaks(let connection, let breach): record.peer(under: connection)?.play(breach)
        case .errs(let stream, let misdeed): record.attempt(under: stream)?.play(misdeed)
        case .verdictEnds: self.endVerdict()
        case .seconds: self.passSeconds()
        case .settle: break
        }
    }

    /// No connection so far carries another request.
    private func endVerdict() {
        for connection in self.stage.pool.shared { connection.leave() }
        for peer in self.record.peers { peer.takesNoMore = true }
    }

    /// Fires the timers that are due within some seconds: bodies then wait no longer for 100 Continue.
    private func passSeconds() {
        let end = self.stage.loop.turnTime + .seconds(5)
        var fired = 0
        while fired < 100, let timer = self.stage.loop.local.timers.popExpired(at: end) {
            fired += 1
            timer.fire()
        }
    }

    // MARK: The end

    private func goOnToEnd() {
        if self.course.isWrong { self.record.breach("the test says so") }
        self.rounds += 1
        if self.record.asks.allSatisfy(\.isOver) || self.course.ending == .closes || self.rounds > Self.mostRounds {
            for ask in self.record.asks where !ask.isOver && self.course.ending != .closes {
                self.record.breach("request \(ask.token) has no end")
            }
            return self.close()
        }
        if self.course.ending == .cancels { for ask in self.record.asks { ask.cancel() } }
        for ask in self.record.asks {
            ask.play(isPaused: false)
            ask.playEndOfBody()
        }
        self.passSeconds()
        for peer in self.record.peers { peer.playRest() }
        for attempt in self.record.peers.flatMap(\.attempts) where !attempt.isClosed {
            if attempt.receiveWindow < 200_000 { attempt.peer.playWindow(400_000, of: attempt) }
            attempt.playEnd(trailers: false, resets: false)
        }
        self.settling = Settling()
    }

    private func close() {
        self.phase = .closing
        self.record.isClosing = true
        self.stage.pool.reset()
        self.settling = Settling()
    }

    private func checkLeft() {
        for ask in self.record.asks where !ask.isOver { self.record.breach("request \(ask.token) is kept") }
        for peer in self.record.peers where !peer.isOver { self.record.breach("connection \(peer.number) is kept") }
        if self.stage.pool.runningCount != 0 {
            self.record.breach("\(self.stage.pool.runningCount) transfers are kept")
        }
        if self.stage.host != nil { self.record.breach("the origin is kept") }
        if self.stage.memory.read().held != 0 { self.record.breach("\(self.stage.memory.read().held) bytes stay held") }
        if self.connections.contains(where: { $0.connection != nil }) { self.record.breach("a connection is kept") }
    }

    private func end() {
        self.done(self.record.breaches)
        if self.record.breaches.isEmpty { self.record.release() }
    }
}

extension OriginCourse.Step {
    /// True if it ends a connection, or lets it end.
    fileprivate var endsConnections: Bool {
        switch self {
        case .closes, .breaks, .verdictEnds: true
        default: false
        }
    }

    /// True if it breaks HTTP/2 only while the session may still send on the stream.
    fileprivate var needsOpenRequest: Bool {
        switch self {
        case .errs(_, .noWindow), .errs(_, .overflow): true
        default: false
        }
    }

    /// True if the session does it, or a client.
    fileprivate var isOfClient: Bool {
        switch self {
        case .asks, .gives, .endsBody, .readsOn, .cancels, .seconds: true
        default: false
        }
    }
}
