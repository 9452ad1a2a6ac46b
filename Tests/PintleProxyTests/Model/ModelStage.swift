// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import NIOCore
import PintleActivity
import PintleMessage
import PintlePolicy
import PintleTesting

@testable import PintleLoop
@testable import PintleProxy
@testable import PintleSession

/// A lane under one configuration, on which one course after the other is played.
final class ModelStage: @unchecked Sendable {
    // Why @unchecked holds: what changes is touched on the loop's thread only.
    let configuration: ModelConfiguration
    let loop: Loop
    let lane: Lane
    let pool: WorkPool
    let counters: Counters
    let opener: ModelOpener
    /// The one in force, and one that says the same, for reloads.
    private(set) var actives: [ActiveConfiguration]
    private let engine: Engine
    /// For answers on the disk.
    private let folder: TemporaryFolder?
    private var courses = 0

    init(_ configuration: ModelConfiguration, on engine: Engine) throws {
        (self.configuration, self.engine, self.loop) = (configuration, engine, engine.loops[0])
        let routes = try ExchangeStage.policy(configuration.yaml).routes.routes
        self.counters = Counters(routes: routes.map(\.name))
        self.actives = try Self.actives(configuration, engine, self.counters)
        self.folder = configuration.hasDisk ? try TemporaryFolder() : nil
        self.pool = WorkPool(memory: self.counters.memory, workers: 1)
        self.opener = ModelOpener(ModelRecord(configuration))
        self.lane = Lane(
            loop: self.loop, active: self.actives[0], census: ConnectionCensus(), pool: self.pool, origins: self.opener)
        try self.openDisk()
    }

    private static func actives(
        _ configuration: ModelConfiguration, _ engine: Engine, _ counters: Counters
    ) throws -> [ActiveConfiguration] {
        let log = try ExchangeLog(.off, format: .json, redaction: .off, logger: ExchangeStage.logger)
        let policy = try ExchangeStage.policy(configuration.yaml)
        let active = try ExchangeStage.active(policy, engine, counters, log)
        let again = try ExchangeStage.policy(configuration.yaml)
        return [active, try ExchangeStage.active(again, engine, counters, log, continuing: active)]
    }

    // MARK: The disk

    private func openDisk() throws {
        guard let folder, let answers = self.actives[0].answers else { return }
        let capacity = self.actives[0].cacheConfiguration.disk
        try Self.wait { try await answers.openDisk(folder.path + "/cache", capacity: capacity) { _ in } }
    }

    /// Begins anew, as another process would, with what is on the disk.
    func restart() throws {
        if let answers = self.actives[0].answers { try Self.wait { await answers.closeDisk() } }
        self.actives = try Self.actives(self.configuration, self.engine, self.counters)
        self.lane.replace(active: self.actives[0])
        try self.openDisk()
    }

    private static func wait(for work: @escaping @Sendable () async throws -> Void) throws {
        let outcome = Watched<Result<Void, any Error>?>(nil)
        Task {
            let result: Result<Void, any Error>
            do { result = .success(try await work()) } catch { result = .failure(error) }
            outcome.change { $0 = result }
        }
        try outcome.wait(for: "the disk", until: { $0 != nil })?.get()
    }

    /// Plays a course.
    ///
    /// - Returns: what was wrong; empty if nothing was.
    func play(_ course: Course) throws -> [String] {
        let promise = self.loop.makePromise(of: [String].self)
        self.loop.execute {
            self.courses += 1
            let record = ModelRecord(self.configuration)
            self.opener.record = record
            CoursePlay(course, record, self, folder: "c\(self.courses)") { promise.succeed($0) }.begin()
        }
        return try promise.futureResult.wait()
    }

    /// Waits until the pool has done what it was given before, so that its results come in the next turn.
    func waitForPool() throws {
        let isDone = DispatchSemaphore(value: 0)
        let limits = WorkPool.Limits(steps: .max, processorTime: .seconds(86_400), heldBytes: .max)
        _ = try self.pool.submit(for: CoursePlay.peer, limits) { _ in isDone.signal() }
        isDone.wait()
    }
}

