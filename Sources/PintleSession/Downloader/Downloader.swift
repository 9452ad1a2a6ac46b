// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import PintleMessage
internal import PintleSystem

/// Brings values that are asked for often, by many and at once, such as pictures: equal requests are one transfer, so
/// many run at a time, and what was there before comes from a cache (AFNetworking's image downloader, for values of
/// any type).
///
///     let pictures = Downloader(client, as: ImageResponseSerializer(decoder: try ImageDecoder()).required())
///     let picture = try await pictures.value(for: "ada.png")
///
/// Requests are equal when the origin could not tell them apart: method, URL and fields are the same, whatever the
/// order of the names. Those whose method may change something are never merged. A downloader lives as long as its
/// transfers: letting go of it ends none of them.
public final class Downloader<Value: Sendable>: Sendable {
    /// A value, and how it came.
    public struct Answer: Sendable {
        /// The value that the serializer made of the response.
        public let value: Value
        /// The response; nil where the cache had the value. All who waited for one transfer have the same.
        public let response: HTTPResponse<Value>?
    }

    /// Told once how asking went, on any thread. It must not block.
    public typealias Completion = @Sendable (Result<Answer, SessionError>) -> Void

    private typealias Table = DownloadTable<DownloadKey, HTTPTask<Value>, Completion>

    /// The session that carries the requests.
    public let client: HTTPSession
    /// Where values are kept; nil for nowhere.
    public let cache: (any DownloadCache<Value>)?
    /// The most transfers that run at a time.
    public let limit: Int
    /// The order in which transfers that wait are started.
    public let order: TransferQueue.Order
    private let serializer: any ResponseSerializer<Value>
    private let table: Locked<Table>

    /// Makes a downloader.
    ///
    /// - Parameters:
    ///   - client: whose session, interceptors and, for URLs that are texts, base and default fields are used.
    ///   - serializer: judges responses and makes values of them, off the caller's thread.
    ///   - cache: where values are kept; nil for nowhere.
    ///   - limit: the most transfers that run at a time, at least 1. Default 4.
    ///   - order: which of those that wait is next. Default the one that was asked for first.
    public init(
        _ client: HTTPSession, as serializer: some ResponseSerializer<Value>,
        cache: (any DownloadCache<Value>)? = nil, limit: Int = 4, order: TransferQueue.Order = .firstInFirstOut
    ) {
        self.client = client
        self.serializer = serializer
        self.cache = cache
        self.limit = limit
        self.order = order
        self.table = Locked(Table(limit: limit, order: order))
    }

    /// The number of transfers that run.
    public var runningCount: Int { self.table.withLock { $0.startedCount } }
    /// The number of transfers that wait for their turn.
    public var waitingCount: Int { self.table.withLock { $0.waitingCount } }

    // MARK: Waiting for a value

