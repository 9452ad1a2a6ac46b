// SPDX-License-Identifier: Apache-2.0

internal import CPintleZlib

/// Why a bare deflate stream cannot be gone on with.
package enum RawDeflateError: Error, Sendable, Equatable {
    /// The bytes are no deflate; the reason is zlib's.
    case corrupt(reason: String)
    /// There is no memory for the stream.
    case outOfMemory
}

/// Inflates a bare deflate stream (RFC 1951) that goes on from one message to the next, as RFC 7692 §7.2.2 has it.
///
/// Memory is bounded whatever the bytes say: some kilobytes and a window of at most 32 KiB. One that has failed is of no
/// further use until it is reset.
package final class RawInflater {
    /// The result of a call.
    package struct Outcome {
        /// The number of bytes that were made. As many as there was room for: there may be more.
        package let count: Int
        /// The failure behind those bytes.
        package let failure: RawDeflateError?
    }

    /// zlib keeps a pointer to it, so it may not move.
    private let stream: UnsafeMutablePointer<z_stream>
    /// True where what was taken ends with a block that does not say to be the last one, and with a whole byte.
    package private(set) var isBetweenBlocks = false

    /// Begins a stream.
    ///
    /// - Parameter windowBits: the logarithm of the farthest distance that the bytes may reach back, 8…15.
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

    /// Forgets what came before: nothing that comes can reach back to it.
    package func reset() {
        self.isBetweenBlocks = false
        inflateReset(self.stream)
    }

    /// Inflates as much as there is room for.
    ///
    /// - Parameters:
    ///   - input: loses what was taken. All of it is, where less is made than there is room for.
    ///   - output: not empty.
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
            // 128 stands for the end of a block, and the low bits count what was read ahead. A call that does nothing
            // clears both.
            if Int(stream.pointee.avail_in) < piece.count || stream.pointee.avail_out < roomBefore {
                self.isBetweenBlocks = code == Z_OK && stream.pointee.data_type & 0x9F == 0x80
            }
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst(piece.count - Int(stream.pointee.avail_in)))
            switch code {
            // There was nothing to do: no input, or output that the last call has just filled to the end.
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END:
                // A sender may end a block as the last one and go on all the same (RFC 7692 §7.2.3.4). What follows
                // may reach back to what came before, so the window stays, which `inflateReset` would empty.
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
