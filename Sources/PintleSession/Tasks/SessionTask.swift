// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
public import NIOCore
public import PintleMessage
internal import PintleSystem

/// One piece of a session's work: a request, what it takes to get its response, and where that goes.
///
/// A task is made suspended; ``resume()`` sets it going. A task that was not resumed and is no longer wanted must be
/// cancelled: the session lists it until it has ended.
public final class SessionTask: Sendable, Identifiable {
    /// The kinds of task.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Its response is kept in memory, or streamed.
        case data
        /// As data, with a body to send.
        case upload
        /// Its response is written to a file.
        case download
        /// Its response opens a ``WebSocket``; it is under way as long as that is open.
        case webSocket
    }

    /// What a task has to say about itself, in one piece.
    struct Status: Sendable {
        var kind: Kind
        fileprivate var state = TaskState.suspended
        /// True where the task was resumed before, or has ended.
        fileprivate var hasBegun = false
        var currentRequest: SessionRequest
        var response: ResponseHead?
        fileprivate var progress = TaskProgress()
        var metrics = TaskMetrics()
        var partialDownload: PartialDownload?
        fileprivate var values: [ObjectIdentifier: any Sendable] = [:]
        fileprivate var outcome: Result<TaskResult, SessionError>?
    }

    /// Unique among the tasks of a session, counted from 1.
    public let id: Int
    /// The request that the task was made for.
    public let originalRequest: SessionRequest
    private let status: NIOLockedValueBox<Status>
    private let finished = OneTimeEvent()
    private let progressUpdates = EventBroadcast<TaskProgress>(.bufferingNewest(1))
    private let states = EventBroadcast<TaskState>(.bufferingNewest(1))
    private let events: EventBroadcast<SessionEvent>
    private let run: TaskRun

    init(id: Int, kind: Kind, request: SessionRequest, events: EventBroadcast<SessionEvent>, run: TaskRun) {
        self.id = id
        self.originalRequest = request
        self.status = NIOLockedValueBox(Status(kind: kind, currentRequest: request))
        self.events = events
        self.run = run
    }

    // MARK: Asking

    /// A data task may become a download on the way.
    public var kind: Kind { self.status.withLockedValue { $0.kind } }
    /// Where the task stands.
    public var state: TaskState { self.status.withLockedValue { $0.state } }
    /// The request that is under way: after redirects it is not the original one.
    public var currentRequest: SessionRequest { self.status.withLockedValue { $0.currentRequest } }
    /// The head of the response, once the one that is the result has arrived.
    public var response: ResponseHead? { self.status.withLockedValue { $0.response } }
    /// How many bytes have moved.
    public var progress: TaskProgress { self.status.withLockedValue { $0.progress } }
    /// How the task went so far; complete when it is over.
    public var metrics: TaskMetrics { self.status.withLockedValue { $0.metrics } }
    /// What a download that ended early has left, to be taken up by ``Session/downloadTask(resuming:to:fields:accepting:)``.
    public var partialDownload: PartialDownload? { self.status.withLockedValue { $0.partialDownload } }
    /// Why the task failed; nil while it runs and when it ended well.
    public var error: SessionError? {
        guard case .failure(let error) = self.status.withLockedValue({ $0.outcome }) else { return nil }
        return error
    }

    /// A value that the program keeps with the task, as an ``Interceptor`` does between the calls of its closures; nil where
    /// it keeps none. One that holds the task has to be taken away again, or neither ever goes.
    public subscript<Key: SessionTaskKey>(key: Key.Type) -> Key.Value? {
        get { self.status.withLockedValue { $0.values[ObjectIdentifier(key)] as? Key.Value } }
        set { self.status.withLockedValue { $0.values[ObjectIdentifier(key)] = newValue } }
    }

    /// The task's progress: as it is now, then whenever it has changed, then its end. A reader that is slow misses
    /// steps, never the last one.
    public var progressStream: AsyncStream<TaskProgress> {
        self.status.withLockedValue { self.progressUpdates.subscribe(beginningWith: $0.progress) }
    }

    /// The state as it is now, then whenever it has changed; the stream ends with `completed`. A reader that is slow misses
    /// states, never the last one.
    public var stateStream: AsyncStream<TaskState> {
        self.status.withLockedValue { self.states.subscribe(beginningWith: $0.state) }
    }

    /// Waits for the end. Any number of callers may wait; ending the wait does not end the task. One that was never resumed
    /// is set going, or there would be no end; one that is suspended again is waited for.
    ///
    /// - Throws: ``SessionError``, why the task failed.
    public func value() async throws(SessionError) -> TaskResult {
        if !self.status.withLockedValue({ $0.hasBegun }) { self.resume() }
        return try await self.end()
    }

    /// Waits for the end as ``value()`` does, and leaves it to others to set the task going.
    func end() async throws(SessionError) -> TaskResult {
        await self.finished.wait()
        guard let outcome = self.status.withLockedValue({ $0.outcome }) else {
            preconditionFailure("BUG: a task's waiter was woken before its end")
        }
        return try outcome.get()
    }

    /// Sets the task going and waits for its end; cancelling the Swift task that waits cancels it.
    func run() async throws(SessionError) -> TaskResult {
        if Task.isCancelled { self.cancel() }
        self.resume()
        let result = await withTaskCancellationHandler {
            await Result { () async throws(SessionError) -> TaskResult in try await self.value() }
        } onCancel: {
            self.cancel()
        }
        return try result.get()
    }

    // MARK: Steering

    /// Sets the task going, or lets it go on. Nothing happens unless it is suspended.
    public func resume() {
        guard self.move(to: .running, telling: .taskResumed(self)) else { return }
        self.run.follow(self)
    }

    /// Stops the task where it is: no byte is read or sent until ``resume()``, and time does not count. The connection
    /// stays open, so a server may lose patience. Nothing happens unless the task is running.
    public func suspend() {
        guard self.move(to: .suspended, telling: .taskSuspended(self)) else { return }
        self.run.follow(self)
    }

    /// Ends the task as `cancelled`. Nothing happens when it has ended.
    public func cancel() {
        guard self.move(to: .cancelling) else { return }
        self.run.cancel(self, keepingPart: false)
    }

    /// Ends a download as ``cancel()`` does, but keeps what has arrived.
    ///
    /// - Returns: what a later task needs to go on; nil for other kinds, for a download that had ended, and where the
    ///   server gave nothing by which a changed file could be noticed.
    public func cancelKeepingPart() async -> PartialDownload? {
        if self.move(to: .cancelling) { self.run.cancel(self, keepingPart: true) }
        _ = try? await self.end()
        return self.partialDownload
    }

    // MARK: For the run

    /// Told while the state is held, so that events come in the order of what they tell of.
    private func move(to next: TaskState, telling event: SessionEvent? = nil) -> Bool {
        self.status.withLockedValue { status in
            guard status.state.move(to: next) else { return false }
            status.hasBegun = true
            self.states.post(next)
            if let event { self.events.post(event) }
            return true
        }
    }

    /// Changes what the task says about itself, but for its state and its end.
    func update(_ change: (inout Status) -> Void) { self.status.withLockedValue { change(&$0) } }

    /// Changes the progress and tells who wants to know.
    @discardableResult
    func progress(_ change: (inout TaskProgress) -> Void) -> TaskProgress {
        let progress = self.status.withLockedValue { status in
            change(&status.progress)
            return status.progress
        }
        self.progressUpdates.post(progress)
        return progress
    }

    func finish(_ outcome: Result<TaskResult, SessionError>) {
        self.status.withLockedValue { status in
            if status.state.move(to: .completed) { self.states.post(.completed) }
            status.outcome = outcome
        }
        self.states.finish()
        self.progressUpdates.finish()
        self.finished.happen()
    }
}

