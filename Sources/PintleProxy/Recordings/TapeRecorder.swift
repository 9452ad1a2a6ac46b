// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PintleActivity
internal import PintleSystem
internal import PintleTape

/// Writes recordings on a thread that is no event loop, in the order in which their exchanges ended. Exchanges never wait for it: a
/// recording that finds no room, or cannot be written, is lost, which is logged and counted.
final class TapeRecorder: Sendable {
    typealias Work = @Sendable () throws(TapeError) -> Void

    private struct Job: Sendable {
        let bytes: Int
        let counters: RouteCounters
        let work: Work
    }

    private struct State {
        var waiting: [Job] = []
        var bytes = 0
        var isRunning = false
        /// Called when nothing waits.
        var whenIdle: [@Sendable () -> Void] = []
    }

    /// The most recordings, and the most bytes of their bodies, that wait.
    private static let (mostWaiting, mostBytes) = (10_000, 64 << 20)

    private let state = Locked(State())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// Gives a recording up.
    ///
    /// - Parameter level: that of a loss for which the operator can do something, unless given.
    func lose(of counters: RouteCounters, _ reason: String, at level: Logger.Level = .error) {
        counters.lostRecording()
        self.logger.log(
            level: level, "a recording is lost", metadata: ["route": "\(counters.name)", "reason": "\(reason)"])
    }

    /// Tells of a recording that was written without its bodies: it will be a miss.
    ///
    /// - Parameter gap: the request, and the reason.
    func tell(ofGap gap: String, _ counters: RouteCounters) {
        self.logger.warning(
            "a recording is incomplete", metadata: ["route": "\(counters.name)", "reason": "\(gap)"])
    }

    /// - Parameters:
    ///   - bytes: the memory that the work holds.
    ///   - counters: count the recording if it is lost.
    func add(bytes: Int, of counters: RouteCounters, _ work: @escaping Work) {
        enum Outcome { case waits, starts, full }
        let outcome = self.state.withLock { state -> Outcome in
            let hasRoom = state.bytes + bytes <= Self.mostBytes || state.waiting.isEmpty
            guard hasRoom, state.waiting.count < Self.mostWaiting else { return .full }
            state.waiting.append(Job(bytes: bytes, counters: counters, work: work))
            state.bytes += bytes
            defer { state.isRunning = true }
            return state.isRunning ? .waits : .starts
        }
        switch outcome {
        case .waits: break
        case .full: self.lose(of: counters, "more wait to be written than may; the disk is too slow")
        case .starts: self.start()
        }
    }

    private func start() {
        do throws(SystemError) {
            try ThreadPool.shared.run { self.write() }
        } catch {
            let lost = self.state.withLock { state in
                defer { (state.waiting, state.bytes, state.isRunning) = ([], 0, false) }
                return state.waiting
            }
            for job in lost { self.lose(of: job.counters, "the system has no thread: \(error)") }
            self.tellIdle()
        }
    }

    private func write() {
        while let job = self.next() {
            do throws(TapeError) {
                try job.work()
            } catch {
                self.lose(of: job.counters, "\(error)")
            }
        }
        self.tellIdle()
    }

    private func next() -> Job? {
        self.state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            let job = state.waiting.removeFirst()
            state.bytes -= job.bytes
            return job
        }
    }

    private func tellIdle() {
        let all = self.state.withLock { state -> [@Sendable () -> Void] in
            defer { state.whenIdle = [] }
            return state.whenIdle
        }
        for call in all { call() }
    }

    /// Returns when everything that was added has been written, or is lost.
    func finish() async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            let isIdle = self.state.withLock { state in
                guard state.isRunning else { return true }
                state.whenIdle.append { done.resume() }
                return false
            }
            if isIdle { done.resume() }
        }
    }
}
