// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOConcurrencyHelpers
internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleSystem
internal import Synchronization

/// Does on other threads what would hold a loop up: judging and serializing bodies.
///
/// There are as many workers as processors. Jobs wait in a queue for each client, and the clients take turns, so that one
/// with many does not keep the others waiting. A job has a ``PintleMessage/WorkBudget``: its steps and its processor time
/// are limited, its memory comes out of the common budget, and it ends when it is cancelled.
final class WorkPool: Sendable {
    /// What a job may use.
    struct Limits: Sendable {
        /// Steps of a ``PintleMessage/WorkBudget``.
        let steps: Int
        /// Time of a processor, which does not pass while the thread waits for one.
        let processorTime: Duration
        /// How many bytes may be held, by this job and everybody else, before it is refused more (`limits.held_bytes`).
        let heldBytes: Int
    }

    /// A job that was taken on.
    struct Ticket: Sendable, Equatable {
        fileprivate let place: FairQueue<Client?, Job>.Ticket
        fileprivate let flag: Flag

        static func == (left: Ticket, right: Ticket) -> Bool { left.flag === right.flag }
    }

    /// Why a job was not taken on, in words for a problem.
    struct Refusal: Error, Sendable {
        let reason: String
    }

    /// Called once, on another thread, unless the job is cancelled before it has begun.
    typealias Work = @Sendable (WorkBudget) -> Void

    fileprivate final class Flag: Sendable {
        let isSet = Atomic<Bool>(false)
        /// What is given back to the budget when the job is over.
        let owed = Atomic<Int>(0)
    }

    fileprivate struct Job: Sendable {
        /// Tells it from all other jobs.
        let flag: Flag
        let limits: Limits
        let work: Work
    }

    fileprivate struct State {
        var waiting = FairQueue<Client?, Job>()
        var running: Set<ObjectIdentifier> = []
        var workers = 0
    }

    /// The most jobs that wait, of all clients and of one.
    private let mostWaiting: Int
    private let mostWaitingOfClient: Int
    private let workers: Int
    private let threads: ThreadPool
    private let memory: MemoryBudget
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - memory: what jobs draw from.
    ///   - workers: jobs at a time.
    init(memory: MemoryBudget, workers: Int = Engine.availableProcessors, mostWaiting: Int = 1024, ofClient: Int = 256)
    {
        self.memory = memory
        self.workers = max(1, workers)
        self.threads = ThreadPool(most: workers)
        self.mostWaiting = mostWaiting
        self.mostWaitingOfClient = ofClient
    }

    /// Takes a job on.
    ///
    /// - Parameter client: whose turn it takes.
    /// - Throws: where as many wait as may, or the system has no thread.
    func submit(for client: Client?, _ limits: Limits, _ work: @escaping Work) throws(Refusal) -> Ticket {
        let flag = Flag()
        let outcome = self.state.withLockedValue { state -> Result<Ticket, Refusal> in
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
            // A worker goes on while jobs wait, so no more is asked of the threads than there are workers.
            if state.workers < self.workers {
                do {
                    try self.threads.run { self.runJobs() }
                    state.workers += 1
                } catch  where state.workers == 0 {
                    return .failure(Refusal(reason: "the system has no thread to judge the body: \(error)"))
                } catch {
                    // The workers that there are come to it.
                }
            }
            let place = state.waiting.append(Job(flag: flag, limits: limits, work: work), of: client)
            return .success(Ticket(place: place, flag: flag))
        }
        return try outcome.get()
    }

    /// Gives a job up whose result nobody wants any more.
    ///
    /// - Parameter bytes: of the budget that belong to what the job works on. They are given back when it lets go of it.
    /// - Returns: whether it had not begun, and never will.
    @discardableResult
    func cancel(_ ticket: Ticket, givingBack bytes: Int = 0) -> Bool {
        ticket.flag.isSet.store(true, ordering: .relaxed)
        let wasWaiting = self.state.withLockedValue { state in
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

    /// How many jobs wait for a worker.
    var waiting: Int { self.state.withLockedValue { $0.waiting.count } }

    // MARK: Inside

    private func runJobs() {
        // The job lets go of what its work held before the budget has it back.
        while let owed = self.runJob() { self.memory.change(by: -owed) }
    }

    /// - Returns: what the job owes to the budget; nil where none waits.
    private func runJob() -> Int? {
        guard let job = self.state.withLockedValue({ $0.next() }) else { return nil }
        self.run(job)
        self.state.withLockedValue { _ = $0.running.remove(ObjectIdentifier(job.flag)) }
        return job.flag.owed.load(ordering: .relaxed)
    }

    private func run(_ job: Job) {
        let (flag, limits) = (job.flag, job.limits)
        guard !flag.isSet.load(ordering: .relaxed) else { return }
        let end = Self.processorTime() + limits.processorTime
        let budget = WorkBudget(
            steps: limits.steps,
            inspect: {
                if flag.isSet.load(ordering: .relaxed) { return .cancelled }
                return Self.processorTime() < end ? nil : .time
            },
            reserve: { bytes in
                guard self.memory.take(bytes, limit: limits.heldBytes) else { return false }
                flag.owed.wrappingAdd(bytes, ordering: .relaxed)
                return true
            })
        job.work(budget)
    }

    /// How long this thread has run.
    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

extension WorkPool.State {
    /// Takes the next job; counts a worker out where there is none.
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
    /// For a request: a few million steps for parameters and body together.
    static func request(_ limits: LimitsConfiguration) -> Self {
        Self(steps: 4_000_000, processorTime: .seconds(2), heldBytes: limits.heldBytes)
    }

    /// For a certificate, whose work does not depend on anybody's bytes.
    static func certificate(_ limits: LimitsConfiguration) -> Self {
        Self(steps: 1, processorTime: .seconds(1), heldBytes: limits.heldBytes)
    }

    /// For a response, which a server of the operator's choice has sent.
    static func response(_ limits: LimitsConfiguration) -> Self {
        Self(steps: 32_000_000, processorTime: .seconds(5), heldBytes: limits.heldBytes)
    }
}
