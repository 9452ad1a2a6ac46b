// SPDX-License-Identifier: Apache-2.0

public import PintleMessage
public import PintleSession
internal import PintleSystem

/// One request that can be started, paused and resumed, by itself or in a ``TransferQueue``.
///
/// A pause closes the connection and keeps the bytes that have arrived; resuming requests the rest (Range with
/// If-Range, RFC 9110 §13.1.5 and §14.2). If the server cannot continue, or has a different body now, the body begins
/// again at zero. Redirects, challenges and trust are handled by the session, with its hooks. Its cache is not used, as
/// bodies stream and may come in parts.
///
/// Cancel a paused operation that is no longer wanted, so that callers that wait for it hear of its end.
public final class TransferOperation: SessionOperation {
    /// The destination of the response's body, whatever its status.
    public enum Output: Sendable {
        /// Memory, up to `SessionConfiguration.bodyLimit`.
        case memory
        /// The body is appended to a file, which is made if it does not exist.
        case file(path: String)
        /// A sink of the caller's.
        case sink(any BodySink)
    }

    /// Called once, when the operation has finished.
    public typealias Completion = @Sendable (TransferOperation) async -> Void

    /// The request as it was passed in; ranges are added when they are needed.
    public let request: SessionRequest
    /// The body of the request. After a pause it is sent again.
    public let source: UploadSource?
    /// The destination of the response's body.
    public let output: Output
    /// The session that provides connections and hooks.
    public let session: Session
    let interception: InterceptorChain?
    let sink: any BodySink
    let status: Locked<Status>
    let finished = Latch()
    /// Happens after the completion has returned.
    let settled = Latch()
    private let states = EventBroadcast<State>(.bufferingNewest(256))
    private let progressUpdates = EventBroadcast<TaskProgress>(.bufferingNewest(1))

    /// Makes an operation that is ready.
    ///
    /// - Parameter completion: called when the operation has finished, and released afterwards.
    public convenience init(
        _ request: SessionRequest, in session: Session, from source: UploadSource? = nil, to output: Output = .memory,
        completion: Completion? = nil
    ) {
        self.init(request, in: session, from: source, to: output, interception: nil, completion: completion)
    }

    init(
        _ request: SessionRequest, in session: Session, from source: UploadSource?, to output: Output,
        interception: InterceptorChain?, completion: Completion?
    ) {
        self.interception = interception
        self.request = request
        self.session = session
        self.source = source
        self.output = output
        self.sink =
            switch output {
            case .memory: MemorySink(limit: session.configuration.bodyLimit)
            case .file(let path): FileSink(path: path)
            case .sink(let sink): sink
            }
        self.status = Locked(Status(completion: completion))
    }

    deinit {
        self.states.finish()
        self.progressUpdates.finish()
    }

    // MARK: Asking

    /// The state of the operation.
    public var state: State { self.status.withLock { $0.state } }
    /// The current state, then each later one. The stream ends with `finished`.
    public var stateStream: AsyncStream<State> {
        self.status.withLock { self.states.subscribe(beginningWith: $0.state) }
    }
    /// True if ``cancel()`` has ended the operation.
    public var isCancelled: Bool { self.status.withLock { $0.isCancelled } }
    /// True if it could be started now: it is `ready`, not cancelled, and its dependencies have finished.
    public var isReady: Bool { self.status.withLock { $0.isReady } }
    /// The head of the response whose body the output has; nil until there is one.
    public var response: ResponseHead? { self.status.withLock { $0.held?.head } }
    /// The number of bytes sent and received. Bytes from before a pause count as long as the output has them.
    public var progress: TaskProgress { self.status.withLock { $0.progress } }
    /// The current progress, then each change. A slow reader misses steps, but never the last one.
    public var progressStream: AsyncStream<TaskProgress> {
        self.status.withLock { self.progressUpdates.subscribe(beginningWith: $0.progress) }
    }
    /// The reason why the operation failed; nil while it is not finished, and if it succeeded.
    public var error: SessionError? {
        guard case .failure(let error) = self.status.withLock({ $0.outcome }) else { return nil }
        return error
    }

    // MARK: Steering

    /// Starts the operation. Does nothing unless it is ready, or if it is in a queue, which starts it.
    public func start() {
        self.status.withLock { status in
            guard case .alone = status.place else { return }
            self.startIfReady(&status)
        }
    }

    /// Pauses the operation until ``resume()``, and closes its connection. A piece of the body that is being written is
    /// still written. In a queue the operation keeps its place. Does nothing if it is paused, cancelled or finished.
    public func pause() {
        let task = self.status.withLock { status -> SessionTask? in
            guard !status.isCancelled, !status.isEnding, self.move(&status, to: .paused) else { return nil }
            return status.endStretch()
        }
        task?.cancel()
    }

