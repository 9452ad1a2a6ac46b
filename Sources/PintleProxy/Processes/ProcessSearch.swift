// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
package import PintleLoop
internal import PintleSystem

/// Finds the processes of clients, on a thread of its own.
///
/// A search reads the descriptors of other processes, which takes from 0.1 ms to some 10 ms. So all that wait are served by one
/// pass; the thread uses at most a fiftieth of a processor, beside bursts, which is less than a tenth of what so many connections
/// cost; and searches beyond a limit are dropped and counted, because a late one finds no process any more.
package final class ProcessSearch: Sendable {
    /// The outcomes of searches since the start.
    package struct Counts: Hashable, Sendable {
        /// Searches that have found a process.
        package var found = 0
        /// Searches for processes that had ended, or that this user may not look into.
        package var missing = 0
        /// Searches that were given up, because too many came at a time.
        package var dropped = 0
    }

    /// The result of one search.
    enum Outcome: Hashable, Sendable {
        case found(ExchangeRecord.Process)
        case missing
        case dropped
    }

    private struct Job: Sendable {
        let trace: ClientProcess.Trace
        let process: ClientProcess
    }

    private struct State: Sendable {
        var waiting: [Job] = []
        var isRunning = false
        var counts = Counts()
        var pace = DutyCycle(share: 0.02, burst: .milliseconds(100))
    }

    private let mostWaiting: Int
    private let locate: @Sendable ([ClientProcess.Trace]) -> [Outcome]
    private let threads = ThreadPool(most: 1)
    private let state = Locked(State())
    /// Never signalled: the thread waits on it for its next share of a processor.
    private let pause = Condition()

    /// - Parameters:
    ///   - mostWaiting: the most searches that wait for a pass.
    ///   - locate: does a pass; called on one thread at a time, with at most `mostWaiting` connections. Returns an outcome for each.
    init(mostWaiting: Int = 1024, locate: @escaping @Sendable ([ClientProcess.Trace]) -> [Outcome]) {
        (self.mostWaiting, self.locate) = (mostWaiting, locate)
    }

    /// Searches this machine.
    ///
    /// - Parameter diagnosis: asks for sockets of the network of the clients; nil if that is this process's own.
    package convenience init(diagnosis: SocketQuery? = nil) {
        let locator = Locked(ProcessLocator(diagnosis: diagnosis))
        self.init { traces in
            // Nothing else waits for this lock: passes follow each other.
            var own = locator.withLock { $0 }
            let outcomes = own.locate(traces)
            locator.withLock { [own] in $0 = own }
            return outcomes
        }
    }

    package var counts: Counts { self.state.withLock { $0.counts } }

    /// Searches for the process of a connection, and tells `process`. Does not wait.
    func find(_ trace: ClientProcess.Trace, for process: ClientProcess) {
        self.state.withLock { state in
            guard state.waiting.count < self.mostWaiting else {
                state.counts.dropped += 1
                return
            }
            if !state.isRunning {
                guard (try? self.threads.run { self.run() }) != nil else {
                    state.counts.dropped += 1
                    return
                }
                state.isRunning = true
            }
            state.waiting.append(Job(trace: trace, process: process))
        }
    }

    /// Does one pass after another until no search waits.
    private func run() {
        while let jobs = self.nextJobs() {
            let start = ProcessorTime.ofThread
            let outcomes = self.locate(jobs.map(\.trace))
            precondition(outcomes.count == jobs.count, "BUG: a search has no outcome")
            for case (let job, .found(let process)) in zip(jobs, outcomes) { job.process.known(process) }
            let time = ProcessorTime.ofThread - start
            let rest = self.state.withLock { state in
                for outcome in outcomes { state.counts.count(outcome) }
                return state.pace.spent(time, at: .now)
            }
            if rest > .zero { self.wait(rest) }
        }
    }

    private func nextJobs() -> [Job]? {
        self.state.withLock { state in
            if state.waiting.isEmpty {
                state.isRunning = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    private func wait(_ time: Duration) {
        let deadline = Condition.Deadline(in: time)
        self.pause.locked { while self.pause.wait(until: deadline) {} }
    }
}

extension ProcessSearch.Counts {
    fileprivate mutating func count(_ outcome: ProcessSearch.Outcome) {
        switch outcome {
        case .found: self.found += 1
        case .missing: self.missing += 1
        case .dropped: self.dropped += 1
        }
    }
}
