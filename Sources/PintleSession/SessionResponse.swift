// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage
internal import PintleSystem

/// A response whose head has arrived. Its body arrives while it is read.
public struct SessionResponse: Sendable {
    /// Status, reason and fields.
    public let head: ResponseHead
    /// The length of the body in bytes, if the origin declared it; nil for a body that is decoded.
    public let length: UInt64?
    /// The content codings that are removed, in the order in which they were applied; empty if the body comes as it was
    /// sent.
    public let contentCodings: [String]
    /// The body. Reading slowly slows the origin; dropping it cancels the task.
    public let body: ResponseBody
    /// The task that made the request; its metrics are complete when the body has ended.
    public let task: SessionTask
}

/// The pieces of a response's body, in order, as they arrive. It can be read once.
public struct ResponseBody: AsyncSequence, Sendable {
    typealias Producer = NIOThrowingAsyncSequenceProducer<
        ByteBuffer, any Error, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, ResponseHandoff
    >

    let producer: Producer

    /// Reads the body from its beginning.
    public func makeAsyncIterator() -> Iterator { Iterator(iterator: self.producer.makeAsyncIterator()) }

    /// An iterator that waits for each piece.
    public struct Iterator: AsyncIteratorProtocol {
        let iterator: Producer.AsyncIterator

        /// The next piece, or nil when the body is complete.
        ///
        /// - Throws: ``SessionError`` if the rest cannot be had; a body that was cut off never ends with nil.
        @concurrent public mutating func next() async throws -> ByteBuffer? { try await self.iterator.next() }
    }

    /// Reads the whole body.
    ///
    /// - Parameter limit: the highest number of bytes to keep.
    /// - Throws: ``SessionError`` as the iterator does; `tooLarge` over the limit.
    public func collect(upTo limit: Int) async throws -> ByteBuffer {
        var whole = ByteBuffer()
        for try await piece in self {
            guard whole.readableBytes + piece.readableBytes <= limit else {
                throw SessionError(.tooLarge, "the body is longer than \(limit) bytes")
            }
            whole.writeImmutableBuffer(piece)
        }
        return whole
    }
}

/// Gives the response of a task to the one caller that waits for it, and then its body piece by piece.
package final class ResponseHandoff: Sendable {
    private struct State: Sendable {
        var response: Result<SessionResponse, SessionError>?
        var waiting: CheckedContinuation<Void, Never>?
        var source: ResponseBody.Producer.Source?
        var hasDemand = true
        var task: SessionTask?
        var wake: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    package init() {}

    /// True if the reader wants more. More may be given all the same: the sequence keeps it.
    var hasDemand: Bool { self.state.withLock { $0.hasDemand } }

    /// Waits for the head.
    package func response() async throws(SessionError) -> SessionResponse {
        await withCheckedContinuation { (waiting: CheckedContinuation<Void, Never>) in
            let isThere = self.state.withLock { state in
                if state.response == nil { state.waiting = waiting }
                return state.response != nil
            }
            if isThere { waiting.resume() }
        }
        // Taken out: a response that stayed here would never be released.
        let response = self.state.withLock { state in
            defer { state.response = nil }
            return state.response
        }
        guard let response else { preconditionFailure("BUG: a response was asked for twice") }
        return try response.get()
    }

    /// Delivers the head and opens the body.
    ///
    /// - Parameter wake: called when there is demand again.
    func begin(
        _ head: ResponseHead, length: UInt64?, contentCodings: [String], _ task: SessionTask,
        wake: @escaping @Sendable () -> Void
    ) {
        let producer = NIOThrowingAsyncSequenceProducer.makeSequence(
            elementType: ByteBuffer.self, failureType: (any Error).self,
            backPressureStrategy: NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark(
                lowWatermark: 1, highWatermark: 2),
            finishOnDeinit: true, delegate: self)
        let response = SessionResponse(
            head: head, length: length, contentCodings: contentCodings,
            body: ResponseBody(producer: producer.sequence), task: task)
        self.state.withLock { state in
            state.source = producer.source
            state.task = task
            state.wake = wake
        }
        self.deliver(.success(response))
    }

    /// Delivers pieces of the body; does nothing if the body has ended.
    func yield(_ pieces: [ByteBuffer]) {
        guard let source = self.state.withLock({ $0.source }) else { return }
        // Set first: the reader may ask for more before `yield` returns.
        self.state.withLock { $0.hasDemand = false }
        guard case .produceMore = source.yield(contentsOf: pieces) else { return }
        self.state.withLock { $0.hasDemand = true }
    }

    /// Ends the body, or the wait for the head.
    func finish(_ error: SessionError?) {
        let source = self.state.withLock { state in
            // Otherwise the task and the source would hold each other.
            defer { (state.source, state.task, state.wake) = (nil, nil, nil) }
            return state.source
        }
        if let source {
            if let error { source.finish(error) } else { source.finish() }
        } else if let error {
            self.deliver(.failure(error))
        }
    }

    private func deliver(_ response: Result<SessionResponse, SessionError>) {
        let waiting = self.state.withLock { state in
            state.response = response
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }
}

extension ResponseHandoff: NIOAsyncSequenceProducerDelegate {
    package func produceMore() {
        let wake = self.state.withLock { state in
            state.hasDemand = true
            return state.wake
        }
        wake?()
    }

    package func didTerminate() {
        let task = self.state.withLock { $0.task }
        task?.cancel()
    }
}
