// SPDX-License-Identifier: Apache-2.0

internal import CPintleZlib

/// Compresses messages to one raw deflate stream (RFC 1951) that continues from message to message (RFC 7692 §7.2.1).
///
/// Takes some 256 KiB with the largest window, and less with smaller ones.
package final class RawDeflater {
    /// zlib keeps a pointer to it, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>

    /// The maximum number of bytes that a sink receives at once.
    private static let pieceSize = 16 * 1024

    /// Creates a stream.
    ///
    /// - Parameters:
    ///   - windowBits: the base-2 logarithm of the largest distance of a back reference, 8…15.
    ///   - level: 1, the fastest, to 9, which produces the fewest bytes.
    /// - Throws: `.outOfMemory`.
    package init(windowBits: Int, level: Int) throws(RawDeflateError) {
        precondition((8...15).contains(windowBits), "BUG: deflate has no window of \(windowBits) bits")
        precondition((1...9).contains(level), "BUG: zlib has no level \(level)")
        self.stream = .allocate(capacity: 1)
        self.stream.initialize(to: z_stream())
        // zlib has no raw stream with a window of 8 bits. With 9 bits it refers back by at most 250 bytes, because it keeps
        // 262 bytes of its window for looking ahead. So its output with 9 bits can be read with 8.
        guard pintle_deflate_init(self.stream, Int32(level), Int32(max(9, windowBits))) == Z_OK else {
            self.stream.deallocate()
            throw .outOfMemory
        }
    }

    deinit {
        deflateEnd(self.stream)
        self.stream.deallocate()
    }

    /// Starts a new context: later output will not refer back to earlier messages.
    package func reset() { deflateReset(self.stream) }

    /// Compresses a piece of a message.
    ///
    /// - Parameters:
    ///   - input: the piece; must not be empty.
    ///   - isLast: true if the piece ends the message. Then all output that was held back is produced. Its end is an empty
    ///     block, with 00 00 FF FF as the last four bytes.
    ///   - sink: receives the output, which is valid during the call only.
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
            // The call cannot fail: the stream is valid, and if there is nothing to do, nothing is produced.
            _ = CPintleZlib.deflate(stream, flush)
            let count = space.count - Int(stream.pointee.avail_out)
            if count > 0 { sink(UnsafeRawBufferPointer(rebasing: space[..<count])) }
        } while stream.pointee.avail_out == 0
    }
}
