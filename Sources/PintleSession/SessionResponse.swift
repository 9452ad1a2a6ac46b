// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage

/// A response whose head has arrived and whose body arrives as it is read.
public struct SessionResponse: Sendable {
    /// Status, reason and fields.
    public let head: ResponseHead
    /// The length of the body in bytes, where the origin declared it.
    public let length: UInt64?
    /// The body. Reading slowly slows the origin; dropping it cancels the transfer.
    public let body: ResponseBody
    private let task: SessionTask

    init(head: ResponseHead, length: UInt64?, body: ResponseBody, task: SessionTask) {
        self.head = head
        self.length = length
        self.body = body
        self.task = task
    }

    /// How the transfer went; complete when the body has ended.
    public var metrics: TransferMetrics { self.task.metrics }
}

/// The pieces of a response's body, in order, as they arrive. It can be read once.
public struct ResponseBody: AsyncSequence, Sendable {
    typealias Producer = NIOThrowingAsyncSequenceProducer<
        ByteBuffer, any Error, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, SessionTask.Reader
    >

    let producer: Producer

    /// Reads the body from its beginning.
    public func makeAsyncIterator() -> Iterator { Iterator(iterator: self.producer.makeAsyncIterator()) }

    /// Waits for one piece after another.
    public struct Iterator: AsyncIteratorProtocol {
        let iterator: Producer.AsyncIterator

        /// The next piece, or nil when the body is complete.
        ///
        /// - Throws: ``SessionError`` when the rest cannot be had; a body that was cut never ends with nil.
        @concurrent public mutating func next() async throws -> ByteBuffer? { try await self.iterator.next() }
    }

    /// Reads the whole body.
    ///
    /// - Parameter limit: the most bytes that are kept.
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
