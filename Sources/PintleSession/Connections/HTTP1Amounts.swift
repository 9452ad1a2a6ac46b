// SPDX-License-Identifier: Apache-2.0

internal import PintleLoop

/// The limits of an ``HTTP1Connection``, in bytes and in pieces.
enum HTTP1Amounts {
    /// The size up to which a body in memory is sent together with the head of its request.
    static let togetherLimit = 16 * 1024
    /// The most bytes of one chunk.
    static let chunkLimit = 32 * 1024
    /// The most full buffers that are read, and pieces that are sent, in a turn, so that other connections get their share.
    static let mostInTurn = 4
    /// The size from which a piece of a body is passed on with the whole receive buffer, instead of being copied.
    static let leastShared = Loop.receiveCapacity / 2
    /// The size of the missing rest of a body from which TLS records are read ahead.
    static let leastAhead: UInt64 = 32 * 1024
}
