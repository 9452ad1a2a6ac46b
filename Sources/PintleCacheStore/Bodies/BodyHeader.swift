// SPDX-License-Identifier: Apache-2.0

internal import PintleCoding

/// The first bytes of a body's file. They identify the entry and the index of the file, so that a file in the wrong place is
/// never served.
///
/// All numbers are little-endian: 8 bytes of magic, the version (4), the generation (8), the entry's id (8), and the CRC-32 of
/// these 28 bytes (4).
package struct BodyHeader: Sendable, Hashable {
    /// The length of the header in bytes.
    package static let byteCount = 32
    static let magic = Array("PntlBody".utf8)
    static let version: UInt32 = 1

    /// A random number of the index; so a new index does not accept files of the old one.
    package let generation: UInt64
    /// The entry's number in its index.
    package let id: Int64

    package init(generation: UInt64, id: Int64) {
        self.generation = generation
        self.id = id
    }

    /// Reads a header.
    ///
    /// - Returns: nil unless there are exactly ``byteCount`` bytes, of this version and with the right checksum.
    package init?(decoding bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount, bytes.starts(with: Self.magic) else { return nil }
        func number<Number: FixedWidthInteger>(at offset: Int, _: Number.Type) -> Number {
            Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
        }
        guard number(at: 8, UInt32.self) == Self.version else { return nil }
        self.init(generation: number(at: 12, UInt64.self), id: number(at: 20, Int64.self))
        var checksum = CRC32()
        checksum.update(UnsafeRawBufferPointer(rebasing: bytes[..<28]))
        guard number(at: 28, UInt32.self) == checksum.value else { return nil }
    }

    /// The header in the form in which it is written.
    package var bytes: [UInt8] {
        var bytes = Self.magic
        bytes.append(number: Self.version)
        bytes.append(number: self.generation)
        bytes.append(number: self.id)
        var checksum = CRC32()
        checksum.update(bytes)
        bytes.append(number: checksum.value)
        return bytes
    }
}

extension [UInt8] {
    /// Appends the bytes of a number in little-endian order.
    mutating func append(number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.littleEndian) { self.append(contentsOf: $0) }
    }
}
