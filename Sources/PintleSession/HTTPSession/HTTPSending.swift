// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import PintleSerialization

/// Sends requests and waits for their responses: an ``HTTPSession``, or a stand-in for it in tests.
///
/// Code that takes `any HTTPSending` can make all everyday calls: ``get(_:parameters:as:_:)-(_,_,Value.Type,_)`` and its
/// variants, ``download(_:to:accepting:_:)`` and ``stream(_:_:)``.
public protocol HTTPSending: Sendable {
    /// Makes the decoder that reads values from JSON.
    var makeDecoder: @Sendable () -> JSONDecoder { get }

    /// Sends a request and waits for its response, checked and decoded.
    ///
    /// - Parameters:
    ///   - url: resolved against the base.
    ///   - body: nil for none.
    ///   - serializer: checks and decodes the response.
    ///   - shape: changes the request last, before it is sent.
    /// - Throws: ``SessionError``: the reason why there is no response; or `rejected`, with the response and its
    ///   violation as a ``RejectedResponse`` in `underlying`.
    func send<Serializer: ResponseSerializer>(
        _ method: String, _ url: String, body: RequestBody?, as serializer: Serializer, _ shape: HTTPSession.Shaping
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output>

    /// Downloads to a file.
    ///
    /// - Throws: ``SessionError``; with `rejected` if the response does not satisfy `contract`.
    @discardableResult
    func download(
        _ url: String, to destination: DownloadDestination, method: String, body: RequestBody?,
        accepting contract: ResponseContract, _ shape: HTTPSession.Shaping
    ) async throws(SessionError) -> TaskResult

    /// Waits for the head of a response, whatever its status; the body streams after it.
    ///
    /// - Throws: ``SessionError`` if no final head arrives. Later errors are thrown by the body.
    func stream(
        _ url: String, method: String, body: RequestBody?, _ shape: HTTPSession.Shaping
    ) async throws(SessionError) -> SessionResponse
}

extension HTTPSending {
    /// Downloads to a file with GET, as ``download(_:to:method:body:accepting:_:)`` does.
    @discardableResult
    public func download(
        _ url: String, to destination: DownloadDestination, accepting contract: ResponseContract = .init(),
        _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> TaskResult {
        try await self.download(url, to: destination, method: "GET", body: nil, accepting: contract, shape)
    }

    /// Waits for the head of the response to a GET, as ``stream(_:method:body:_:)`` does.
    public func stream(
        _ url: String, _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> SessionResponse {
        try await self.stream(url, method: "GET", body: nil, shape)
    }
}

extension HTTPSession: HTTPSending {
    /// Makes a task as ``task(_:_:body:as:_:)`` does, and runs it.
    public func send<Serializer: ResponseSerializer>(
        _ method: String, _ url: String, body: RequestBody?, as serializer: Serializer, _ shape: Shaping
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output> {
        try await self.task(method, url, body: body, as: serializer, shape).run()
    }
}
