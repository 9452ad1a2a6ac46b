// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
internal import PintleMessage
public import PintleSerialization
public import PintleSession
internal import PintleSystem

/// Loads values that are requested often and by many callers at once, such as pictures. Equal requests share one
/// transfer, a limited number of transfers run at a time, and earlier values come from a cache (AFNetworking's image
/// downloader, for values of any type).
///
///     let pictures = Downloader(client, as: ImageResponseSerializer(decoder: try ImageDecoder()).required())
///     let picture = try await pictures.value(for: "ada.png")
///
/// Requests are equal if the origin could not tell them apart: method, URL and fields are equal, whatever the order of
/// the field names. Requests whose method may change something are never merged. A downloader lives as long as its
/// transfers: releasing it ends none of them.
public final class Downloader<Value: Sendable>: Sendable {
    /// A value, and the response that brought it.
    public struct Answer: Sendable {
        /// The value that the serializer made of the response.
        public let value: Value
        /// The response; nil if the value came from the cache. All callers that share a transfer get the same response.
        public let response: HTTPResponse<Value>?
    }

    /// Called once with the outcome, on any thread. It must not block.
    public typealias Completion = @Sendable (Result<Answer, SessionError>) -> Void

    private typealias Table = DownloadTable<DownloadKey, HTTPTask<Value>, Completion>

    /// The session that sends the requests.
    public let client: HTTPSession
    /// The store of values; nil for none.
    public let cache: (any DownloadCache<Value>)?
    /// The highest number of transfers that run at a time.
    public let limit: Int
    /// The order in which waiting transfers are started.
    public let order: TransferQueue.Order
    private let serializer: any ResponseSerializer<Value>
    private let table: Locked<Table>

    /// Makes a downloader.
    ///
    /// - Parameters:
    ///   - client: its session, its interceptors and, for URLs given as text, its base and default fields are used.
    ///   - serializer: checks responses and makes values of them, off the caller's thread.
    ///   - cache: the store of values; nil for none.
    ///   - limit: the highest number of transfers that run at a time, at least 1. Default 4.
    ///   - order: the order in which waiting transfers are started. Default first in, first out.
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

    /// Loads the value of a URL with GET. Cancelling the Swift task that waits cancels only its own receipt.
    ///
    /// - Parameters:
    ///   - url: resolved against the client's base.
    ///   - shape: changes the request last, before it is sent.
    /// - Throws: `SessionError` as ``answer(for:)`` does; with `invalidURL` or `invalidRequest` if no request can be
    ///   made.
    public func value(
        for url: String, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> Value {
        try await self.answer(for: self.client.request(url, shape)).value
    }

    /// Loads the value of a request, which is sent as it is.
    ///
    /// - Throws: `SessionError` as ``answer(for:)`` does.
    public func value(for request: SessionRequest) async throws(SessionError) -> Value {
        try await self.answer(for: request).value
    }

    /// Loads the value of a URL with GET, with its response.
    ///
    /// - Throws: `SessionError` as ``answer(for:)`` does; with `invalidURL` or `invalidRequest` if no request can be
    ///   made.
    public func answer(
        for url: String, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> Answer {
        try await self.answer(for: self.client.request(url, shape))
    }

    /// Loads the value of a request, with its response.
    ///
    /// - Throws: `SessionError`: the reason why there is no response; `rejected` for a response that the serializer
    ///   refuses, with a `RejectedResponse` as `underlying`; `cancelled` if this call was cancelled, while others may
    ///   still get the value.
    public func answer(for request: SessionRequest) async throws(SessionError) -> Answer {
        try Session.checkCancellation()
        let waiting = Locked(Waiting())
        await withTaskCancellationHandler {
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                let receipt = self.download(request) { result in
                    // Passed under the lock, not by the continuation: ThreadSanitizer cannot see the ordering of that
                    // one.
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

    /// A waiting call, which may be cancelled before it has a receipt.
    private struct Waiting: Sendable {
        var result: Result<Answer, SessionError>?
        var receipt: DownloadReceipt?
        var isCancelled = false
    }

    // MARK: Receipts

    /// Loads the value of a URL with GET, like ``download(_:id:completion:)``.
    ///
    /// - Parameters:
    ///   - url: resolved against the client's base. If it is invalid, `completion` is called with `invalidURL`.
    ///   - shape: changes the request last, before it is sent.
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

    /// Loads the value of a request, which is sent as it is, unless an equal request is under way or the cache has the
    /// value.
    ///
    /// The cache is used with GET, for lookups under every policy but `CachePolicy.ignoreLocal`, and for storing. An
    /// equal transfer under way is joined whatever the policy is, unless the session has a cache of its own.
    ///
    /// - Parameters:
    ///   - id: the identifier of the receipt.
    ///   - completion: called once. If no transfer is needed, it is called before this returns; otherwise in the order of
    ///     the calls that wait for the same transfer.
    /// - Returns: a receipt that cancels this call alone; nil if `completion` has been called already.
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
            // Another thread made an equal request first, so this task is never resumed. It was made outside of the
            // lock because interceptors are notified of it.
            work.task.cancel()
        } else {
            self.follow(work, admission.place.transfer)
            if admission.starts { work.task.resume() }
        }
        return DownloadReceipt(id: id, task: admission.work.task, place: admission.place)
    }

    /// Cancels one call: its completion is called with `cancelled`. The transfer ends with its last call. Does nothing
    /// if the completion was called already.
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

    /// Waits for the end of a transfer from the time it is made: cancelling its task also ends one that waits for its
    /// turn.
    private func follow(_ work: HTTPTask<Value>, _ transfer: Int) {
        Task {
            let result = await Result { () async throws(SessionError) -> HTTPResponse<Value> in try await work.end() }
            self.ended(transfer, work.task.originalRequest, result)
        }
    }

    private func ended(
        _ transfer: Int, _ request: SessionRequest, _ result: Result<HTTPResponse<Value>, SessionError>
    ) {
        // Cached before the transfer leaves the table: a call that comes in between joins it.
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
        // The cache of values has those of GETs, and wants some of them.
        guard request.method == "GET", let cache, cache.shouldCache(value, for: request) else { return }
        cache.add(value, for: request)
    }
}
