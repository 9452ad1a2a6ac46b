// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy
internal import PintleSerialization
internal import PintleSession
internal import PintleSystem
internal import Synchronization

/// Runs work on other threads that would block an event loop: validating and serializing bodies.
///
/// There are as many workers as processors. Jobs wait in one queue per client, and the clients take turns, so that a client
/// with many jobs does not delay others. A job has a ``PintleSerialization/WorkBudget``: its steps and its processor time are
/// limited, its memory comes out of the common budget, and it ends when it is cancelled.
final class WorkPool: Sendable {
    /// The resources that a job may use.
    struct Limits: Sendable {
        /// Steps of a ``PintleSerialization/WorkBudget``.
        let steps: Int
        /// Processor time; it does not pass while the thread waits for a processor.
        let processorTime: Duration
        /// The most bytes that this job and all other holders may hold together, before the job gets no more
        /// (`limits.held_bytes`).
        let heldBytes: Int
    }

    /// An accepted job.
    struct Ticket: Sendable, Equatable {
        fileprivate let place: FairQueue<Client?, Job>.Ticket
        fileprivate let flag: Flag

        static func == (left: Ticket, right: Ticket) -> Bool { left.flag === right.flag }
    }

    /// The reason why a job was not accepted, in words for a problem.
    struct Refusal: Error, Sendable {
        let reason: String
    }

    /// Called once, on another thread, unless the job is cancelled before it begins.
    typealias Work = @Sendable (WorkBudget) -> Void

    fileprivate final class Flag: Sendable {
        let isSet = Atomic<Bool>(false)
        /// The bytes to be returned to the budget when the job is over.
        let owed = Atomic<Int>(0)
    }

    fileprivate struct Job: Sendable {
        /// Identifies the job.
        let flag: Flag
        let limits: Limits
        let work: Work
    }

    fileprivate struct State {
        var waiting = FairQueue<Client?, Job>()
        var running: Set<ObjectIdentifier> = []
        var workers = 0
    }

    /// The most waiting jobs, of all clients and of one client.
    private let mostWaiting: Int
    private let mostWaitingOfClient: Int
    private let workers: Int
    private let threads: ThreadPool
    private let memory: MemoryBudget
    private let state = Locked(State())

    /// - Parameters:
    ///   - memory: the budget from which jobs take memory.
    ///   - workers: the most jobs that run at a time.
    init(memory: MemoryBudget, workers: Int = Engine.availableProcessors, mostWaiting: Int = 1024, ofClient: Int = 256)
    {
        self.memory = memory
        self.workers = max(1, workers)
        self.threads = ThreadPool(most: workers)
        self.mostWaiting = mostWaiting
        self.mostWaitingOfClient = ofClient
    }

    /// Accepts a job.
    ///
    /// - Parameter client: the client in whose turn the job runs.
    /// - Throws: an error if too many jobs wait, or if the system has no thread.
    func submit(for client: Client?, _ limits: Limits, _ work: @escaping Work) throws(Refusal) -> Ticket {
        let flag = Flag()
        let outcome = self.state.withLock { state -> Result<Ticket, Refusal> in
            let own = state.waiting.count(of: client)
            guard own < self.mostWaitingOfClient else {
                return .failure(
                    Refusal(
                        reason: "\(own) bodies of this client wait to be judged, as many as may; send fewer at a time"))
            }
            guard state.waiting.count < self.mostWaiting else {
                return .failure(
                    Refusal(reason: "\(state.waiting.count) bodies wait to be judged, as many as may; try again later"))
            }
            // A worker continues while jobs wait; so there are never more threads than workers.
            if state.workers < self.workers {
                do {
                    try self.threads.run { self.runJobs() }
                    state.workers += 1
                } catch  where state.workers == 0 {
                    return .failure(Refusal(reason: "the system has no thread to judge the body: \(error)"))
                } catch {
                    // The existing workers will run the job.
                }
            }
            let place = state.waiting.append(Job(flag: flag, limits: limits, work: work), of: client)
            return .success(Ticket(place: place, flag: flag))
        }
        return try outcome.get()
    }

    /// Cancels a job whose result is no longer needed.
    ///
    /// - Parameter bytes: the part of the budget that belongs to the job's input; returned when the job has released the input.
    /// - Returns: true if the job had not begun, and never will.
    @discardableResult
    func cancel(_ ticket: Ticket, givingBack bytes: Int = 0) -> Bool {
        ticket.flag.isSet.store(true, ordering: .relaxed)
        let wasWaiting = self.state.withLock { state in
            guard state.running.contains(ObjectIdentifier(ticket.flag)) else {
                state.waiting.remove(ticket.place)
                return true
            }
            ticket.flag.owed.wrappingAdd(bytes, ordering: .relaxed)
            return false
        }
        if wasWaiting { self.memory.change(by: -bytes) }
        return wasWaiting
    }

    /// The number of jobs that wait for a worker.
    var waiting: Int { self.state.withLock { $0.waiting.count } }

    // MARK: Inside

    private func runJobs() {
        // The job releases its memory before the budget gets it back.
        while let owed = self.runJob() { self.memory.change(by: -owed) }
    }

    /// - Returns: the bytes that the job owes to the budget; nil if no job waits.
    private func runJob() -> Int? {
        guard let job = self.state.withLock({ $0.next() }) else { return nil }
        self.run(job)
        self.state.withLock { _ = $0.running.remove(ObjectIdentifier(job.flag)) }
        return job.flag.owed.load(ordering: .relaxed)
    }

    private func run(_ job: Job) {
        let (flag, limits) = (job.flag, job.limits)
        // A job that was cancelled while it waited is not begun.
        if flag.isSet.load(ordering: .relaxed) { return }
        let end = ProcessorTime.ofThread + limits.processorTime
        let budget = WorkBudget(
            steps: limits.steps,
            inspect: {
                if flag.isSet.load(ordering: .relaxed) { return .cancelled }
                return ProcessorTime.ofThread < end ? nil : .time
            },
            reserve: { bytes in
                guard self.memory.take(bytes, limit: limits.heldBytes) else { return false }
                flag.owed.wrappingAdd(bytes, ordering: .relaxed)
                return true
            })
        job.work(budget)
    }
}

extension WorkPool.State {
    /// Takes the next job; if there is none, counts the worker out.
    fileprivate mutating func next() -> WorkPool.Job? {
        guard let job = self.waiting.popFirst() else {
            self.workers -= 1
            return nil
        }
        self.running.insert(ObjectIdentifier(job.flag))
        return job
    }
}

extension WorkPool.Limits {
    /// The limits for a request: a few million steps for parameters and body together.
    static func request(_ limits: LimitsConfiguration) -> Self {
        Self(steps: 4_000_000, processorTime: .seconds(2), heldBytes: limits.heldBytes)
    }

    /// The limits for a certificate; its cost does not depend on received bytes.
    static func certificate(_ limits: LimitsConfiguration) -> Self {
        Self(steps: 1, processorTime: .seconds(1), heldBytes: limits.heldBytes)
    }

    /// The limits for a response, which comes from a server of the operator's choice.
    static func response(_ limits: LimitsConfiguration) -> Self {
        Self(steps: 32_000_000, processorTime: .seconds(5), heldBytes: limits.heldBytes)
    }
}
