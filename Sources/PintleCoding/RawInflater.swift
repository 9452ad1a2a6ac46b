// SPDX-License-Identifier: Apache-2.0

internal import CPintleZlib

/// The reason why a raw deflate stream cannot be continued.
package enum RawDeflateError: Error, Sendable, Equatable {
    /// The bytes are not valid deflate data; the reason comes from zlib.
    case corrupt(reason: String)
    /// There is no memory for the stream.
    case outOfMemory
}

/// Decompresses a raw deflate stream (RFC 1951) that continues from message to message (RFC 7692 §7.2.2).
///
/// Memory is bounded for all inputs: some kilobytes, and a window of at most 32 KiB. After a failure the stream must be
/// reset before it is used again.
package final class RawInflater {
    /// The result of a call.
    package struct Outcome {
        /// The number of bytes that were produced. If they fill the output, there may be more.
        package let count: Int
        /// The failure that occurred after those bytes.
        package let failure: RawDeflateError?
    }

    /// zlib keeps a pointer to it, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    /// True if the input so far ends with a block that is not marked as the last one, and at a byte boundary.
    package private(set) var isBetweenBlocks = false

    /// Creates a stream.
    ///
    /// - Parameter windowBits: the base-2 logarithm of the largest distance of a back reference, 8…15.
    /// - Throws: `.outOfMemory`.
    package init(windowBits: Int) throws(RawDeflateError) {
        precondition((8...15).contains(windowBits), "BUG: deflate has no window of \(windowBits) bits")
        self.stream = .allocate(capacity: 1)
        self.stream.initialize(to: z_stream())
        guard pintle_inflate_init(self.stream, Int32(-windowBits)) == Z_OK else {
            self.stream.deallocate()
            throw .outOfMemory
        }
    }

    deinit {
        inflateEnd(self.stream)
        self.stream.deallocate()
    }

    /// Starts a new context: later input cannot refer back to earlier messages.
    package func reset() {
        self.isBetweenBlocks = false
        inflateReset(self.stream)
    }

    /// Decompresses until the output is full or the input is used up.
    ///
    /// - Parameters:
    ///   - input: the compressed bytes; consumed bytes are removed. All are consumed if the output is not filled.
    ///   - output: the space for the result; must not be empty.
    package func inflate(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> Outcome {
        // zlib counts in 32 bits.
        let room = UnsafeMutableRawBufferPointer(rebasing: output.prefix(1 << 30))
        let stream = self.stream
        stream.pointee.next_out = room.assumingMemoryBound(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(room.count)
        var failure: RawDeflateError?
        repeat {
            let piece = UnsafeRawBufferPointer(rebasing: input.prefix(1 << 30))
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: piece.assumingMemoryBound(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = UInt32(piece.count)
            let roomBefore = stream.pointee.avail_out
            let code = CPintleZlib.inflate(stream, Z_SYNC_FLUSH)
            // Bit 7 marks the end of a block, and the low bits count the bits that were read ahead. A call that does
            // nothing clears both.
            if Int(stream.pointee.avail_in) < piece.count || stream.pointee.avail_out < roomBefore {
                self.isBetweenBlocks = code == Z_OK && stream.pointee.data_type & 0x9F == 0x80
            }
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst(piece.count - Int(stream.pointee.avail_in)))
            switch code {
            // Z_BUF_ERROR: there was nothing to do, because there was no input, or the last call had just filled the
            // output.
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END:
                // A sender may mark a block as the last one and continue nevertheless (RFC 7692 §7.2.3.4). The data after
                // it may refer back to earlier data, so the window must stay; `inflateReset` would empty it.
                inflateResetKeep(stream)
            case Z_MEM_ERROR: failure = .outOfMemory
            case Z_NEED_DICT: failure = .corrupt(reason: "it needs a dictionary")
            default:
                let reason = stream.pointee.msg.map { String(cString: $0) } ?? "zlib gives no reason (\(code))"
                failure = .corrupt(reason: reason)
            }
        } while failure == nil && !input.isEmpty && stream.pointee.avail_out > 0
        return Outcome(count: room.count - Int(stream.pointee.avail_out), failure: failure)
    }
}
