// SPDX-License-Identifier: Apache-2.0

public import NIOCore
internal import PintleSession

/// The destination of the body of an operation's response.
///
/// The operation calls one member at a time, and none after ``close()``. An error that a member throws fails the
/// operation, as `underlying` of a `SessionError` with `cannotWrite`.
public protocol BodySink: Sendable {
    /// Writes all of `bytes`, after those that came before. The server is slowed down until this returns.
    func write(_ bytes: ByteBuffer) async throws

    /// Drops the written bytes: the body begins again at zero, because the server cannot continue it.
    func restart() async throws

    /// Called when no more bytes come, after success as after failure.
    func close() async throws
}

extension BodySink {
    /// Throws, as a sink without an implementation cannot drop bytes.
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

    /// - Parameter limit: the highest number of bytes to keep.
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
