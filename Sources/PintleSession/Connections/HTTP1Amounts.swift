// SPDX-License-Identifier: Apache-2.0

internal import PintleLoop

/// The amounts, in bytes and in pieces, that an ``HTTP1Connection`` goes by.
enum HTTP1Amounts {
    /// Bodies that come with their request leave together with its head up to this many bytes.
    static let togetherLimit = 16 * 1024
    /// The most bytes of one chunk.
    static let chunkLimit = 32 * 1024
    /// The most full buffers that are read, and pieces that are sent, in a turn: others want their share.
    static let mostInTurn = 4
    /// The least of a body that is given away with the whole buffer it was received in, and not copied.
    static let leastShared = Loop.receiveCapacity / 2
    /// The least that is missing of a body for records of TLS to be read ahead.
    static let leastAhead: UInt64 = 32 * 1024
}
