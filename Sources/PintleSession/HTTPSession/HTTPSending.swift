// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import PintleMessage

/// Sends requests and waits for their responses: as an ``HTTPSession`` does, and whatever a test puts in its place.
///
/// Code that takes `any HTTPSending` has all everyday calls: ``get(_:parameters:as:_:)-(_,_,Value.Type,_)`` and its kin,
/// ``download(_:to:accepting:_:)`` and ``stream(_:_:)``.
public protocol HTTPSending: Sendable {
    /// Makes what reads values from JSON.
    var makeDecoder: @Sendable () -> JSONDecoder { get }

    /// Sends a request and waits for its response, judged and decoded.
    ///
    /// - Parameters:
    ///   - url: resolved against the base.
    ///   - body: nil for none.
    ///   - serializer: judges and decodes the answer.
    ///   - shape: has the last word about the request.
    /// - Throws: ``SessionError``: why there is no response, or `rejected`, behind which are the response and its violation
    ///   as ``RejectedResponse``.
    func send<Serializer: ResponseSerializer>(
        _ method: String, _ url: String, body: RequestBody?, as serializer: Serializer, _ shape: HTTPSession.Shaping
    ) async throws(SessionError) -> HTTPResponse<Serializer.Output>

    /// Downloads to a file.
    ///
    /// - Throws: ``SessionError``; with `rejected` for a response that does not satisfy `contract`.
    @discardableResult
    func download(
        _ url: String, to destination: DownloadDestination, method: String, body: RequestBody?,
        accepting contract: ResponseContract, _ shape: HTTPSession.Shaping
    ) async throws(SessionError) -> TaskResult

    /// Waits for the head of a response, whatever its status; the body streams behind it.
    ///
    /// - Throws: ``SessionError`` when no final head arrives. What goes wrong later is thrown by the body.
    func stream(
        _ url: String, method: String, body: RequestBody?, _ shape: HTTPSession.Shaping
    ) async throws(SessionError) -> SessionResponse
}

extension HTTPSending {
    /// Downloads what GET brings to a file, as ``download(_:to:method:body:accepting:_:)`` does.
    @discardableResult
    public func download(
        _ url: String, to destination: DownloadDestination, accepting contract: ResponseContract = .init(),
        _ shape: HTTPSession.Shaping = { _ in }
    ) async throws(SessionError) -> TaskResult {
        try await self.download(url, to: destination, method: "GET", body: nil, accepting: contract, shape)
    }

    /// Waits for the head of what GET brings, as ``stream(_:method:body:_:)`` does.
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