    /// Brings what GET of a URL gives. Cancelling the Swift task that waits cancels its receipt alone.
    ///
    /// - Parameters:
    ///   - url: resolved against the client's base.
    ///   - shape: has the last word about the request.
    /// - Throws: ``SessionError`` as ``answer(for:)`` does; with `invalidURL` or `invalidRequest` where there is no
    ///   request.
    public func value(
        for url: String, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> Value {
        try await self.answer(for: self.client.request(url, shape)).value
    }

    /// Brings the value of a request, which is sent as it is.
    ///
    /// - Throws: ``SessionError`` as ``answer(for:)`` does.
    public func value(for request: SessionRequest) async throws(SessionError) -> Value {
        try await self.answer(for: request).value
    }

    /// Brings what GET of a URL gives, with its response.
    ///
    /// - Throws: ``SessionError`` as ``answer(for:)`` does; with `invalidURL` or `invalidRequest` where there is no
    ///   request.
    public func answer(
        for url: String, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> Answer {
        try await self.answer(for: self.client.request(url, shape))
    }

    /// Brings the value of a request, with its response.
    ///
    /// - Throws: ``SessionError``: why there is no response, or `rejected` for one that the serializer refuses,
    ///   behind which it is as ``RejectedResponse``; `cancelled` for who was cancelled, while others may still get
    ///   the value.
    public func answer(for request: SessionRequest) async throws(SessionError) -> Answer {
        try Session.checkCancellation()
        let waiting = Locked(Waiting())
        await withTaskCancellationHandler {
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                let receipt = self.download(request) { result in
                    // Through the lock and not the continuation, whose ordering ThreadSanitizer cannot see.
                    waiting.withLock { $0.result = result }
                    done.resume()
                }
                let isCancelled = waiting.withLock { waiting in
                    waiting.receipt = receipt
                    return waiting.isCancelled
                }
                if isCancelled, let receipt { self.cancel(receipt) }
            }
        } onCancel: {
            let receipt = waiting.withLock { waiting in
                waiting.isCancelled = true
                return waiting.receipt
            }
            if let receipt { self.cancel(receipt) }
        }
        guard let result = waiting.withLock({ $0.result }) else {
            preconditionFailure("BUG: who waits for a download was woken before its end")
        }
        return try result.get()
    }

    /// One who waits, and may be cancelled before there is a receipt.
    private struct Waiting: Sendable {
        var result: Result<Answer, SessionError>?
        var receipt: DownloadReceipt?
        var isCancelled = false
    }

    // MARK: Receipts

    /// Asks for what GET of a URL gives, as ``download(_:id:completion:)`` does.
    ///
    /// - Parameters:
    ///   - url: resolved against the client's base. One that is none is an `invalidURL` for `completion`.
    ///   - shape: has the last word about the request.
    @discardableResult
    public func download(
        _ url: String, id: UUID = UUID(), shaping shape: HTTPSession.Shaping = { _ in },
        completion: @escaping Completion
    ) -> DownloadReceipt? {
        do throws(SessionError) {
            return self.download(try self.client.request(url, shape), id: id, completion: completion)
        } catch {
            completion(.failure(error))
            return nil
        }
    }

    /// Asks for the value of a request, which is sent as it is, unless an equal one is under way or the cache has the
    /// value.
    ///
    /// The cache is asked for GET with every policy but ``CachePolicy/ignoreLocal``, and offered what GET brings.
    /// An equal transfer under way is joined whatever the policy is, unless the session has a cache of its own.
    ///
    /// - Parameters:
    ///   - id: the receipt's.
    ///   - completion: told once: before this returns where there is no transfer; then in the order of asking among
    ///     those who wait for the same transfer.
    /// - Returns: what cancels this call alone; nil where there is nothing to cancel, as `completion` was told.
    @discardableResult
    public func download(
        _ request: SessionRequest, id: UUID = UUID(), completion: @escaping Completion
    ) -> DownloadReceipt? {
        let key = DownloadKey(request, with: self.client.session.configuration)
        if let key, let joined = self.table.withLock({ $0.join(key, completion) }) {
            return DownloadReceipt(id: id, task: joined.work.task, place: joined.place)
        }
        if let value = self.cached(request) {
            completion(.success(Answer(value: value, response: nil)))
            return nil
        }
        let work: HTTPTask<Value>
        do throws(SessionError) {
            work = try self.client.task(for: request, as: self.serializer)
        } catch {
            completion(.failure(error))
            return nil
        }
        let admission = self.table.withLock { $0.add(work, for: key, completion) }
        if admission.hasJoined {
            // An equal request came first, from another thread, so this task is never resumed. It was made outside of
            // the lock, as interceptors are told of it.
            work.task.cancel()
        } else {
            self.follow(work, admission.place.transfer)
            if admission.starts { work.task.resume() }
        }
        return DownloadReceipt(id: id, task: admission.work.task, place: admission.place)
    }

    /// Ends the waiting of one who has asked: its completion is told `cancelled`. The transfer ends with the last one.
    /// Nothing happens where the completion was told already.
    public func cancel(_ receipt: DownloadReceipt) {
        let cancellation = self.table.withLock { table -> Table.Cancellation in
            // A receipt of another downloader may have the same numbers.
            guard table.work(at: receipt.place)?.task === receipt.task else { return .nobody }
            return table.cancel(receipt.place)
        }
        let completion: Completion
        switch cancellation {
        case .nobody: return
        case .left(let handler): completion = handler
        case .abandoned(let handler, let work):
            work.task.cancel()
            completion = handler
        }
        let request = receipt.task.originalRequest
        completion(
            .failure(SessionError(.cancelled, "the download of \(request.url.authority) was cancelled by its receipt")))
    }

    // MARK: Transfers

    /// Waits for the end of a transfer from its making on: one that waits for its turn can end, too, by its task.
    private func follow(_ work: HTTPTask<Value>, _ transfer: Int) {
        Task {
            let result = await Result { () async throws(SessionError) -> HTTPResponse<Value> in try await work.end() }
            self.ended(transfer, work.task.originalRequest, result)
        }
    }

    private func ended(
        _ transfer: Int, _ request: SessionRequest, _ result: Result<HTTPResponse<Value>, SessionError>
    ) {
        // Kept before the transfer is off the table: who asks in between joins it.
        if case .success(let response) = result, self.table.withLock({ $0.isWanted(transfer) }) {
            self.keep(response.value, request)
        }
        let (completions, starting) = self.table.withLock { $0.ended(transfer) }
        for work in starting { work.task.resume() }
        let answer = result.map { Answer(value: $0.value, response: $0) }
        for completion in completions { completion(answer) }
    }

    // MARK: The cache

    private func cached(_ request: SessionRequest) -> Value? {
        let policy = request.cachePolicy ?? self.client.session.configuration.cachePolicy
        guard request.method == "GET", policy != .ignoreLocal else { return nil }
        return self.cache?.value(for: request)
    }

    private func keep(_ value: Value, _ request: SessionRequest) {
        guard request.method == "GET", let cache, cache.shouldCache(value, for: request) else { return }
        cache.add(value, for: request)
    }
}
