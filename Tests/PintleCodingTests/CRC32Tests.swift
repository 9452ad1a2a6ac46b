// SPDX-License-Identifier: Apache-2.0

import PintleCoding
import Testing

/// Checksums of files.
@Suite struct CRC32Tests {
    @Test func `it has the check value of its definition, also in pieces`() {
        var whole = CRC32()
        #expect(whole.value == 0)
        whole.update(Array("123456789".utf8))
        #expect(whole.value == 0xCBF4_3926)
        var pieces = CRC32()
        for byte in "123456789".utf8 {
            pieces.update([byte])
            pieces.update([])
        }
        #expect(pieces.value == whole.value)
    }

    @Test func `a number is its bytes, the lowest one first`() {
        var (number, bytes) = (CRC32(), CRC32())
        number.update(0x0102_0304 as UInt32)
        bytes.update([4, 3, 2, 1])
        #expect(number.value == bytes.value)
    }
}
