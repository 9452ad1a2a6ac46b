// SPDX-License-Identifier: Apache-2.0

internal import CPintleZlib

/// Makes a bare deflate stream (RFC 1951) that goes on from one message to the next, as RFC 7692 §7.2.1 has it.
///
/// It takes some 256 KiB with the largest window, and less with smaller ones.
package final class RawDeflater {
    /// zlib keeps a pointer to it, so it may not move.
    private let stream: UnsafeMutablePointer<z_stream>

    /// The most bytes that a sink is given at once.
    private static let pieceSize = 16 * 1024

    /// Begins a stream.
    ///
    /// - Parameters:
    ///   - windowBits: the logarithm of the farthest distance that the bytes reach back, 8…15.
    ///   - level: 1, the fastest, to 9, which makes the fewest bytes.
    /// - Throws: `.outOfMemory`.
    package init(windowBits: Int, level: Int) throws(RawDeflateError) {
        precondition((8...15).contains(windowBits), "BUG: deflate has no window of \(windowBits) bits")
        precondition((1...9).contains(level), "BUG: zlib has no level \(level)")
        self.stream = .allocate(capacity: 1)
        self.stream.initialize(to: z_stream())
        // zlib has no bare stream with a window of 8 bits. With 9 it reaches back 250 bytes and no farther: it keeps 262
        // bytes of its window for looking ahead. So what it makes with 9 can be read with 8.
        guard pintle_deflate_init(self.stream, Int32(level), Int32(max(9, windowBits))) == Z_OK else {
            self.stream.deallocate()
            throw .outOfMemory
        }
    }

    deinit {
        deflateEnd(self.stream)
        self.stream.deallocate()
    }

    /// Forgets what came before: nothing that is made reaches back to it.
    package func reset() { deflateReset(self.stream) }

    /// Deflates a piece of a message.
    ///
    /// - Parameters:
    ///   - input: not empty.
    ///   - isLast: whether the message ends with it. All that was held back comes then, and ends with an empty block, whose
    ///     last four bytes are 00 00 FF FF.
    ///   - sink: sees what was made, which is valid during the call only.
    package func deflate(_ input: UnsafeRawBufferPointer, isLast: Bool, into sink: (UnsafeRawBufferPointer) -> Void) {
        var input = input
        withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 16) { space in
            repeat {
                // zlib counts in 32 bits.
                let piece = UnsafeRawBufferPointer(rebasing: input.prefix(1 << 30))
                input = UnsafeRawBufferPointer(rebasing: input.dropFirst(piece.count))
                self.deflate(piece, flush: isLast && input.isEmpty ? Z_SYNC_FLUSH : Z_NO_FLUSH, by: space, into: sink)
            } while !input.isEmpty
        }
    }

    private func deflate(
        _ piece: UnsafeRawBufferPointer, flush: Int32, by space: UnsafeMutableRawBufferPointer,
        into sink: (UnsafeRawBufferPointer) -> Void
    ) {
        let stream = self.stream
        stream.pointee.next_in = UnsafeMutablePointer(mutating: piece.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(piece.count)
        repeat {
            stream.pointee.next_out = space.assumingMemoryBound(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(space.count)
            // It cannot fail: the stream is in order, and where there is nothing to do nothing is made.
            _ = CPintleZlib.deflate(stream, flush)
            let count = space.count - Int(stream.pointee.avail_out)
            if count > 0 { sink(UnsafeRawBufferPointer(rebasing: space[..<count])) }
        } while stream.pointee.avail_out == 0
    }
}
