// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleMessage

extension ByteBuffer {
    /// Writes one chunk (RFC 9112 §7.1). Does nothing if it is empty: an empty chunk would end the body.
    package mutating func writeChunk(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0 else { return }
        self.writeChunkSize(bytes.count)
        self.writeBytes(bytes)
        self.writeStaticString("\r\n")
    }

    /// Writes the beginning of a chunk. This number of bytes, at least one, and a CRLF must follow.
    package mutating func writeChunkSize(_ count: Int) {
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { space in
            _ = self.writeBytes(UnsafeRawBufferPointer(rebasing: space.digits(of: UInt64(count), radix: 16)))
        }
        self.writeStaticString("\r\n")
    }

    /// Writes the last chunk and the trailers.
    package mutating func writeLastChunk(_ trailers: Fields) {
        self.writeStaticString("0\r\n")
        trailers.forEachRun { self.writeBytes($0) }
        self.writeStaticString("\r\n")
    }

    /// Returns a part of the readable bytes, in shared memory.
    func slice(_ range: Range<Int>) -> ByteBuffer? {
        self.getSlice(at: self.readerIndex + range.lowerBound, length: range.count)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Writes a number without an intermediate string, as this runs for every message.
    ///
    /// - Parameter radix: from 10 to 16.
    /// - Returns: the last of this buffer's bytes, of which there must be twenty.
    func digits(of value: UInt64, radix: UInt64) -> Slice<UnsafeRawBufferPointer> {
        var rest = value
        var start = 20
        repeat {
            start -= 1
            let digit = UInt8(truncatingIfNeeded: rest % radix)
            self[start] = digit < 10 ? 0x30 + digit : 0x61 + digit - 10
            rest /= radix
        } while rest > 0
        return UnsafeRawBufferPointer(self)[start..<20]
    }
}
