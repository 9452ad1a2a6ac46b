// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleMessage
import PintleTesting

@testable import PintleLoop
@testable import PintleProxy
@testable import PintleSession

/// Plays courses of exchanges on a worker.
final class ModelStage: ModelCourseStage, @unchecked Sendable {
    // Why @unchecked holds: variables are touched on the loop's thread only.
    let configuration: ModelConfiguration
    let opener: ModelOpener
    let worker: ModelWorker
    private var courses = 0

    init(configuration: Int, on engine: Engine) throws {
        self.configuration = ModelConfiguration.all[configuration]
        self.opener = ModelOpener(ModelRecord(self.configuration))
        self.worker = try ModelWorker(
            self.configuration.yaml, asking: self.opener, hasDisk: self.configuration.hasDisk, on: engine)
    }

    func play(_ course: Course) throws -> [String] {
        let promise = self.worker.loop.makePromise(of: [String].self)
        self.worker.loop.execute {
            self.courses += 1
            let record = ModelRecord(self.configuration)
            self.opener.record = record
            CoursePlay(course, record, self, folder: "c\(self.courses)") { promise.succeed($0) }.begin()
        }
        return try promise.futureResult.wait()
    }
}

/// One course on its stage. Its events happen at the ends of turns, when the work of the previous turn is done.
final class CoursePlay: TurnEndWork {
    /// More turns than the end of any course needs.
    private static let mostTurnsOfEnd = 400
    /// More turns than pass while another thread checks a password or reads from the disk.
    private static let mostTurnsOfWaiting = 10_000_000
    private let course: Course
    private let record: ModelRecord
    private let stage: ModelStage
    private let worker: ModelWorker
    private let folder: String
    private let done: ([String]) -> Void
    private let usesPool: Bool
    private var position = 0
    private var endTurns = 0
    private var waitedTurns = 0
    private var clients: [Int: ModelClient] = [:]
    private var exchanges: [Weak] = []

    private struct Weak {
        weak var exchange: Exchange?
    }

    init(
        _ course: Course, _ record: ModelRecord, _ stage: ModelStage, folder: String, done: @escaping ([String]) -> Void
    ) {
        (self.course, self.record, self.stage, self.worker) = (course, record, stage, stage.worker)
        (self.folder, self.done) = (folder, done)
        self.usesPool =
            ["serialize", "body: json"].contains { record.configuration.yaml.contains($0) }
            && course.steps.contains(where: \.isLarge)
    }

    func begin() { self.worker.loop.atEndOfTurn(self) }

    func runAtEndOfTurn() {
        do { try self.goOn() } catch {
            self.record.breach("\(error)")
            self.worker.loop.atEndOfTurn(self)
        }
    }

    private func goOn() throws {
        let isRight = self.record.breaches.isEmpty
        if self.position == 0, isRight { try self.worker.worker.active.passwords?.learn() }
        if isRight, self.clients.values.contains(where: \.awaitsOthers) {
            self.waitedTurns += 1
            if self.waitedTurns > Self.mostTurnsOfWaiting { self.record.breach("a request waits for ever") }
            sched_yield()
            return self.worker.loop.atEndOfTurn(self)
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
        if !isTurn, try !self.goesOnToEnd() {
            self.done(self.record.breaches)
            return self.record.release()
        }
        if self.usesPool { try self.worker.waitForPool() }
        self.worker.loop.atEndOfTurn(self)
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
            self.worker.holdAll()
        case .memoryIsFree: self.worker.letGo()
        case .reload: self.worker.reload()
        case .hour: self.passTime()
        case .turn, .restart: break
        }
    }

    /// Ends everything that is under way, as the end of a process does, and begins anew.
    private func restart() throws {
        for client in self.clients.keys.sorted() { self.clients[client]?.leave() }
        for origin in self.record.origins { origin.playFailure() }
        try self.worker.restart()
    }

    private func origin(_ number: Int) -> ModelOrigin? {
        let live = self.record.origins.filter { !$0.isOver }
        return live.isEmpty ? nil : live[number % live.count]
    }

    /// Fires the timers that are due within two hours: no timer of a course is due later.
    private func passTime() {
        let end = self.worker.loop.turnTime + .hours(2)
        var fired = 0
        while fired < 100, let timer = self.worker.loop.local.timers.popExpired(at: end) {
            fired += 1
            timer.fire()
        }
    }

    private func play(_ request: Course.Request, of client: Int) throws {
        if let client = self.clients[client], !client.isOver { return }
        let ask = self.record.ask(request)
        let head = try request.head(token: ask.token, folder: self.folder)
        let asking = ModelClient(ask, self.record)
        let exchange = Exchange(
            ReceivedRequest(head, try head.bodyFraming()), from: asking, of: ModelWorker.peer, on: self.worker.worker)
        self.exchanges.append(Weak(exchange: exchange))
        self.clients[client] = asking
        asking.serve(exchange)
        exchange.begin()
        // One that says that it has no content ends with its head.
        if request.hasBody, request.kind != .postChunked, request.size == 0 { asking.noteEmptyBody() }
    }

    // MARK: The end

    /// Brings everything to its end, and checks the final state.
    ///
    /// - Returns: false if the course is over.
    private func goesOnToEnd() throws -> Bool {
        guard self.record.breaches.isEmpty else {
            for client in self.clients.values { client.leave() }
            return false
        }
        if self.course.isWrong { self.record.breach("the test says so") }
        self.endTurns += 1
        self.worker.letGo()
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
        for sentence in self.worker.leftovers { self.record.breach(sentence) }
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
