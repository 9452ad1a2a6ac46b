// SPDX-License-Identifier: Apache-2.0

public import PintleMessage
public import PintleSerialization
internal import PintleSystem

/// Tasks that the program steers: each is suspended until it is resumed, and the session lists it until it has ended.
extension Session {
    /// Makes a task whose response is kept in memory, up to ``SessionConfiguration/bodyLimit``.
    ///
    /// - Throws: ``SessionError`` with `invalidated` when the session takes no more tasks.
    public func dataTask(_ request: SessionRequest) throws(SessionError) -> SessionTask {
        try self.makeTask(.data, request, output: .memory)
    }

    /// Makes a task that sends a body and keeps the response in memory.
    ///
    /// - Parameter source: the body; if nil, the hook ``SessionHooks/needsBody`` is asked for it.
    /// - Throws: ``SessionError`` with `invalidated` when the session takes no more tasks. A source that cannot be read
    ///   fails the task.
    public func uploadTask(_ request: SessionRequest, from source: UploadSource?) throws(SessionError) -> SessionTask {
        try self.makeTask(.upload, request, source: source, output: .memory)
    }

    /// Makes a task that writes the response to a file, and sends a body if one is given.
    ///
    /// The response must satisfy `contract`, by default any status of 200…299, so that the text of an error never takes
    /// the place of the file.
    ///
    /// - Throws: ``SessionError`` with `invalidated` when the session takes no more tasks. A destination that cannot be
    ///   written fails the task.
    public func downloadTask(
        _ request: SessionRequest, from source: UploadSource? = nil, to destination: DownloadDestination,
        accepting contract: ResponseContract = .init()
    ) throws(SessionError) -> SessionTask {
        try self.makeTask(.download, request, source: source, output: .file(destination, contract, resuming: nil))
    }

    /// Makes a task that continues a download which ended early.
    ///
    /// - Parameter fields: fields of the request, such as Authorization. A partial download stores none, as it may lie
    ///   on disk for a long time.
    /// - Throws: ``SessionError`` with `invalidURL` or `invalidated`. A file that is gone or was changed fails the task.
    public func downloadTask(
        resuming part: PartialDownload, to destination: DownloadDestination, fields: Fields = Fields(),
        accepting contract: ResponseContract = .init()
    ) throws(SessionError) -> SessionTask {
        let request = try SessionRequest("GET", part.url, fields: fields)
        return try self.makeTask(.download, request, output: .file(destination, contract, resuming: part))
    }
}

/// Tasks that the caller simply waits for. Cancelling the Swift task that waits cancels the session's task.
extension Session {
    /// Sends a request, with a body if one is given, and waits for the whole response.
    ///
    /// - Throws: ``SessionError`` if there is no complete response. A response with a status such as 404 is complete.
    public func data(
        for request: SessionRequest, from source: UploadSource? = nil
    ) async throws(SessionError) -> TaskResult {
        let kind: SessionTask.Kind = source == nil ? .data : .upload
        return try await self.makeTask(kind, request, source: source, output: .memory).run()
    }

    /// Downloads to a file; sends a body if one is given.
    ///
    /// - Throws: ``SessionError``; with `rejected` if the response does not satisfy `contract`.
    public func download(
        _ request: SessionRequest, from source: UploadSource? = nil, to destination: DownloadDestination,
        accepting contract: ResponseContract = .init()
    ) async throws(SessionError) -> TaskResult {
        try await self.downloadTask(request, from: source, to: destination, accepting: contract).run()
    }

    /// Sends a request, with a body if one is given, and waits for the head of the response; the body streams after it.
    ///
    /// - Throws: ``SessionError`` if no final head arrives. Later errors are thrown by the body.
    public func stream(
        _ request: SessionRequest, from source: UploadSource? = nil
    ) async throws(SessionError) -> SessionResponse {
        try await self.stream(request, from: source, interception: nil)
    }

    func stream(
        _ request: SessionRequest, from source: UploadSource?, interception: InterceptorChain?
    ) async throws(SessionError) -> SessionResponse {
        try Self.checkCancellation()
        let handoff = ResponseHandoff()
        let task = try self.makeTask(request, from: source, handingTo: handoff, interception: interception)
        task.resume()
        let response = await withTaskCancellationHandler {
            await Result { () async throws(SessionError) -> SessionResponse in try await handoff.response() }
        } onCancel: {
            task.cancel()
        }
        return try response.get()
    }

    /// Throws if the caller is cancelled already, so that nothing is sent: a quick origin would answer before the
    /// cancellation had arrived.
    package static func checkCancellation() throws(SessionError) {
        if Task.isCancelled { throw SessionError(.cancelled, "the task was cancelled before it began") }
    }
}
