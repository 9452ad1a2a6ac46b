// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleMessage
internal import PintlePolicy

/// A part of Pintle that answers requests itself. A proxy with a service has no other origin: nothing is forwarded.
package protocol LocalService: Sendable {
    /// Answers a request, on the thread of the answer's loop; now, or later.
    func answer(_ request: LocalRequest, by answer: LocalAnswer)
}

/// A whole request to a ``LocalService``.
package struct LocalRequest: Sendable {
    /// The head as the client sent it. Its target may be in any form.
    package let head: RequestHead
    /// At most `limits.body_buffer`.
    package let body: ByteBuffer
    /// The user id of the client's process, if it is connected by a Unix socket.
    package let user: UInt32?

    package init(_ head: RequestHead, body: ByteBuffer = ByteBuffer(), user: UInt32? = nil) {
        (self.head, self.body, self.user) = (head, body, user)
    }

    init(_ head: RequestHead, _ body: RequestPlan.Body, of peer: Client?) {
        let bytes = if case .whole(let bytes, trailers: _) = body { bytes } else { ByteBuffer() }
        let user: UInt32? = if case .user(let number) = peer { number } else { nil }
        self.init(head, body: bytes, user: user)
    }
}

/// The body of a ``LocalAnswer``, which is asked for piece by piece, as fast as the client reads.
package protocol LocalBody: AnyObject {
    /// Returns the next piece.
    func next() -> LocalPiece
    /// Ends the body early: the client has left.
    func stop()
}

package enum LocalPiece {
    case bytes([UInt8])
    /// There is none yet; ``LocalAnswer/resume()`` says when.
    case later
    case end
}
