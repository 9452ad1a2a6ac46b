// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
public import PintleMessage
public import PintleSerialization

/// The events of a server, over as many connections as necessary (WHATWG HTML §9.2).
///
/// Nothing is sent before the first event is requested. Releasing the iterator, or cancelling the task that reads it,
/// ends the connection. Each iterator has its own connections.
public struct EventSource: AsyncSequence, Sendable {
    /// A change in an event source, to be shown or logged.
    public enum Change: Sendable {
        /// A stream begins, with this response head.
        case opened(ResponseHead)
        /// The stream has ended, or an attempt has failed; the next attempt follows after this time.
        case waiting(Duration, after: SessionError?)
    }

    let session: Session
    let request: SessionRequest
    let source: UploadSource?
    let interception: InterceptorChain?
    let lastEventID: String
    let limit: Int
    let reconnection: EventReconnection?
    let onChange: (@Sendable (Change) -> Void)?

    /// Returns an iterator, which makes its own connections.
    public func makeAsyncIterator() -> Iterator { Iterator(self) }

    /// An iterator that waits for each event.
    public struct Iterator: AsyncIteratorProtocol {
        private let source: EventSource
        private var events: ResponseBody.Events.Iterator?
        /// The value of Last-Event-ID in the next request; empty for none.
        public private(set) var lastEventID: String
        private var retry: Duration?
        private var failures = 0
        private var isOver = false

        fileprivate init(_ source: EventSource) {
            self.source = source
            self.lastEventID = source.lastEventID
        }

        /// The next event; nil if the server wants no further connection (204), or if the stream has ended and no
        /// further connection is made.
        ///
        /// - Throws: ``SessionError``, after which there are no more events: `rejected` for a status other than 200 or
        ///   a media type other than `text/event-stream`; `tooLarge` for an event that is too long; or the failure of a
        ///   connection, if no further one is made, or it would fail too.
        @concurrent public mutating func next() async throws(SessionError) -> ServerSentEvent? {
            guard !self.isOver else { return nil }
            do {
                if let event = try await self.nextEvent() { return event }
                self.isOver = true
                return nil
            } catch {
                self.isOver = true
                self.events = nil
                throw error
            }
        }

        @concurrent private mutating func nextEvent() async throws(SessionError) -> ServerSentEvent? {
            while true {
                var failure: SessionError?
                do throws(SessionError) {
                    if self.events == nil {
                        guard let body = try await self.source.open(lastEventID: self.lastEventID) else { return nil }
                        self.failures = 0
                        self.events = body.makeAsyncIterator()
                    }
                    if let event = try await self.read() { return event }
                } catch {
                    guard error.isTransient else { throw error }
                    if self.events == nil { self.failures += 1 }
                    failure = error
                }
                self.events = nil
                guard let pause = self.source.pause(after: self.failures, retry: self.retry) else {
                    if let failure { throw failure }
                    return nil
                }
                self.source.onChange?(.waiting(pause, after: failure))
                try await self.source.session.wait(for: pause)
            }
        }

        @concurrent private mutating func read() async throws(SessionError) -> ServerSentEvent? {
            defer {
                if let events = self.events {
                    self.lastEventID = events.lastEventID
                    self.retry = events.retry ?? self.retry
                }
            }
            do {
                return try await self.events?.next()
            } catch let error as SessionError {
                throw error
            } catch let error as TextStreamError {
                throw SessionError(.tooLarge, "the event stream cannot be read on: \(error)", underlying: error)
            } catch {
                // The body's only other error is the cancellation of the Swift task.
                throw .cancelled
            }
        }
    }
}

extension EventSource {
    private static let contract = ResponseContract(
        acceptableStatusCodes: [200...200], acceptableContentTypes: ["text/event-stream"])

    /// Returns the time to wait before the next attempt; nil if there is none.
    fileprivate func pause(after failures: Int, retry: Duration?) -> Duration? {
        guard let reconnection, reconnection.methods.contains(self.request.method) else { return nil }
        return reconnection.pause(after: failures, retry: retry)
    }

    /// Makes a connection, and waits for the response.
    ///
    /// - Returns: nil if the response is a 204.
    fileprivate func open(lastEventID: String) async throws(SessionError) -> ResponseBody.Events? {
        let response = try await self.session.stream(
            self.request(lastEventID: lastEventID), from: self.source, interception: self.interception)
        let head = response.head
        guard head.status != 204 else { return nil }
        if let violation = self.violation(in: head) {
            throw await .rejected(
                RejectedResponse(head: head, body: Self.start(of: response), violation: violation))
        }
        self.onChange?(.opened(head))
        return response.body.serverSentEvents(limit: self.limit, lastEventID: lastEventID)
    }

    /// Returns the violation for which the standard fails the connection, or that of a content coding, which is still
    /// in the head if it was not decoded.
    private func violation(in head: ResponseHead) -> ValidationError? {
        if let violation = Self.contract.validateHead(head, requestMethod: self.request.method) { return violation }
        let type = head.fields[.contentType]
        guard type != nil else {
            return ValidationError(
                .responseContentType, "Request failed: no content-type", status: head.status, contentType: nil)
        }
        guard let coding = head.fields[.contentEncoding], coding.lowercased() != "identity" else { return nil }
        return ValidationError(
            .responseBody,
            "Request failed: an event stream cannot be read that has a content coding; let the session undo it (decompression)",
            status: head.status, contentType: type)
    }

    /// Returns the beginning of a body for a rejected response; empty with status 200, as such a body may never end.
    private static func start(of response: SessionResponse) async -> [UInt8] {
        guard response.head.status != 200 else { return [] }
        var start: [UInt8] = []
        do {
            for try await piece in response.body {
                start += piece.readableBytesView.prefix(RejectedResponse.bodyLimit - start.count)
                if start.count == RejectedResponse.bodyLimit { break }
            }
        } catch {
            // The head alone tells the reason of the failure; the body only explains it.
        }
        return start
    }

    private func request(lastEventID: String) throws(SessionError) -> SessionRequest {
        var request = self.request
        if !request.fields.contains(.accept) { request.fields.append("Accept", "text/event-stream") }
        if !request.fields.contains(.cacheControl) { request.fields.append("Cache-Control", "no-cache") }
        request.fields.remove("Last-Event-ID")
        // A field's value cannot begin or end with white space; a server would not see it either.
        let id = String(decoding: ASCII.trimmed(Array(lastEventID.utf8)[...]), as: UTF8.self)
        guard !id.isEmpty else { return request }
        guard FieldSyntax.isValue(id) else {
            throw SessionError(
                .invalidRequest,
                "the last event's ID has control characters, so no request can name it in Last-Event-ID")
        }
        request.fields.append("Last-Event-ID", id)
        return request
    }
}
