// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleLoop
package import PintleMessage

/// Hears of the progress of a transfer, always on the loop's thread.
///
/// Its functions may start, cancel and feed transfers.
package protocol TransferDelegate: AnyObject {
    /// An interim response (1xx) arrived.
    func originSent(interim head: ResponseHead)
    /// The final response's head arrived; `length` is the body's length if known.
    func originAnswered(_ head: ResponseHead, length: UInt64?)
    /// Bytes of the body arrived; they are valid during the call only.
    func originSent(_ bytes: UnsafeRawBufferPointer)
    /// Bytes of the body arrived in a buffer that the delegate may keep. By default they are passed to the function for
    /// bytes that are valid during the call only.
    func originSent(_ buffer: ByteBuffer)
    /// Bytes of the body arrived in a pipe, which is not filled again before it is empty; only after
    /// ``Transfer/takePipes()``. A delegate that leaves some of them in the pipe must pause reading; they come again
    /// when it resumes.
    func originSent(_ piped: PipedBytes)
    /// Trailers arrived after the body.
    func originSent(trailers fields: Fields)
    /// The upstream has taken this many bytes of the request's body.
    func originTookBody(_ count: Int)
    /// The body is sent again from its beginning, on another connection.
    func bodyBeginsAgain()
    /// The delegate gets the connection: one that was made for `connectOnly`, or one whose protocol the origin has
    /// switched. This is the last call.
    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics)
    /// The transfer is over; it succeeded if `error` is nil. This is the last call.
    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics)
}

/// A connection that leaves its transfer.
package struct ConnectionHandoff {
    /// The connection; its receiver owns it.
    package let connection: EstablishedConnection
    /// The `101 Switching Protocols` of an origin; nil if only a connection was wanted.
    package var head: ResponseHead?
    /// The version of HTTP of that response.
    package var version = ""
    /// Bytes that came after it.
    package var early = ByteBuffer()
    /// Changes the bytes of the origin, early ones among them, before the client gets them; nil if they pass as they are.
    package var filter: (any HandedOverFilter)?

    package init(
        connection: EstablishedConnection, head: ResponseHead? = nil, version: String = "",
        early: ByteBuffer = ByteBuffer()
    ) {
        (self.connection, self.head, self.version, self.early) = (connection, head, version, early)
    }
}

/// Changes the bytes that an origin sends on a connection that was handed over. Used on the loop of the connection.
package protocol HandedOverFilter: AnyObject {
    /// Takes bytes of the origin, and returns those that its client may get now.
    ///
    /// - Throws: the reason why nothing more may pass.
    func take(_ bytes: ByteBuffer) throws(HandedOverRefusal) -> ByteBuffer
}

/// The reason why a connection that was handed over is broken off, in one sentence.
package struct HandedOverRefusal: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension TransferDelegate {
    package func bodyBeginsAgain() {}

    package func originSent(_ buffer: ByteBuffer) {
        buffer.withUnsafeReadableBytes { self.originSent($0) }
    }

    /// Traps: pipes come only to a delegate that has asked for them.
    package func originSent(_ piped: PipedBytes) {
        preconditionFailure("BUG: a body comes in a pipe that nobody asked for")
    }

    /// Closes the connection: a delegate that asks for none has no use for it.
    package func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        handoff.connection.close()
    }
}
