// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Copies small pieces that wait, because each would otherwise keep a whole receive buffer alive.
extension ByteBuffer {
    /// Pieces with fewer bytes are small.
    private static let small = 4096

    /// The bytes, copied into memory of their own if they are few.
    var forWaiting: ByteBuffer {
        self.readableBytes < Self.small ? ByteBuffer(bytes: self.readableBytesView) : self
    }

    /// Appends the next piece, if both are small.
    ///
    /// - Returns: false if it was not appended.
    mutating func takeIn(_ next: ByteBuffer) -> Bool {
        guard self.readableBytes < Self.small, next.readableBytes < Self.small else { return false }
        self.writeImmutableBuffer(next)
        return true
    }
}
