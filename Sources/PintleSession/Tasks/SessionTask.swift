// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage
package import PintleSerialization
internal import PintleSystem

/// One task of a session: a request, the steps that get its response, and the response's destination.
///
/// A task is made suspended; ``resume()`` starts it. Cancel a task that was not resumed and is no longer wanted: the
/// session lists it until it has ended.
public final class SessionTask: Sendable, Identifiable {
    /// The kinds of task.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Its response is kept in memory, or streamed.
        case data
        /// Like data, with a body to send.
        case upload
        /// Its response is written to a file.
        case download
        /// Its response opens a ``WebSocket``; it runs as long as that is open.
        case webSocket
    }

    /// The mutable state of a task, under one lock.
    struct Status: Sendable {
        var kind: Kind
        fileprivate var state = TaskState.suspended
        /// True if the task was resumed before, or has ended.
        fileprivate var hasBegun = false
        var currentRequest: SessionRequest
        var response: ResponseHead?
        var responseVersion = ""
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
    private let status: Locked<Status>
    private let finished = Latch()
    private let progressUpdates = EventBroadcast<TaskProgress>(.bufferingNewest(1))
    private let states = EventBroadcast<TaskState>(.bufferingNewest(1))
    private let events: EventBroadcast<SessionEvent>
    private let run: TaskRun

    init(id: Int, kind: Kind, request: SessionRequest, events: EventBroadcast<SessionEvent>, run: TaskRun) {
        self.id = id
        self.originalRequest = request
        self.status = Locked(Status(kind: kind, currentRequest: request))
        self.events = events
        self.run = run
    }

    // MARK: Asking

    /// The kind of the task. A data task may become a download.
    public var kind: Kind { self.status.withLock { $0.kind } }
    /// The state of the task.
    public var state: TaskState { self.status.withLock { $0.state } }
    /// The current request: after a redirect it differs from the original one.
    public var currentRequest: SessionRequest { self.status.withLock { $0.currentRequest } }
    /// The head of the response that is the result; nil until it has arrived.
    public var response: ResponseHead? { self.status.withLock { $0.response } }
    /// The version of HTTP of that response: `1.0`, `1.1` or `2`; empty before, and if no transfer brought it.
    package var responseVersion: String { self.status.withLock { $0.responseVersion } }
    /// The number of bytes sent and received.
    public var progress: TaskProgress { self.status.withLock { $0.progress } }
    /// The metrics so far; complete when the task is over.
    public var metrics: TaskMetrics { self.status.withLock { $0.metrics } }
    /// The part that an incomplete download has left; ``Session/downloadTask(resuming:to:fields:accepting:)`` continues
    /// it.
    public var partialDownload: PartialDownload? { self.status.withLock { $0.partialDownload } }
    /// The reason why the task failed; nil while it runs, and if it succeeded.
    public var error: SessionError? {
        guard case .failure(let error) = self.status.withLock({ $0.outcome }) else { return nil }
        return error
    }

    /// A value that the program stores with the task, as an ``Interceptor`` does between the calls of its closures; nil
    /// if none is stored. A value that holds the task must be removed again, or neither is ever released.
    public subscript<Key: SessionTaskKey>(key: Key.Type) -> Key.Value? {
        get { self.status.withLock { $0.values[ObjectIdentifier(key)] as? Key.Value } }
        set {
            // Released outside of the lock: its deinit may ask the task.
            let old = self.status.withLock { status -> (any Sendable)? in
                defer { status.values[ObjectIdentifier(key)] = newValue }
                return status.values[ObjectIdentifier(key)]
            }
            withExtendedLifetime(old) {}
        }
    }

    /// The task's progress: the current one, then each change, and the last one. A slow reader misses steps, but never
    /// the last one.
    public var progressStream: AsyncStream<TaskProgress> {
        self.status.withLock { self.progressUpdates.subscribe(beginningWith: $0.progress) }
    }

    /// The current state, then each change; the stream ends with `completed`. A slow reader misses states, but never
    /// the last one.
    public var stateStream: AsyncStream<TaskState> {
        self.status.withLock { self.states.subscribe(beginningWith: $0.state) }
    }

    /// Waits for the end. Any number of callers may wait; cancelling a wait does not cancel the task. A task that was
    /// never resumed is resumed, as it would have no end; one that was suspended again stays suspended.
    ///
    /// - Throws: ``SessionError``, the reason why the task failed.
    public func value() async throws(SessionError) -> TaskResult {
        if !self.status.withLock({ $0.hasBegun }) { self.resume() }
        return try await self.end()
    }

    /// Waits for the end like ``value()``, but leaves it to others to resume the task.
    package func end() async throws(SessionError) -> TaskResult {
        await self.finished.wait()
        guard let outcome = self.status.withLock({ $0.outcome }) else {
            preconditionFailure("BUG: a task's waiter was woken before its end")
        }
        return try outcome.get()
    }

    /// Resumes the task and waits for its end; cancelling the Swift task that waits cancels it.
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

    /// Starts or continues the task. Does nothing unless it is suspended.
    public func resume() {
        guard self.move(to: .running, telling: .taskResumed(self)) else { return }
        self.run.follow(self)
    }

    /// Pauses the task: no byte is read or sent until ``resume()``, and time limits do not run. The connection stays
    /// open, but the server may close it. Does nothing unless the task is running.
    public func suspend() {
        guard self.move(to: .suspended, telling: .taskSuspended(self)) else { return }
        self.run.follow(self)
    }

    /// Ends the task as `cancelled`. Does nothing if it has ended.
    public func cancel() {
        guard self.move(to: .cancelling) else { return }
        self.run.cancel(self, keepingPart: false)
    }

    /// Ends a download like ``cancel()``, but keeps the bytes that have arrived.
    ///
    /// - Returns: the part with which a later task continues; nil for other kinds, for a download that had ended, and
    ///   if the server sent no validator by which a changed file could be noticed.
    public func cancelKeepingPart() async -> PartialDownload? {
        if self.move(to: .cancelling) { self.run.cancel(self, keepingPart: true) }
        _ = try? await self.end()
        return self.partialDownload
    }

    // MARK: For the run

    /// Posts events under the lock, so that they come in the order of the changes.
    private func move(to next: TaskState, telling event: SessionEvent? = nil) -> Bool {
        self.status.withLock { status in
            guard status.state.move(to: next) else { return false }
            status.hasBegun = true
            self.states.post(next)
            if let event { self.events.post(event) }
            return true
        }
    }

    /// Changes the task's public properties, except its state and its end.
    func update(_ change: (inout Status) -> Void) { self.status.withLock { change(&$0) } }

    /// Changes the progress and notifies the readers of the stream.
    @discardableResult
    func progress(_ change: (inout TaskProgress) -> Void) -> TaskProgress {
        let progress = self.status.withLock { status in
            change(&status.progress)
            return status.progress
        }
        self.progressUpdates.post(progress)
        return progress
    }

    func finish(_ outcome: Result<TaskResult, SessionError>) {
        self.status.withLock { status in
            if status.state.move(to: .completed) { self.states.post(.completed) }
            status.outcome = outcome
        }
        self.states.finish()
        self.progressUpdates.finish()
        self.finished.happen()
    }
}

/// The result of a task that succeeded.
public struct TaskResult: Sendable {
    /// The head of the response.
    public let response: ResponseHead
    /// The URL that answered, after redirects.
    public let url: HTTPURL
    /// The body; empty if it was streamed or written to a file.
    public let body: ByteBuffer
    /// The path of the downloaded file; nil for other tasks, and if a 304 (Not Modified) brought nothing to write.
    public let file: String?
    /// The metrics of the task.
    public let metrics: TaskMetrics
    /// The content codings that were removed, in the order in which they were applied; empty if the body is as it was
    /// sent.
    public internal(set) var contentCodings: [String] = []

    /// Makes a result, for tests.
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

    /// The body as text in UTF-8; invalid bytes become the replacement character.
    public var text: String { String(buffer: self.body) }

    /// Decodes the response with a serializer.
    ///
    /// - Parameter method: the method of the request.
    /// - Throws: ``SessionError`` with `rejected`, with the response and its violation in `underlying`.
    package func decoded<Value>(
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
