// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleLoop
import PintleMessage
import PintlePolicy
import PintleTesting

@testable import PintleProxy
@testable import PintleSession

/// Plays courses of frames on a worker.
final class FrameStage: ModelCourseStage, @unchecked Sendable {
    // Why @unchecked holds: variables are touched on the loop's thread only.
    let configuration: FrameConfiguration
    let opener = FrameOpener()
    let worker: ModelWorker
    /// The reading end of a pipe into which nothing is written.
    private let silence: [Int32]

    init(configuration: Int, on engine: Engine) throws {
        self.configuration = FrameConfiguration.all[configuration]
        self.worker = try ModelWorker(self.configuration.yaml, asking: self.opener, on: engine)
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TestFailure("no pipe") }
        self.silence = ends
    }

    func play(_ course: FrameCourse) throws -> [String] {
        let promise = self.worker.loop.makePromise(of: [String].self)
        self.worker.loop.execute { FramePlay(course, self) { promise.succeed($0) }.begin() }
        return try promise.futureResult.wait()
    }

    /// A descriptor that is never ready.
    func silentDescriptor() -> Int32 { dup(self.silence[0]) }
}

/// One course on its stage. Its events happen at the ends of turns, when the work of the previous turn is done.
final class FramePlay: TurnEndWork {
    /// More turns than the end of any course needs.
    private static let mostTurnsOfEnd = 4000
    private let course: FrameCourse
    private let model: FrameModel
    private let worker: ModelWorker
    private let client: FrameClient
    private let channel: SocketChannel
    private let opener: FrameOpener
    private let done: ([String]) -> Void
    private weak var connection: HTTP2ClientConnection?
    private var position = 0
    private var endTurns = 0
    /// The last turns in which nothing was on its way to the proxy, and no answer to the client.
    private var turnsAtRest = 0
    /// The turns at rest after which nothing more comes. The last bytes may have come in pieces, and frames wait for their turn.
    private static let enoughTurnsAtRest = 4
    private var exchanges: [Weak] = []

    private struct Weak {
        weak var exchange: Exchange?
    }

    init(_ course: FrameCourse, _ stage: FrameStage, done: @escaping ([String]) -> Void) {
        (self.course, self.worker, self.opener, self.done) = (course, stage.worker, stage.opener, done)
        self.model = FrameModel(stage.configuration, on: stage.worker.loop)
        let descriptor = stage.silentDescriptor()
        let transport = FrameTransport(descriptor)
        self.client = FrameClient(transport, self.model, course)
        self.channel = SocketChannel(descriptor: descriptor, loop: stage.worker.loop, transport: transport)
    }

    func begin() {
        self.worker.begin()
        self.opener.model = self.model
        self.opener.whenAsked = { [weak self] in self?.exchanges.append(Weak(exchange: $0)) }
        let worker = self.worker.worker
        self.channel.account = worker.memory
        _ = self.worker.limiter.enter(ModelWorker.peer, worker.active.limits)
        self.channel.start()
        let caller = HTTP2ClientConnection.Caller(
            client: ModelWorker.peer, process: nil, refusal: nil, enclosure: nil,
            place: .listener(serverName: "proxy.test", port: 443))
        HTTP2ClientConnection.begin(
            on: self.channel, for: caller, on: worker,
            with: ByteBuffer(bytes: FrameClient.greeting(window: self.course.window)))
        self.connection = worker.connections.values.lazy.compactMap { $0 as? HTTP2ClientConnection }.first
        self.worker.loop.atEndOfTurn(self)
    }

    func runAtEndOfTurn() {
        // The answers that origins gave in the turn before have left by now. Debug builds of SwiftNIO's codec (swift-nio-http2 1.46)
        // trap if a client makes room while heads wait that were not flushed.
        self.client.goOn()
        self.client.transport.deliver()
        self.channel.transportCanGoOn()
        var isTurn = false
        while !isTurn, self.model.breaches.isEmpty, self.position < self.course.steps.count {
            let step = self.course.steps[self.position]
            self.position += 1
            if case .turn = step { isTurn = true } else { self.play(step) }
        }
        if !isTurn, !self.goesOnToEnd() { return self.finish() }
        self.worker.loop.atEndOfTurn(self)
    }

    private func finish() {
        self.client.transport.whenEnded = nil
        self.channel.reset()
        self.opener.model = nil
        self.opener.whenAsked = nil
        self.worker.letGo()
        self.done(self.model.breaches)
    }

    // MARK: Events

