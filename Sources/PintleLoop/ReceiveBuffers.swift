// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The buffers that a loop receives into, in rotation.
///
/// The recipient of a long body keeps its buffers and releases them on another thread. If they were freed there and
/// allocated here, each would need fresh pages: the allocator returns memory freed at the end of its heap to the system. So
/// the last buffers that were given away are kept here as well, and the oldest is used again if no other code holds it any
/// more.
struct ReceiveBuffers {
    /// Capacity of a buffer in bytes.
    static let capacity = 128 * 1024
    /// The most buffers kept: one more than a download has on its way to its file.
    private static let most = 8

    /// A buffer that no other code holds.
    private var own = ByteBuffer()
    /// The buffers that were given away, the oldest first.
    private var shared: CircularBuffer<ByteBuffer> = []

    /// Takes an empty buffer with full capacity.
    mutating func take() -> ByteBuffer {
        var buffer = ByteBuffer()
        swap(&buffer, &self.own)
        if buffer.capacity == 0, self.shared.count == Self.most { buffer = self.shared.removeFirst() }
        // Allocates new memory if other code still holds the old.
        buffer.clear(minimumCapacity: Self.capacity)
        return buffer
    }

    /// - Parameter isShared: true if other code holds a part of it.
    mutating func giveBack(_ buffer: ByteBuffer, isShared: Bool) {
        guard isShared else { return self.own = buffer }
        // If two owners return buffers in one turn, more may come back than were taken from here.
        if self.shared.count == Self.most { self.shared.removeFirst() }
        self.shared.append(buffer)
    }
}
