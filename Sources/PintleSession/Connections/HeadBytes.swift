// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleMessage

/// Writes the pieces of a head into reserved memory: a `ByteBuffer` would check for each piece if its storage is shared, and if
/// it has room.
package struct HeadBytes: ~Copyable {
    private let room: UnsafeMutableRawBufferPointer
    fileprivate private(set) var count = 0

    fileprivate init(_ room: UnsafeMutableRawBufferPointer) { self.room = room }

    package mutating func write(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= self.room.count - self.count, "BUG: a head is longer than was said")
        UnsafeMutableRawBufferPointer(rebasing: self.room[self.count...]).copyMemory(from: bytes)
        self.count += bytes.count
    }

    package mutating func write(_ text: StaticString) {
        self.write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func write(text: String) {
        var text = text
        text.withUTF8 { self.write(UnsafeRawBufferPointer($0)) }
    }

    package mutating func write(decimal value: UInt64) {
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { space in
            self.write(UnsafeRawBufferPointer(rebasing: space.digits(of: value, radix: 10)))
        }
    }

    package mutating func write(_ fields: Fields) { fields.forEachRun { self.write($0) } }

    package mutating func write(contentLength length: UInt64) {
        self.write("Content-Length: ")
        self.write(decimal: length)
        self.write("\r\n")
    }
}

extension ByteBuffer {
    /// Writes a head with the pieces that `body` writes.
    ///
    /// - Parameter limit: the highest number of bytes of the head.
    package mutating func writeHead(atMost limit: Int, _ body: (inout HeadBytes) -> Void) {
        self.writeWithUnsafeMutableBytes(minimumWritableBytes: limit) { room in
            var head = HeadBytes(room)
            body(&head)
            return head.count
        }
    }
}