/// What a task that ended well has brought.
public struct TaskResult: Sendable {
    /// The head of the response.
    public let response: ResponseHead
    /// The URL that it came from, after redirects.
    public let url: HTTPURL
    /// The body; empty where it was streamed or written to a file.
    public let body: ByteBuffer
    /// Where a download was written to; nil for other tasks, and where a 304 (Not Modified) brought nothing to write.
    public let file: String?
    /// How it went.
    public let metrics: TaskMetrics
    /// The content codings that were undone, in the order in which they were applied; empty where the body is as it was
    /// sent.
    public internal(set) var contentCodings: [String] = []

    /// Makes a result, as tests do.
    public init(
        response: ResponseHead, url: HTTPURL, body: ByteBuffer = ByteBuffer(), file: String? = nil,
        metrics: TaskMetrics = TaskMetrics(), contentCodings: [String] = []
    ) {
        self.response = response
        self.url = url
        self.body = body
        self.file = file
        self.metrics = metrics
        self.contentCodings = contentCodings
    }

    /// The body as text in UTF-8; what is none becomes the replacement character.
    public var text: String { String(buffer: self.body) }

    /// What a serializer makes of the response.
    ///
    /// - Parameter method: the request's.
    /// - Throws: ``SessionError`` with `rejected`, behind which are the response and its violation.
    func decoded<Value>(
        by serializer: some ResponseSerializer<Value>, answering method: String
    ) throws(SessionError) -> Value {
        let body = Array(self.body.readableBytesView)
        do throws(ValidationError) {
            return try serializer.decode(self.response, body: body, requestMethod: method)
        } catch {
            throw .rejected(RejectedResponse(head: self.response, body: body, violation: error))
        }
    }
}
