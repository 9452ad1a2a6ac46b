// SPDX-License-Identifier: Apache-2.0

internal import CPintleZlib

/// The checksum of gzip and PNG (RFC 1952 §8), for what is to be known again after a disk has kept it.
package struct CRC32: Sendable {
    private var state: UInt

    /// Begins with no bytes.
    package init() { self.state = 0 }

    /// The checksum of all bytes so far; 0 for none.
    package var value: UInt32 { UInt32(truncatingIfNeeded: self.state) }

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        // zlib begins anew where it is given no place.
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        self.state = crc32_z(self.state, start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// Adds bytes.
    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { self.update($0) } }

    /// Adds the bytes of a number, the lowest one first.
    package mutating func update(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { self.update($0) }
    }
}
