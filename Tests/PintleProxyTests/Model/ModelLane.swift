// SPDX-License-Identifier: Apache-2.0

import Dispatch
import NIOCore
import PintleActivity
import PintleMessage
import PintlePolicy

@testable import PintleLoop
@testable import PintleProxy
@testable import PintleSession

/// A lane under one configuration, for one course after the other.
final class ModelLane: @unchecked Sendable {
    // Why @unchecked holds: what changes is touched on the loop's thread only.
    static let peer = Client.address(IPAddress(v4: 0x7F00_0001))
    let loop: Loop
    let lane: Lane
    let census = ConnectionCensus()
    private let pool: WorkPool
    private let counters: Counters
    /// The one in force, and one that says the same, for reloads.
    private let actives: [ActiveConfiguration]
    private let engine: Engine
    private var othersHold = 0
    /// The time that has passed in the course.
    private var passed = TimeAmount.zero

    init(_ yaml: String, asking origins: any OriginOpener, on engine: Engine) throws {
        (self.engine, self.loop) = (engine, engine.loops[0])
        let policy = try ExchangeStage.policy(yaml)
        let log = try ExchangeLog(.off, format: .json, redaction: .off, logger: ExchangeStage.logger)
        self.counters = Counters(routes: policy.routes.routes.map(\.name))
        let active = try ExchangeStage.active(policy, engine, self.counters, log)
        let again = try ExchangeStage.policy(yaml)
        self.actives = [active, try ExchangeStage.active(again, engine, self.counters, log, continuing: active)]
        self.pool = WorkPool(memory: self.counters.memory, workers: 1)
        self.lane = Lane(loop: self.loop, active: active, census: self.census, pool: self.pool, origins: origins)
    }

    /// Waits until the pool has done what it was given before, so that its results come in the next turn.
    func waitForPool() throws {
        let isDone = DispatchSemaphore(value: 0)
        let limits = WorkPool.Limits(steps: .max, processorTime: .seconds(86_400), heldBytes: .max)
        _ = try self.pool.submit(for: Self.peer, limits) { _ in isDone.signal() }
        isDone.wait()
    }

    /// Puts the other configuration in force.
    func reload() {
        let next = self.actives.first { $0 !== self.lane.active }
        if let next { self.lane.replace(active: next) }
    }

    /// Has time pass for the timers that are armed, and for those that they arm.
    func pass(_ time: TimeAmount) {
        self.passed = self.passed + time
        let end = self.loop.turnTime + self.passed
        self.loop.local.now = end
        while let timer = self.loop.local.timers.popExpired(at: end) { timer.fire() }
    }

    /// A course begins.
    func begin() { self.passed = .zero }

    // MARK: Memory

    /// Others hold all memory that there is for requests and answers.
    func holdAll() { self.hold(self.lane.active.limits.heldBytes) }

    func letGo() { self.hold(0) }

    private func hold(_ bytes: Int) {
        self.counters.memory.change(by: bytes - self.othersHold)
        self.othersHold = bytes
    }

    /// The sentences on what a course has left behind.
    var leftovers: [String] {
        var sentences: [String] = []
        let counts = self.counters.snapshot()
        if counts.overall.active != 0 { sentences.append("\(counts.overall.active) exchanges stay active") }
        if counts.memory.held != 0 { sentences.append("\(counts.memory.held) bytes stay held") }
        if self.pool.waiting != 0 { sentences.append("\(self.pool.waiting) jobs wait for ever") }
        if self.census.total != 0 { sentences.append("\(self.census.total) connections stay counted") }
        return sentences
    }
}
