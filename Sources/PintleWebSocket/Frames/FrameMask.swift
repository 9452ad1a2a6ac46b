// SPDX-License-Identifier: Apache-2.0

/// The mask of a client's frame, so that nobody can choose the bytes that they have on the wire (RFC 6455 §5.3,
/// §10.3).
package struct FrameMask: Sendable, Hashable {
    /// The four bytes, the first one lowest.
    package let key: UInt32

    package init(key: UInt32) { self.key = key }

    /// Makes one of four bytes.
    init(_ bytes: Slice<UnsafeRawBufferPointer>) {
        self.key = bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Makes one that nobody can foresee, of the system's random source.
    package static func random() -> FrameMask {
        var generator = SystemRandomNumberGenerator()
        return FrameMask(key: generator.next())
    }

    /// Masks bytes, or takes their mask away.
    ///
    /// - Parameter offset: the place of the first one in its frame.
    package func apply(to bytes: UnsafeMutableRawBufferPointer, at offset: Int) {
        self.apply(to: UnsafeRawBufferPointer(bytes), into: bytes, at: offset)
    }

    /// Puts `source`, masked, at the beginning of `target`, which may be the same place.
    package func apply(to source: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer, at offset: Int) {
        precondition(target.count >= source.count, "BUG: there is no room for what is masked")
        let shift = UInt32(truncatingIfNeeded: offset & 3) * 8
        // The shifts are by less than the width: one by 32 would keep every bit.
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
