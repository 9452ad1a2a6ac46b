// SPDX-License-Identifier: Apache-2.0

/// The mask of a client's frame. It prevents an application from choosing the bytes that are sent on the wire (RFC 6455
/// §5.3, §10.3).
package struct FrameMask: Sendable, Hashable {
    /// The four bytes in little-endian order.
    package let key: UInt32

    package init(key: UInt32) { self.key = key }

    /// Creates a mask from four bytes.
    init(_ bytes: Slice<UnsafeRawBufferPointer>) {
        self.key = bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Creates an unpredictable mask from the system's random source.
    package static func random() -> FrameMask {
        var generator = SystemRandomNumberGenerator()
        return FrameMask(key: generator.next())
    }

    /// Masks or unmasks bytes in place.
    ///
    /// - Parameter offset: the position of the first byte in its frame.
    package func apply(to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        self.apply(to: UnsafeRawBufferPointer(bytes), into: bytes, at: offset)
    }

    /// Writes `source`, masked, to the beginning of `target`; both may be the same memory.
    package func apply(to source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer, at offset: Int) {
        precondition(target.count >= source.count, "BUG: there is no room for what is masked")
        let shift = UInt32(truncatingIfNeeded: offset & 3) * 8
        // A shift by the full width of 32 would not clear the bits, so 0 is handled separately.
        let turned = shift == 0 ? self.key : self.key >> shift | self.key << (32 - shift)
        let word = UInt64(turned) << 32 | UInt64(turned)
        var place = 0
        while place + 8 <= source.count {
            let bytes = source.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            target.storeBytes(of: bytes ^ word.littleEndian, toByteOffset: place, as: UInt64.self)
            place += 8
        }
        while place < source.count {
            target[place] = source[place] ^ UInt8(truncatingIfNeeded: word >> (UInt64(place & 7) * 8))
            place += 1
        }
    }
}
