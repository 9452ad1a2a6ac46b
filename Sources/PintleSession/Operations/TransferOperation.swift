// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
public import PintleMessage
internal import PintleSystem

/// One request that can be started, paused and taken up again, by itself or in a ``TransferQueue``.
///
/// A pause gives the connection up and keeps what has arrived; the rest is asked for when the operation is resumed
/// (Range with If-Range, RFC 9110 §13.1.5 and §14.2). Where the server cannot continue, or has something else now, the
/// body begins again at zero. Redirects, challenges and trust are the session's: its hooks are asked. Its cache is not:
/// bodies stream, and may come in parts.
///
/// An operation that is paused and no longer wanted must be cancelled, so that who waits for it hears of its end.
public final class TransferOperation: Sendable {
    /// Where the body of the response goes, whatever its status.
    public enum Output: Sendable {
        /// It is kept, up to ``SessionConfiguration/bodyLimit``.
        case memory
        /// It is appended to a file, which is made where it is missing.
        case file(path: String)
        /// It is given to the caller.
        case sink(any BodySink)
    }

    /// Called once, when the operation has finished.
    public typealias Completion = @Sendable (TransferOperation) async -> Void

    /// What was given; ranges are added as they are needed.
    public let request: SessionRequest
    /// The body of the request. After a pause it is sent again.
    public let source: UploadSource?
    /// Where the body of the response goes.
    public let output: Output
    /// Whose connections and hooks are used.
    public let session: Session
    let interception: Interception?
    let sink: any BodySink
    let status: NIOLockedValueBox<Status>
    let finished = OneTimeEvent()
    /// After the completion.
    let settled = OneTimeEvent()
    private let states = EventBroadcast<State>(.bufferingNewest(256))
    private let progressUpdates = EventBroadcast<TaskProgress>(.bufferingNewest(1))

    /// Makes an operation that is ready.
    ///
    /// - Parameter completion: called when the operation has finished; it is let go afterwards.
    public convenience init(
        _ request: SessionRequest, in session: Session, from source: UploadSource? = nil, to output: Output = .memory,
        completion: Completion? = nil
    ) {
        self.init(request, in: session, from: source, to: output, interception: nil, completion: completion)
    }

    init(
        _ request: SessionRequest, in session: Session, from source: UploadSource?, to output: Output,
        interception: Interception?, completion: Completion?
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
        self.status = NIOLockedValueBox(Status(completion: completion))
    }

    deinit {
        self.states.finish()
        self.progressUpdates.finish()
    }

    // MARK: Asking

    /// Where the operation stands.
    public var state: State { self.status.withLockedValue { $0.state } }
    /// The state as it is now, then each that follows. The stream ends with `finished`.
    public var stateStream: AsyncStream<State> {
        self.status.withLockedValue { self.states.subscribe(beginningWith: $0.state) }
    }
    /// Whether ``cancel()`` has put an end to the operation.
    public var isCancelled: Bool { self.status.withLockedValue { $0.isCancelled } }
    /// Whether it could be started now: it is `ready`, not cancelled, and its dependencies have finished.
    public var isReady: Bool { self.status.withLockedValue { $0.isReady } }
    /// The head of the latest response that counts; nil until there is one.
    public var response: ResponseHead? { self.status.withLockedValue { $0.held?.head } }
    /// How many bytes have moved. What was received before a pause stays counted while the output has it.
    public var progress: TaskProgress { self.status.withLockedValue { $0.progress } }
    /// The progress as it is now, then whenever it has changed. A reader that is slow misses steps, never the last one.
    public var progressStream: AsyncStream<TaskProgress> {
        self.status.withLockedValue { self.progressUpdates.subscribe(beginningWith: $0.progress) }
    }
    /// Why the operation failed; nil while it is not finished, and when it ended well.
    public var error: SessionError? {
        guard case .failure(let error) = self.status.withLockedValue({ $0.outcome }) else { return nil }
        return error
    }

    // MARK: Steering

    /// Sets the operation going. Nothing happens unless it is ready; one that is in a queue is started by that.
    public func start() {
        self.status.withLockedValue { status in
            guard case .alone = status.place else { return }
            self.startIfReady(&status)
        }
    }

