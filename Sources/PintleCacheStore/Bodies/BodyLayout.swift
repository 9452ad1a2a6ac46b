// SPDX-License-Identifier: Apache-2.0

package import NIOCore
internal import PintleCoding

/// The layout of a body's file: after the header follow blocks of 64 KiB, the last one shorter, each followed by its checksum.
///
/// A checksum is the CRC-32 of the generation, the id, the block's number and its bytes; so a block from another file, or from
/// another offset, is not accepted.
package struct BodyLayout: Sendable, Hashable {
    /// The size in bytes of each block but the last.
    package static let blockSize = 64 * 1024
    /// The size of a checksum in bytes.
    static let checksumSize = 4
    /// The most blocks that are read at once.
    static let blocksOfPiece = 4
    /// The most bytes that are read at once.
    package static let pieceSize = Self.blocksOfPiece * Self.blockSize
    /// The longest body that has a layout, in bytes, so that every computation with it fits into 64 bits.
    package static let longestBody: UInt64 = 1 << 48

    package let header: BodyHeader
    /// The length of the body in bytes, without header and checksums.
    package let length: UInt64

    /// - Returns: nil if the body is longer than ``longestBody``.
    package init?(header: BodyHeader, length: UInt64) {
        guard length <= Self.longestBody else { return nil }
        self.header = header
        self.length = length
    }

    /// The size in bytes of the file for a body of `length` bytes (0…``longestBody``).
    package static func fileSize(ofLength length: UInt64) -> UInt64 {
        let (whole, rest) = length.quotientAndRemainder(dividingBy: UInt64(Self.blockSize))
        let blocks = whole + (rest > 0 ? 1 : 0)
        return UInt64(BodyHeader.byteCount) + length + blocks * UInt64(Self.checksumSize)
    }

    /// The checksum of a block.
    static func checksum(_ header: BodyHeader, _ number: UInt64, _ block: UnsafeRawBufferPointer) -> UInt32 {
        var checksum = CRC32()
        checksum.update(header.generation)
        checksum.update(header.id)
        checksum.update(number)
        checksum.update(block)
        return checksum.value
    }

    /// Reads a part of the body, after verifying every block of it.
    ///
    /// - Parameters:
    ///   - offset: the offset in the body; there are no bytes at or after its end.
    ///   - count: the most bytes wanted; the result has at most ``pieceSize``, and may end at a block boundary.
    ///   - source: fills the space from an offset in the file, and returns the number of bytes read.
    /// - Returns: nil if the file is damaged: a block is missing, too short, or altered.
    package func piece<Failure: Error>(
        at offset: UInt64, upTo count: Int, from source: (UInt64, UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> ByteBuffer? {
        guard offset < self.length, count > 0 else { return ByteBuffer() }
        let size = UInt64(Self.blockSize)
        let first = offset / size
        let skipped = Int(offset % size)
        let wanted = min(count, Self.pieceSize - skipped)
        // All blocks that contain wanted bytes, completely.
        let start = first * size
        let blocks = (skipped + wanted + Self.blockSize - 1) / Self.blockSize
        let bytes = Int(min(self.length - start, UInt64(blocks * Self.blockSize)))
        let stored = bytes + (bytes + Self.blockSize - 1) / Self.blockSize * Self.checksumSize
        let place = UInt64(BodyHeader.byteCount) + first * (size + UInt64(Self.checksumSize))
        var failure: Failure?
        var raw = [UInt8](unsafeUninitializedCapacity: stored) { space, filled in
            do throws(Failure) {
                let space = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(space)[..<stored])
                filled = min(stored, max(0, try source(place, space)))
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        guard raw.count == stored else { return nil }
        return raw.withUnsafeMutableBytes { self.verified($0, from: first, skipping: skipped, taking: wanted) }
    }

    /// The bytes of stored blocks without their checksums; nil if a checksum is wrong.
    private func verified(
        _ stored: UnsafeMutableRawBufferPointer, from first: UInt64, skipping: Int, taking wanted: Int
    ) -> ByteBuffer? {
        var buffer = ByteBufferAllocator().buffer(capacity: stored.count)
        var rest = UnsafeRawBufferPointer(stored)
        var number = first
        while !rest.isEmpty {
            let size = min(Self.blockSize, rest.count - Self.checksumSize)
            let block = UnsafeRawBufferPointer(rebasing: rest[..<size])
            let checksum = UInt32(littleEndian: rest.loadUnaligned(fromByteOffset: size, as: UInt32.self))
            guard checksum == Self.checksum(self.header, number, block) else { return nil }
            buffer.writeBytes(block)
            rest = UnsafeRawBufferPointer(rebasing: rest[(size + Self.checksumSize)...])
            number += 1
        }
        buffer.moveReaderIndex(forwardBy: skipping)
        return buffer.readSlice(length: min(wanted, buffer.readableBytes))
    }
}