/// One course on its stage. Its events happen at the ends of turns, where the work of the turn before is done.
final class CoursePlay: TurnEndWork {
    static let peer = Client.address(IPAddress(v4: 0x7F00_0001))
    /// More turns than the end of any course needs.
    private static let mostTurnsOfEnd = 400
    /// More turns than pass while another thread checks a password or reads from the disk.
    private static let mostTurnsOfWaiting = 10_000_000
    private let course: Course
    private let record: ModelRecord
    private let stage: ModelStage
    private let folder: String
    private let done: ([String]) -> Void
    private let usesPool: Bool
    private var position = 0
    private var endTurns = 0
    private var waitedTurns = 0
    private var othersHold = 0
    private var clients: [Int: ModelClient] = [:]
    private var exchanges: [Weak] = []

    private struct Weak {
        weak var exchange: Exchange?
    }

    init(
        _ course: Course, _ record: ModelRecord, _ stage: ModelStage, folder: String, done: @escaping ([String]) -> Void
    ) {
        (self.course, self.record, self.stage, self.folder, self.done) = (course, record, stage, folder, done)
        self.usesPool =
            ["serialize", "body: json"].contains { record.configuration.yaml.contains($0) }
            && course.steps.contains(where: \.isLarge)
    }

    func begin() { self.stage.loop.atEndOfTurn(self) }

    func runAtEndOfTurn() {
        do { try self.goOn() } catch {
            self.record.breach("\(error)")
            self.stage.loop.atEndOfTurn(self)
        }
    }

    private func goOn() throws {
        let isRight = self.record.breaches.isEmpty
        if self.position == 0, isRight { try self.stage.lane.active.passwords?.learn() }
        if isRight, self.clients.values.contains(where: \.awaitsOthers) {
            self.waitedTurns += 1
            if self.waitedTurns > Self.mostTurnsOfWaiting { self.record.breach("a request waits for ever") }
            sched_yield()
            return self.stage.loop.atEndOfTurn(self)
        }
        var isTurn = false
        while !isTurn, self.record.breaches.isEmpty, self.position < self.course.steps.count {
            let step = self.course.steps[self.position]
            self.position += 1
            switch step {
            case .turn: isTurn = true
            case .restart:
                try self.restart()
                isTurn = true
            default: try self.play(step)
            }
        }
        if !isTurn, try !self.goesOnToEnd() { return self.done(self.record.breaches) }
        if self.usesPool { try self.stage.waitForPool() }
        self.stage.loop.atEndOfTurn(self)
    }

    // MARK: Events

    private func play(_ step: Course.Step) throws {
        switch step {
        case .asks(let client, let request): try self.play(request, of: client)
        case .sends(let client, let count): self.clients[client]?.play(sending: count)
        case .endsBody(let client): self.clients[client]?.playEndOfBody()
        case .stopsReading(let client): self.clients[client]?.play(isReading: false)
        case .readsOn(let client): self.clients[client]?.play(isReading: true)
        case .leaves(let client): self.clients[client]?.leave()
        case .breaks(let client): self.clients[client]?.breakOff()
        case .interim(let origin): self.origin(origin)?.play(interim: ["Link": "</a>"])
        case .answers(let origin, let answer): self.origin(origin)?.play(answer)
        case .gives(let origin, let count): self.origin(origin)?.play(giving: count)
        case .trailers(let origin): self.origin(origin)?.playTrailers()
        case .ends(let origin): self.origin(origin)?.playEnd()
        case .endsWhenGiven(let origin): self.origin(origin)?.endsWhenGiven = true
        case .fails(let origin): self.origin(origin)?.playFailure()
        case .slows(let origin): self.origin(origin)?.isSlow = true
        case .takes(let origin): self.origin(origin)?.playTaking()
        case .switches(let origin, let asOffered): try self.origin(origin)?.play(switching: asOffered)
        case .memoryRunsShort:
            self.record.hasLackedMemory = true
            self.hold(self.stage.lane.active.limits.heldBytes)
        case .memoryIsFree: self.hold(0)
        case .reload:
            let next = self.stage.actives.first { $0 !== self.stage.lane.active }
            if let next { self.stage.lane.replace(active: next) }
        case .hour: self.passTime()
        case .turn, .restart: break
        }
    }