    /// Stops the operation until ``resume()``, and gives its connection up. A piece of the body that is being written
    /// is still written. In a queue the operation keeps its place. Nothing happens to one that is paused, cancelled or
    /// finished.
    public func pause() {
        let task = self.status.withLockedValue { status -> SessionTask? in
            guard !status.isCancelled, !status.isEnding, self.move(&status, to: .paused) else { return nil }
            return status.endStretch()
        }
        task?.cancel()
    }

    /// Makes a paused operation ready and starts it, as soon as its queue, if it is in one, lets it. Nothing happens
    /// unless it is paused.
    public func resume() {
        let ask = self.status.withLockedValue { status -> (@Sendable () -> Void)? in
            guard !status.isCancelled, self.move(&status, to: .ready) else { return nil }
            if case .waiting(let ask) = status.place { return ask }
            self.startIfReady(&status)
            return nil
        }
        ask?()
    }

    /// Ends the operation as `cancelled`, whatever its state. Nothing happens when it has ended.
    public func cancel() {
        let task = self.status.withLockedValue { status -> SessionTask? in
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

    func startIfReady(_ status: inout Status) {
        guard status.isReady, self.move(&status, to: .executing) else { return }
        status.stretch += 1
        let (earlier, stretch) = (status.work, status.stretch)
        status.work = Task {
            await earlier?.value
            await self.carryOut(stretch)
        }
    }

    /// Told within the lock, so that everybody hears of the changes in their order; no code of theirs runs here.
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

    /// Changes the progress and tells who wants to know.
    func progress(_ change: (inout TaskProgress) -> Void) {
        self.status.withLockedValue { status in
            change(&status.progress)
            self.progressUpdates.post(status.progress)
        }
    }

    /// Closes the output and tells everybody.
    func finish(_ outcome: Result<TaskResult, SessionError>) async {
        var outcome = outcome
        do {
            try await self.sink.close()
        } catch {
            if case .success = outcome { outcome = .failure(self.outputFailure(error)) }
        }
        self.status.withLockedValue { status in
            status.outcome = outcome
            _ = self.move(&status, to: .finished)
            (status.work, status.dependencies, status.place) = (nil, [], .alone)
        }
        self.states.finish()
        self.progressUpdates.finish()
        self.finished.happen()
        await self.complete()
        self.settled.happen()
    }

    /// A function of its own, so that the completion is let go before anybody hears that it has returned.
    private func complete() async {
        let completion = self.status.withLockedValue { status in
            defer { status.completion = nil }
            return status.completion
        }
        await completion?(self)
    }
}

extension TransferOperation {
    /// What an operation has to say about itself, in one piece.
    struct Status: Sendable {
        /// Who may start the operation.
        enum Place: Sendable {
            /// Anybody: it is in no queue.
            case alone
            /// Its queue, which `ask` makes look again.
            case waiting(ask: @Sendable () -> Void)
            /// Its queue has let it go ahead.
            case admitted
        }

        /// The response whose body the output has.
        struct Held: Sendable {
            var head: ResponseHead
            /// The length of the whole body; nil while it is unknown.
            let length: UInt64?
            /// By what the rest is asked for; nil where it can only be had with the beginning.
            var validator: String?
        }

        var state = State.ready
        var isCancelled = false
        /// The outcome is decided; it is told when the output is closed.
        var isEnding = false
        /// Counts the stretches, each from a start or resumption to the next pause or the end, and the ends of those.
        var stretch = 0
        /// The work on the latest stretch, which waits for that on the one before.
        var work: Task<Void, Never>?
        /// What the session does for the latest stretch.
        var task: SessionTask?
        var place = Place.alone
        var dependencies: [TransferOperation] = []
        var held: Held?
        /// What went wrong with the output after a pause.
        var outputFailure: SessionError?
        var progress = TaskProgress()
        var metrics = TaskMetrics()
        var outcome: Result<TaskResult, SessionError>?
        var completion: Completion?

        init(completion: Completion?) { self.completion = completion }

        var isReady: Bool {
            self.state == .ready && !self.isCancelled && self.dependencies.allSatisfy(\.finished.hasHappened)
        }

        /// - Returns: the session's task, which is to be cancelled.
        mutating func endStretch() -> SessionTask? {
            self.stretch += 1
            defer { self.task = nil }
            return self.task
        }
    }
}
