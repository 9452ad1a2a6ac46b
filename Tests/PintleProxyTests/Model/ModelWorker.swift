// SPDX-License-Identifier: Apache-2.0

import Dispatch
import NIOCore
import PintleActivity
import PintleMessage
import PintlePolicy
import PintleTesting

@testable import PintleLoop
@testable import PintleProxy
@testable import PintleSession

/// A worker under one configuration, for one course after the other.
final class ModelWorker: @unchecked Sendable {
    // Why @unchecked holds: variables are touched on the loop's thread only.
    static let peer = Client.address(IPAddress(v4: 0x7F00_0001))
    let loop: Loop
    let worker: Worker
    let limiter = ConnectionLimiter()
    private let pool: WorkPool
    private let counters: Counters
    /// The one in force, and one that says the same, for reloads.
    private var actives: [ActiveConfiguration]
    private let yaml: String
    private let engine: Engine
    /// The folder for answers on disk; nil if they are only in memory.
    private let folder: TemporaryFolder?
    private var othersHold = 0
    /// The time that has passed in the course.
    private var passed = TimeAmount.zero

    init(_ yaml: String, asking origins: any OriginOpener, hasDisk: Bool = false, on engine: Engine) throws {
        (self.yaml, self.engine, self.loop) = (yaml, engine, engine.loops[0])
        let routes = try ExchangeStage.policy(yaml).routes.routes
        self.counters = Counters(routes: routes.map(\.name))
        self.actives = try Self.actives(yaml, engine, self.counters)
        self.folder = hasDisk ? try TemporaryFolder() : nil
        self.pool = WorkPool(memory: self.counters.memory, workers: 1)
        self.worker = Worker(
            loop: self.loop, active: self.actives[0], limiter: self.limiter, pool: self.pool, origins: origins)
        try self.openDisk()
    }

    private static func actives(_ yaml: String, _ engine: Engine, _ counters: Counters) throws -> [ActiveConfiguration]
    {
        let log = try ExchangeLog(.off, format: .json, redaction: .off, logger: ExchangeStage.logger)
        let active = try ExchangeStage.active(try ExchangeStage.policy(yaml), engine, counters, log)
        let again = try ExchangeStage.policy(yaml)
        return [active, try ExchangeStage.active(again, engine, counters, log, continuing: active)]
    }

    /// Waits until the pool has done its earlier jobs, so that their results come in the next turn.
    func waitForPool() throws {
        let isDone = DispatchSemaphore(value: 0)
        let limits = WorkPool.Limits(steps: .max, processorTime: .seconds(86_400), heldBytes: .max)
        _ = try self.pool.submit(for: Self.peer, limits) { _ in isDone.signal() }
        isDone.wait()
    }

    /// Puts the other configuration in force.
    func reload() {
        let next = self.actives.first { $0 !== self.worker.active }
        if let next { self.worker.replace(active: next) }
    }

    /// Lets time pass for the timers that are armed, and for those that they arm.
    func pass(_ time: TimeAmount) {
        self.passed = self.passed + time
        let end = self.loop.turnTime + self.passed
        self.loop.local.now = end
        while let timer = self.loop.local.timers.popExpired(at: end) { timer.fire() }
    }

    /// A course begins.
    func begin() { self.passed = .zero }

    // MARK: The disk

    private func openDisk() throws {
        guard let folder, let answers = self.actives[0].answers else { return }
        let capacity = self.actives[0].cacheConfiguration.disk
        try Self.wait { try await answers.openDisk(folder.path + "/cache", capacity: capacity) { _ in } }
    }

    /// Starts again, like a new process, with the answers on disk.
    func restart() throws {
        if let answers = self.actives[0].answers { try Self.wait { await answers.closeDisk() } }
        self.actives = try Self.actives(self.yaml, self.engine, self.counters)
        self.worker.replace(active: self.actives[0])
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

    // MARK: Memory

    /// Others hold all memory that there is for requests and answers.
    func holdAll() { self.hold(self.worker.active.limits.heldBytes) }

    func letGo() { self.hold(0) }

    private func hold(_ bytes: Int) {
        self.counters.memory.change(by: bytes - self.othersHold)
        self.othersHold = bytes
    }

    /// Sentences about everything that a course has left over.
    var leftovers: [String] {
        var sentences: [String] = []
        let counts = self.counters.snapshot()
        if counts.overall.active != 0 { sentences.append("\(counts.overall.active) exchanges stay active") }
        if counts.memory.held != 0 { sentences.append("\(counts.memory.held) bytes stay held") }
        if self.pool.waiting != 0 { sentences.append("\(self.pool.waiting) jobs wait for ever") }
        if self.limiter.total != 0 { sentences.append("\(self.limiter.total) connections stay counted") }
        return sentences
    }
}
