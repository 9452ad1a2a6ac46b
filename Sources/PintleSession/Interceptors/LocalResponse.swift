// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage

/// A response that a program makes itself, instead of one from the network: ``Interceptor/answer``.
///
/// Tasks treat it like any response: they decode it, follow redirects, answer challenges, store cookies, check
/// contracts and write files, and a body that streams is read no faster than the program reads it.
public struct LocalResponse: Sendable {
    /// Status, reason and fields. The status is at least 200; a length that the fields declare is not checked.
    public var head: ResponseHead
    /// The body. It is ignored in a response to HEAD, and with status 204 or 304.
    public var body: Body

    /// The bytes of a local response.
    public enum Body: Sendable {
        /// All bytes, in memory.
        case bytes(ByteBuffer)
        /// Bytes that arrive while the response is read. A ``SessionError`` that the stream throws is the task's error;
        /// any other becomes `underlying` of an `unreadableSource`.
        case stream(BodyStream)
    }

    /// Makes a response with a body in memory.
    public init(_ head: ResponseHead, body: ByteBuffer = ByteBuffer()) {
        self.head = head
        self.body = .bytes(body)
    }

    /// Makes a response whose body arrives while it is read.
    public init(_ head: ResponseHead, body: BodyStream) {
        self.head = head
        self.body = .stream(body)
    }

    /// The length of the body in bytes; nil if it is unknown.
    var length: UInt64? {
        switch self.body {
        case .bytes(let bytes): UInt64(bytes.readableBytes)
        case .stream(let stream): stream.length
        }
    }

    /// Returns a reader of the body; nil if the only reader of a stream is used up.
    func open() -> (any UploadReader)? {
        switch self.body {
        case .bytes(let bytes): BytesReader(bytes)
        case .stream(let stream): stream.open()
        }
    }
}

/// Responses that interceptors return instead of the network.
extension TaskRun {
    /// Asks the steps for a response.
    ///
    /// - Parameter body: the body of the request. If a step can answer, it is read into memory, up to
    ///   ``SessionConfiguration/bodyLimit``.
    /// - Returns: nil if the request must be sent.
    func localResponse(
        to body: inout OutgoingBody, _ attempts: TaskAttempts, of task: SessionTask, _ session: Session
    ) async throws(SessionError) -> LocalResponse? {
        guard let interception, interception.steps.contains(where: { $0.answer != nil }) else { return nil }
        let bytes = try await body.collected(upTo: session.configuration.bodyLimit)
        let attempt = Interceptor.Attempt(
            task: task, number: attempts.number, earlier: attempts.outcomes, request: attempts.request,
            baseURL: interception.baseURL)
        for step in interception.steps {
            guard let answer = step.answer else { continue }
            let response: LocalResponse?
            do throws(SessionError) {
                response = try await self.ask { try await answer(attempt, bytes) }
            } catch {
                throw error.underlying as? SessionError ?? error
            }
            guard let response else { continue }
            guard response.head.status >= 200 else {
                throw SessionError(
                    .hookFailed, "a step answered with status \(response.head.status); a response has 200 or more")
            }
            return response
        }
        return nil
    }

    /// Writes a response into `flow`, no faster than the task reads it.
    func play(_ response: LocalResponse, answering request: SessionRequest, into flow: TransferFlow) async {
        let isBodiless = response.head.forbidsBody(to: request.method)
        flow.originAnswered(response.head, length: isBodiless ? 0 : response.length)
        do throws(SessionError) {
            guard !isBodiless else { return flow.end(with: nil) }
            guard let reader = response.open() else {
                throw SessionError(.unreadableSource, "the stream of a local response was read before")
            }
            while let piece = try await reader.next() {
                // The task wants no more of the response.
                guard await flow.hasPlace() else { return }
                piece.withUnsafeReadableBytes { flow.originSent($0) }
            }
            flow.end(with: nil)
        } catch {
            flow.end(with: error)
        }
    }
}

extension OutgoingBody {
    /// Reads the whole body into memory, from which it is then sent.
    ///
    /// - Returns: nil if there is no body.
    fileprivate mutating func collected(upTo limit: Int) async throws(SessionError) -> ByteBuffer? {
        switch self {
        case .none: return nil
        case .bytes(let bytes): return bytes
        case .pieces(let reader, _):
            var whole = ByteBuffer()
            while let piece = try await reader.next() {
                guard whole.readableBytes + piece.readableBytes <= limit else {
                    throw SessionError(
                        .tooLarge,
                        "the request's body is longer than \(limit) bytes; a step that answers sees the whole")
                }
                whole.writeImmutableBuffer(piece)
            }
            self = .bytes(whole)
            return whole
        }
    }
}
