// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleSerialization
internal import PintleSystem

/// Carries out one task on the thread of one loop. The thread is also the actor's executor, so calls from the task's
/// transfers need no hop and no lock.
///
/// ``carryOut(_:_:)`` has the whole course of a task in order; the extensions have its parts.
actor TaskRun {
    /// The destination of a response.
    enum Output: Sendable {
        case memory
        case stream(ResponseHandoff)
        case file(DownloadDestination, ResponseContract, resuming: PartialDownload?)
        case webSocket(WebSocketOpening)
    }

    nonisolated let loop: Loop
    nonisolated var unownedExecutor: UnownedSerialExecutor { self.loop.asUnownedSerialExecutor() }
    /// The steps of the client that made the task; nil if there are none.
    let interception: InterceptorChain?
    /// The request's body; for an upload without one, a hook is asked.
    private let source: UploadSource?
    /// Weak, so that a session whose tasks were never resumed can be released.
    private weak let owner: Session?

    /// The owner of connections on which the task has logged in.
    let connectionOwner = ConnectionOwner()

    private var hasBegun = false
    private(set) var isSuspended = true
    private var isOver = false
    /// The reason why the task must end; nil while it need not.
    private(set) var failure: SessionError?
    private(set) var keepsPart = false
    /// The transfer that is under way.
    var flow: TransferFlow?
    /// The lookup of the current request in the cache; nil if the cache is not asked, or has answered.
    var question: CacheOffer?
    /// True if the cache is no longer asked, because a response to its conditions was about something else.
    var passesCache = false
    /// The connection of a WebSocket, while it is open.
    var link: WebSocketLink?
    /// The destination of the response; a hook may turn a data task into a download.
    var output: Output
    /// The file of a download, from its opening to its end.
    var file: DownloadFile?
    /// The part that the file held already; nil if the download does not continue it.
    var leftOver: PartialDownload?
    private let waiting: LoopWait
    private var deadline: LoopTimer?
    private var timeLeft: TimeAmount?
    private var runningSince = NIODeadline.uptimeNanoseconds(0)

    init(loop: Loop, owner: Session, source: UploadSource?, output: Output, interception: InterceptorChain?) {
        self.loop = loop
        self.waiting = LoopWait(on: loop)
        self.owner = owner
        self.source = source
        self.output = output
        self.interception = interception
    }

    // MARK: Steering, from anywhere

    /// Applies the task's state on the loop. The calls of two threads may arrive in another order than their changes of
    /// the state, so the present state counts.
    nonisolated func follow(_ task: SessionTask) {
        // Held until then: a program may release its session as soon as it has resumed a task.
        let owner = self.owner
        self.onLoop { run in
            withExtendedLifetime(owner) {
                switch task.state {
                case .running: run.resumed(task)
                case .suspended: run.suspended()
                case .cancelling, .completed: break
                }
            }
        }
    }

    nonisolated func cancel(_ task: SessionTask, keepingPart: Bool) {
        let owner = self.owner
        self.onLoop { run in withExtendedLifetime(owner) { run.cancelled(task, keepingPart: keepingPart) } }
    }

    /// Runs `work` on the loop's thread, after earlier calls.
    nonisolated func onLoop(_ work: @escaping @Sendable (isolated TaskRun) -> Void) {
        self.loop.execute { self.assumeIsolated { work($0) } }
    }

    private func resumed(_ task: SessionTask) {
        // The task has ended, or a later call has arrived first, see `follow`.
        guard self.isSuspended, !self.isOver else { return }
        self.isSuspended = false
        self.runningSince = .now()
        guard self.hasBegun else { return self.begin(task) }
        if let timeLeft { self.armDeadline(timeLeft) }
        self.flow?.resume()
        self.link?.resume()
        self.wake()
    }

    private func suspended() {
        // The task has ended, or a later call has arrived first, see `follow`.
        guard !self.isSuspended, !self.isOver else { return }
        self.isSuspended = true
        if let deadline, let timeLeft {
            self.loop.disarm(deadline)
            self.timeLeft = timeLeft - (.now() - self.runningSince)
        }
        self.flow?.suspend()
        self.link?.suspend()
    }

    private func cancelled(_ task: SessionTask, keepingPart: Bool) {
        self.keepsPart = keepingPart
        self.fail(.cancelled)
        if !self.hasBegun { self.begin(task) }
    }

    private func fail(_ error: SessionError) {
        // The first failure is the reason.
        guard self.failure == nil else { return }
        self.failure = error
        self.flow?.cancel(with: error)
        self.wake()
    }

    private func armDeadline(_ limit: TimeAmount) {
        self.timeLeft = limit
        // Why unowned holds: `end` disarms the timer before the run is released.
        let deadline = self.deadline ?? LoopTimer { [unowned self] in self.assumeIsolated { $0.outOfTime() } }
        self.deadline = deadline
        self.loop.arm(deadline, at: .now() + limit)
    }

    /// Removes the time limit: a WebSocket may stay open.
    func endTimeLimit() {
        if let deadline { self.loop.disarm(deadline) }
        self.timeLeft = nil
        self.deadline = nil
    }

    private func outOfTime() {
        self.fail(SessionError(.timeout, "the task was not done within the time that it was given"))
    }

    // MARK: From beginning to end

    private func begin(_ task: SessionTask) {
        self.hasBegun = true
        guard let session = self.owner else {
            return task.finish(.failure(SessionError(.invalidated, "the session of the task is gone")))
        }
        if let limit = task.originalRequest.deadline.map({ $0 - .now }) ?? session.configuration.resourceTimeout {
            self.armDeadline(TimeAmount(limit: limit))
        }
        Task { await self.perform(task, session) }
    }

    private func perform(_ task: SessionTask, _ session: Session) async {
        let outcome: Result<TaskResult, SessionError>
        do throws(SessionError) {
            outcome = .success(try await self.carryOut(task, session))
        } catch {
            // A requested cancellation, or a time-out, outranks the error that it caused.
            outcome = .failure(self.failure ?? error)
        }
        await self.end(task, session, outcome)
    }

    private func end(_ task: SessionTask, _ session: Session, _ outcome: Result<TaskResult, SessionError>) async {
        // From here on the timer must not be armed again.
        self.isOver = true
        if let deadline { self.loop.disarm(deadline) }
        var error: SessionError?
        if case .failure(let failure) = outcome {
            error = failure
            await self.abandonFile(of: task, after: failure)
        }
        // A task that failed elsewhere, perhaps in a hook, leaves a transfer without a reader.
        self.flow?.cancel()
        self.flow = nil
        self.file = nil
        session.registry.remove(task)
        switch self.output {
        case .memory, .file: break
        case .stream(let handoff): handoff.finish(error)
        case .webSocket(let opening): opening.finish(error)
        }
        task.finish(outcome)
        for interceptor in self.interception?.steps ?? [] { interceptor.completed?(task, error) }
        session.hooks.collectedMetrics?(task, task.metrics)
        session.hooks.completed?(task, error)
        session.events.post(.taskCompleted(task))
        session.taskEnded()
    }

    /// Carries out the task: makes a request, follows redirects and challenges, and receives the response that is the
    /// result.
    private func carryOut(_ task: SessionTask, _ session: Session) async throws(SessionError) -> TaskResult {
        try self.checkFailure()
        var request = try session.completed(task.originalRequest)
        session.askForCodings(in: &request, isResumable: self.isResumable(request))
        try self.checkCacheIsAsked(for: request, of: task, session)
        try await self.prepareFile(for: &request, of: task, session)
        var attempts = TaskAttempts(request: request, source: self.source)
        while true {
            attempts.begin(try await self.adapted(attempts, of: task, session))
            guard let result = try await self.attempt(&attempts, of: task, session) else { continue }
            return try await self.finished(result, of: task, session)
        }
    }

    /// Makes the request, and those that its responses demand.
    ///
    /// - Returns: nil if another attempt must be made.
    private func attempt(
        _ attempts: inout TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> TaskResult? {
        while true {
            try await self.wait { !self.isSuspended }
            task.update { $0.currentRequest = attempts.request }
            let answer: Answer
            do throws(SessionError) {
                guard let first = try await self.answer(&attempts, of: task, session) else { continue }
                answer = first
            } catch {
                if try await self.isMadeAgain(after: .failure(error), &attempts, of: task, session) { return nil }
                throw error
            }
            do throws(SessionError) {
                guard case .result = try await self.following(answer.head, in: &attempts, of: task, session) else {
                    await self.discardRest(of: answer, task)
                    continue
                }
                if !answer.isCached,
                    try await self.isMadeAgain(after: .response(answer.head), &attempts, of: task, session)
                {
                    await self.discardRest(of: answer, task)
                    return nil
                }
                return try await self.take(answer, of: task, session)
            } catch {
                self.giveUp(answer, with: error, task)
                guard case .memory = self.output, error.comesFromPeer,
                    try await self.isMadeAgain(after: .failure(error), &attempts, of: task, session)
                else { throw error }
                return nil
            }
        }
    }

    // MARK: Waiting

    /// Throws the error that ends the task, if there is one.
    func checkFailure() throws(SessionError) {
        if let failure { throw failure }
    }

    /// Waits until `isReady` returns true; it is called again after each event.
    func wait(until isReady: () -> Bool) async throws(SessionError) {
        while true {
            try self.checkFailure()
            if isReady() { return }
            await self.waiting.wait()
        }
    }

    func wake() { self.waiting.wake() }

    /// Calls a hook. A cancelled task does not wait for it.
    ///
    /// - Throws: ``SessionError`` with `hookFailed` and the hook's error as `underlying`, or the error that ends the
    ///   task.
    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable () async throws -> Answer
    ) async throws(SessionError) -> Answer {
        let answer = Locked<Result<Answer, any Error>?>(nil)
        let asking = Task.detached {
            let result: Result<Answer, any Error>
            do {
                result = .success(try await question())
            } catch {
                result = .failure(error)
            }
            // The answer is applied on the loop, after earlier calls: if a hook suspends its task and then answers, the
            // task must be suspended by then.
            self.onLoop { run in
                answer.withLock { $0 = result }
                run.wake()
            }
        }
        defer { asking.cancel() }
        try await self.wait { answer.withLock { $0 != nil } }
        switch answer.withLock({ $0 }) {
        case .success(let value): return value
        case .failure(let error): throw SessionError(.hookFailed, "a hook refused: \(error)", underlying: error)
        case nil: preconditionFailure("BUG: a hook's answer was not there")
        }
    }
}
