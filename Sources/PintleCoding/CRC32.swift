// SPDX-License-Identifier: Apache-2.0

internal import CPintleZlib

/// The checksum of gzip and PNG (RFC 1952 §8), which detects damage of data that were on a disk.
package struct CRC32: Sendable {
    private var state: UInt

    /// Creates the checksum of no bytes.
    package init() { self.state = 0 }

    /// The checksum of all bytes so far; 0 for none.
    package var value: UInt32 { UInt32(truncatingIfNeeded: self.state) }

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        // zlib would reset the checksum if the pointer were null.
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return }
        self.state = crc32_z(self.state, start.assumingMemoryBound(to: UInt8.self), bytes.count)
    }

    /// Adds bytes.
    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { self.update($0) } }

    /// Adds the bytes of a number in little-endian order.
    package mutating func update(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { self.update($0) }
    }
}