    /// Makes a paused operation ready and starts it, or lets its queue start it. Does nothing unless it is paused.
    public func resume() {
        let ask = self.status.withLock { status -> (@Sendable () -> Void)? in
            guard !status.isCancelled, self.move(&status, to: .ready) else { return nil }
            if case .waiting(let ask) = status.place { return ask }
            self.startIfReady(&status)
            return nil
        }
        ask?()
    }

    /// Ends the operation as `cancelled`, whatever its state. Does nothing if it has ended.
    public func cancel() {
        let task = self.status.withLock { status -> SessionTask? in
            guard !status.isCancelled, !status.isEnding else { return nil }
            status.isCancelled = true
            let task = status.endStretch()
            let earlier = status.work
            status.work = Task {
                await earlier?.value
                await self.finish(.failure(self.cancellation))
            }
            return task
        }
        task?.cancel()
    }

    private var cancellation: SessionError {
        SessionError(.cancelled, "the operation that asks \(self.request.url.authority) was cancelled")
    }

    // MARK: Changing

    /// Starts the work. Does nothing if the operation waits for others, is paused, runs or has ended.
    func startIfReady(_ status: inout Status) {
        guard status.isReady, self.move(&status, to: .executing) else { return }
        status.stretch += 1
        let (earlier, stretch) = (status.work, status.stretch)
        status.work = Task {
            await earlier?.value
            await self.carryOut(stretch)
        }
    }

    /// Posts events under the lock, so that all readers see the changes in their order; no code of theirs runs here.
    private func move(_ status: inout Status, to next: State) -> Bool {
        let wasExecuting = status.state == .executing
        guard status.state.move(to: next, isCancelled: status.isCancelled) else { return false }
        self.states.post(next)
        switch next {
        case .ready: break
        case .executing: self.session.events.post(.operationStarted(self))
        case .paused: if wasExecuting { self.session.events.post(.operationStopped(self)) }
        case .finished: self.session.events.post(.operationStopped(self))
        }
        return true
    }

    /// Changes the progress and notifies the readers of the stream.
    func progress(_ change: (inout TaskProgress) -> Void) {
        self.status.withLock { status in
            change(&status.progress)
            self.progressUpdates.post(status.progress)
        }
    }

    /// Closes the output and notifies all waiting callers.
    func finish(_ outcome: Result<TaskResult, SessionError>) async {
        var outcome = outcome
        do {
            try await self.sink.close()
        } catch {
            if case .success = outcome { outcome = .failure(self.outputFailure(error)) }
        }
        // Released outside of the lock: a completion that goes with a dependency may hold what asks the operation.
        let released = self.status.withLock { status in
            status.outcome = outcome
            _ = self.move(&status, to: .finished)
            defer { (status.work, status.dependencies, status.place) = (nil, [], .alone) }
            return (status.work, status.dependencies, status.place)
        }
        withExtendedLifetime(released) {}
        self.states.finish()
        self.progressUpdates.finish()
        self.finished.happen()
        await self.complete()
        self.settled.happen()
    }

    /// A separate function, so that the completion is released before any caller hears that it has returned.
    private func complete() async {
        let completion = self.status.withLock { status in
            defer { status.completion = nil }
            return status.completion
        }
        await completion?(self)
    }
}

extension TransferOperation {
    /// The mutable state of an operation, under one lock.
    struct Status: Sendable {
        /// The right to start the operation.
        enum Place: Sendable {
            /// Any caller may start it: it is in no queue.
            case alone
            /// Its queue starts it; `ask` makes the queue check again.
            case waiting(ask: @Sendable () -> Void)
            /// Its queue has let it start.
            case admitted
        }

        /// The response that belongs to the bytes in the output.
        struct Held: Sendable {
            var head: ResponseHead
            /// The length of the whole body; nil while it is unknown.
            let length: UInt64?
            /// The validator with which the rest is requested; nil if the body can only be requested from its
            /// beginning.
            var validator: String?
        }

        var state = State.ready
        var isCancelled = false
        /// True if the outcome is decided; it is reported when the output is closed.
        var isEnding = false
        /// Counts the starts and the ends of stretches, by which a stretch knows that it is over. A stretch lasts from
        /// a start or resumption to the next pause or the end.
        var stretch = 0
        /// The work of the latest stretch, which first waits for that of the one before.
        var work: Task<Void, Never>?
        /// The session's task for the latest stretch.
        var task: SessionTask?
        var place = Place.alone
        var dependencies: [TransferOperation] = []
        var held: Held?
        /// The failure of the output, which a resumed operation reports.
        var outputFailure: SessionError?
        var progress = TaskProgress()
        var metrics = TaskMetrics()
        var outcome: Result<TaskResult, SessionError>?
        var completion: Completion?

        init(completion: Completion?) { self.completion = completion }

        var isReady: Bool {
            self.state == .ready && !self.isCancelled && self.dependencies.allSatisfy(\.finished.hasHappened)
        }

        /// Ends the stretch.
        ///
        /// - Returns: the session's task, which must be cancelled.
        mutating func endStretch() -> SessionTask? {
            self.stretch += 1
            defer { self.task = nil }
            return self.task
        }
    }
}
