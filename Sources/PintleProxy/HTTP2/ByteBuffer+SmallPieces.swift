// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Pieces of a few bytes that wait together: each by itself would keep alive all that was read with it.
extension ByteBuffer {
    /// Pieces that are shorter are small, in bytes.
    private static let small = 4096

    /// The same bytes, in memory of their own if they are few.
    var forWaiting: ByteBuffer {
        self.readableBytes < Self.small ? ByteBuffer(bytes: self.readableBytesView) : self
    }

    /// Takes in the bytes that follow, if both are few.
    ///
    /// - Returns: false if they wait by themselves.
    mutating func takeIn(_ next: ByteBuffer) -> Bool {
        guard self.readableBytes < Self.small, next.readableBytes < Self.small else { return false }
        self.writeImmutableBuffer(next)
        return true
    }
}
