// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import PintleLoop

@Suite struct ReceiveBuffersTests {
    @Test func aBufferThatNobodyHasServesAgainAtOnce() {
        var buffers = ReceiveBuffers()
        var places: [UnsafeRawPointer?] = []
        for _ in 0..<8 {
            let buffer = buffers.take()
            places.append(Self.place(of: buffer))
            buffers.giveBack(buffer, isShared: false)
        }
        #expect(Set(places).count == 1)
    }

    @Test func aSharedBufferServesAgainWhenItsOtherOwnerHasLetGoOfIt() {
        var buffers = ReceiveBuffers()
        var places: [UnsafeRawPointer?] = []
        for _ in 0..<64 {
            var buffer = buffers.take()
            places.append(Self.place(of: buffer))
            buffer.writeInteger(UInt8(7))
            let part = buffer.getSlice(at: 0, length: 1)
            buffers.giveBack(buffer, isShared: part != nil)
        }
        #expect(Set(places).count == 8)
    }

    @Test func aSharedBufferKeepsItsBytesAsLongAsSomebodyHasThem() {
        var buffers = ReceiveBuffers()
        var parts: [ByteBuffer] = []
        for number in 0..<64 {
            var buffer = buffers.take()
            #expect(buffer.readableBytes == 0 && buffer.writableBytes >= ReceiveBuffers.capacity)
            buffer.writeInteger(UInt8(number))
            parts.append(buffer)
            buffers.giveBack(buffer, isShared: true)
        }
        #expect(parts.map(\.readableBytesView.first) == (0..<64).map { UInt8($0) })
    }

    private static func place(of buffer: ByteBuffer) -> UnsafeRawPointer? {
        buffer.withVeryUnsafeBytes { $0.baseAddress }
    }
}
