// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The buffers that a loop receives into, used by turns.
///
/// A long body is given away with its buffers, which somebody lets go of on another thread. Freed there and allocated here,
/// each would cost its pages again: the allocator returns what is freed at the end of its heap to the system. So the last
/// ones that were given away stay known here, and the oldest serves again where nobody else has it any more.
struct ReceiveBuffers {
    /// The room in a buffer, in bytes.
    static let capacity = 128 * 1024
    /// The most that are kept: one more than a download has on its way to its file.
    private static let most = 8

    /// Nobody else has it.
    private var own = ByteBuffer()
    /// The buffers that were given away, the oldest first.
    private var shared: CircularBuffer<ByteBuffer> = []

    /// An empty buffer, that has its room.
    mutating func take() -> ByteBuffer {
        var buffer = ByteBuffer()
        swap(&buffer, &self.own)
        if buffer.capacity == 0, self.shared.count == Self.most { buffer = self.shared.removeFirst() }
        // Takes new memory where somebody still has the old one.
        buffer.clear(minimumCapacity: Self.capacity)
        return buffer
    }

    /// - Parameter isShared: whether somebody has a part of it.
    mutating func giveBack(_ buffer: ByteBuffer, isShared: Bool) {
        guard isShared else { return self.own = buffer }
        // Work of two owners in one turn brings more than was taken from here.
        if self.shared.count == Self.most { self.shared.removeFirst() }
        self.shared.append(buffer)
    }
}
