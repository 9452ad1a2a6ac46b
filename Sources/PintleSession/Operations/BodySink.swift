// SPDX-License-Identifier: Apache-2.0

public import NIOCore

/// Where an operation puts the body of its response.
///
/// The operation calls one member at a time, and none after ``close()``. What a member throws fails the operation: it is
/// behind a ``SessionError`` with `cannotWrite`, as `underlying`.
public protocol BodySink: Sendable {
    /// Takes all of `bytes`, behind those that came before. The server is slowed down until this returns.
    func write(_ bytes: ByteBuffer) async throws

    /// Forgets what was written: the body begins again at zero, because what comes does not continue it.
    func restart() async throws

    /// Nothing more will come, whether the operation went well or not.
    func close() async throws
}

extension BodySink {
    /// Refuses.
    public func restart() async throws {
        throw SessionError(
            .cannotWrite, "the body has to begin again, and its sink cannot forget what was written; implement restart")
    }

    /// Does nothing.
    public func close() async throws {}
}

/// Keeps a body in memory.
actor MemorySink: BodySink {
    private(set) var bytes = ByteBuffer()
    private let limit: Int

    /// - Parameter limit: the most bytes that are kept.
    init(limit: Int) { self.limit = limit }

    func write(_ bytes: ByteBuffer) throws {
        guard self.bytes.readableBytes + bytes.readableBytes <= self.limit else {
            throw SessionError(
                .tooLarge, "the body is longer than \(self.limit) bytes; raise bodyLimit, or give it to a file or sink")
        }
        self.bytes.writeImmutableBuffer(bytes)
    }

    func restart() { self.bytes.clear() }
}