    private func play(_ step: FrameCourse.Step) {
        switch step {
        case .opens(let request): self.client.open(request)
        case .sends(let stream, let count, let padding): self.client.send(stream: stream, count, padding: padding)
        case .endsBody(let stream): self.client.endBody(stream: stream, withTrailers: false)
        case .trailers(let stream): self.client.endBody(stream: stream, withTrailers: true)
        case .resets(let stream): self.client.reset(stream: stream)
        case .prioritizes(let stream): self.client.prioritize(stream: stream)
        case .gives(let stream, let count): self.client.give(stream: stream, count)
        case .givesConnection(let count): self.client.giveConnection(count)
        case .setsWindow(let size): self.client.set(window: size)
        case .setsTable(let size): self.client.set(table: size)
        case .setsFrame(let size): self.client.set(frame: size)
        case .resizesTable(let size): self.client.resizeTable(to: size)
        case .pings: self.client.ping()
        case .unknown: self.client.sendUnknown()
        case .goesAway: self.client.goAway()
        case .stopsReading: self.client.transport.isTaking = false
        case .readsOn: self.client.transport.isTaking = true
        case .cuts(let size): self.client.transport.cut(into: size)
        case .breaches(let breach): self.client.breach(breach)
        case .floods(let stream, let flood, let count): self.client.send(count, of: flood, stream: stream)
        case .oddWindow(let stream, let isZero): self.client.sendOddWindow(stream: stream, isZero: isZero)
        case .leaves: self.client.leave()
        default: self.playBehind(step)
        }
    }

    /// Events of origins, and of the proxy.
    private func playBehind(_ step: FrameCourse.Step) {
        switch step {
        case .interim(let origin, let filling): self.origin(origin)?.play(interim: filling)
        case .answers(let origin, let answer): self.origin(origin)?.play(answer)
        case .givesBody(let origin, let count): self.origin(origin)?.play(giving: count)
        case .givesTrailers(let origin): self.origin(origin)?.playTrailers()
        case .ends(let origin): self.origin(origin)?.playEnd()
        case .endsWhenGiven(let origin): self.origin(origin)?.endsWhenGiven = true
        case .fails(let origin): self.origin(origin)?.playFailure()
        case .slows(let origin): self.origin(origin)?.isSlow = true
        case .takes(let origin): self.origin(origin)?.playTaking()
        case .memoryRunsShort:
            self.model.isShort = true
            self.model.excuse(.memory)
            self.worker.holdAll()
        case .memoryIsFree:
            self.model.isShort = false
            self.worker.letGo()
        case .drains:
            guard !self.model.isBroken else { return }
            self.model.mayGoAway = true
            self.connection?.drain()
        case .reload: self.worker.reload()
        case .second: self.worker.pass(.seconds(1))
        case .hour:
            self.model.mayGoAway = true
            self.model.mayTimeOut = true
            self.model.excuse(.time)
            self.worker.pass(.hours(2))
        default: break
        }
    }

    private func origin(_ number: Int) -> FrameOrigin? {
        let live = self.model.origins.filter { !$0.isOver }
        return live.isEmpty ? nil : live[number % live.count]
    }

    // MARK: The end

    /// Brings everything to its end, and checks the final state.
    ///
    /// - Returns: false if the course is over.
    private func goesOnToEnd() -> Bool {
        guard self.model.breaches.isEmpty else { return false }
        if self.course.isWrong { self.model.breach("the test says so") }
        self.endTurns += 1
        self.worker.letGo()
        if self.course.end == .breaking { self.client.breakOff() }
        self.client.finish()
        for origin in self.model.origins where !origin.isOver { origin.playRest() }
        // A head that comes in pieces is not to be late for that.
        let isAtRest = self.model.isSettled && self.client.transport.isEmpty && self.client.isAcknowledged
        self.turnsAtRest = isAtRest ? self.turnsAtRest + 1 : 0
        let isDone = isAtRest || self.model.mayEnd || self.model.isBroken
        self.worker.pass(isDone ? .seconds(3) : .milliseconds(20))
        let isOver = self.client.transport.isClosed && self.connection == nil && !self.hasExchanges
        if isOver, self.model.isSettled || self.model.mayEnd || self.model.isBroken {
            // Work that was put off is done by then.
            guard self.endTurns >= 3 else { return true }
            self.checkLeft()
            return false
        }
        if self.turnsAtRest >= Self.enoughTurnsAtRest { self.close() }
        guard self.endTurns < Self.mostTurnsOfEnd else {
            self.checkLeft()
            return false
        }
        return true
    }

    private var hasExchanges: Bool { self.exchanges.contains { $0.exchange != nil } }

    /// Ends the connection, once all is settled.
    private func close() {
        guard !self.client.hasLeft else { return }
        self.model.checkEnd()
        if self.course.end == .draining, !self.client.transport.hasEnded {
            self.model.mayGoAway = true
            self.connection?.drain()
        } else {
            self.client.leave()
        }
    }

    private func checkLeft() {
        self.model.checkEnd()
        if !self.client.isAcknowledged { self.model.breach("settings are not acknowledged") }
        if self.model.isBroken, self.model.lastServed == nil, !self.model.mayEnd {
            self.model.breach("a breach of the protocol has no consequence")
        }
        if self.hasExchanges { self.model.breach("an exchange is kept for ever") }
        if self.connection != nil { self.model.breach("the connection is kept for ever") }
        if !self.client.transport.isClosed { self.model.breach("the socket stays open") }
        for sentence in self.worker.leftovers { self.model.breach(sentence) }
    }
}