    /// What is under way ends with the process.
    private func restart() throws {
        for client in self.clients.keys.sorted() { self.clients[client]?.leave() }
        for origin in self.record.origins { origin.playFailure() }
        try self.stage.restart()
    }

    private func origin(_ number: Int) -> ModelOrigin? {
        let live = self.record.origins.filter { !$0.isOver }
        return live.isEmpty ? nil : live[number % live.count]
    }

    private func hold(_ bytes: Int) {
        self.stage.counters.memory.change(by: bytes - self.othersHold)
        self.othersHold = bytes
    }

    /// Fires what is due in two hours: long before that no timer of a course is.
    private func passTime() {
        let end = self.stage.loop.turnTime + .hours(2)
        var fired = 0
        while fired < 100, let timer = self.stage.loop.local.timers.popExpired(at: end) {
            fired += 1
            timer.fire()
        }
    }

    private func play(_ request: Course.Request, of client: Int) throws {
        if let client = self.clients[client], !client.isOver { return }
        let ask = self.record.ask(request)
        let head = try request.head(token: ask.token, folder: self.folder)
        let (asking, lane) = (ModelClient(ask, self.record), self.stage.lane)
        let exchange = Exchange(
            ReceivedRequest(head, try head.bodyFraming()), from: asking, of: Self.peer, on: lane)
        self.exchanges.append(Weak(exchange: exchange))
        self.clients[client] = asking
        asking.serve(exchange)
        exchange.begin()
        // One that says that it has no content ends with its head.
        if request.hasBody, request.kind != .postChunked, request.size == 0 { asking.noteEmptyBody() }
    }

    // MARK: The end

    /// Brings everything to its end, and looks at what is left.
    ///
    /// - Returns: false if the course is over.
    private func goesOnToEnd() throws -> Bool {
        guard self.record.breaches.isEmpty else {
            for client in self.clients.values { client.leave() }
            return false
        }
        if self.course.isWrong { self.record.breach("the test says so") }
        self.endTurns += 1
        self.hold(0)
        for client in self.clients.keys.sorted() {
            if self.course.endsByLeaving { self.clients[client]?.leave() }
            self.clients[client]?.play(isReading: true)
            self.clients[client]?.playEndOfBody()
            self.clients[client]?.closeTunnel()
        }
        for origin in self.record.origins where !origin.isOver { try origin.playRest() }
        self.passTime()
        let isLeft =
            !self.record.asks.allSatisfy(\.isOver)
            || !self.record.origins.allSatisfy { $0.isOver && $0.connection?.isClosed ?? true }
            || self.exchanges.contains { $0.exchange != nil }
        let most = self.record.configuration.waitsForOthers ? Self.mostTurnsOfWaiting : Self.mostTurnsOfEnd
        if isLeft, self.endTurns < most {
            if self.record.configuration.waitsForOthers { sched_yield() }
            return true
        }
        // Work that was put off is done by then.
        guard self.endTurns >= 3 else { return true }
        self.checkLeft()
        return false
    }

    private func checkLeft() {
        for ask in self.record.asks where !ask.isOver { self.record.breach("request \(ask.token) has no end") }
        for origin in self.record.origins where !origin.isOver {
            self.record.breach("the origin of request \(origin.token) has no end")
        }
        for origin in self.record.origins where origin.connection?.isClosed == false {
            self.record.breach("the connection of request \(origin.token) stays open")
        }
        if self.exchanges.contains(where: { $0.exchange != nil }) { self.record.breach("an exchange is kept for ever") }
        let counts = self.stage.counters.snapshot()
        if counts.overall.active != 0 { self.record.breach("\(counts.overall.active) exchanges stay active") }
        if counts.memory.held != 0 { self.record.breach("\(counts.memory.held) bytes stay held") }
        if self.stage.pool.waiting != 0 { self.record.breach("\(self.stage.pool.waiting) jobs wait for ever") }
    }
}

extension Course.Step {
    /// True if bodies may come of it that are judged, or made, on another thread.
    fileprivate var isLarge: Bool {
        switch self {
        case .asks(_, let request): request.size >= 5000
        case .answers(_, let answer): ModelContent.answers[answer.version].count >= 5000
        default: false
        }
    }
}
