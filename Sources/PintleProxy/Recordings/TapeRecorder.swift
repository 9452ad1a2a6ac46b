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
        let work: Work
    }

    private struct State {
        var waiting: [Job] = []
        var bytes = 0
        var isRunning = false
        var lost = 0
        /// Called when nothing waits.
        var whenIdle: [@Sendable () -> Void] = []
    }

    /// The most recordings, and the most bytes of their bodies, that wait.
    private static let (mostWaiting, mostBytes) = (10_000, 64 << 20)

    private let state = Locked(State())
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    /// The number of recordings that were lost.
    var lost: Int { self.state.withLock { $0.lost } }

    /// - Parameter bytes: the memory that the work holds.
    func add(bytes: Int, _ work: @escaping Work) {
        enum Outcome { case waits, starts, full }
        let outcome = self.state.withLock { state -> Outcome in
            let hasRoom = state.bytes + bytes <= Self.mostBytes || state.waiting.isEmpty
            guard hasRoom, state.waiting.count < Self.mostWaiting else {
                state.lost += 1
                return .full
            }
            state.waiting.append(Job(bytes: bytes, work: work))
            state.bytes += bytes
            defer { state.isRunning = true }
            return state.isRunning ? .waits : .starts
        }
        switch outcome {
        case .waits: break
        case .full:
            self.logger.error(
                "a recording is lost", metadata: ["reason": "more wait to be written than may; the disk is too slow"])
        case .starts: self.start()
        }
    }

    private func start() {
        do throws(SystemError) {
            try ThreadPool.shared.run { self.write() }
        } catch {
            let lost = self.state.withLock { state in
                let lost = state.waiting.count
                state.lost += lost
                (state.waiting, state.bytes, state.isRunning) = ([], 0, false)
                return lost
            }
            self.logger.error(
                "recordings are lost", metadata: ["count": "\(lost)", "reason": "the system has no thread: \(error)"])
            self.tellIdle()
        }
    }

    private func write() {
        while let job = self.next() {
            do throws(TapeError) {
                try job.work()
            } catch {
                self.state.withLock { $0.lost += 1 }
                self.logger.error("a recording is lost", metadata: ["reason": "\(error)"])
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
