// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleTesting
import Testing

@testable import PintleWebSocket

/// Headers and masks (RFC 6455 §5.2, §5.3).
@Suite struct FrameTests {
    private static let open = FrameHeader.Expectation(role: .client, room: (.max, .max))

    private static func read(
        _ bytes: [UInt8], _ expected: FrameHeader.Expectation = FrameTests.open
    ) throws(WebSocketViolation) -> (header: FrameHeader, size: Int)? {
        var result = Result<(header: FrameHeader, size: Int)?, WebSocketViolation>.success(nil)
        bytes.withUnsafeBytes { bytes in
            result = Result { () throws(WebSocketViolation) in try FrameHeader.read(bytes, expected) }
        }
        return try result.get()
    }

    private static func violation(
        _ bytes: [UInt8], _ expected: FrameHeader.Expectation = FrameTests.open
    ) -> WebSocketViolation.Kind? {
        do throws(WebSocketViolation) {
            _ = try Self.read(bytes, expected)
            return nil
        } catch {
            return error.kind
        }
    }

    @Test(arguments: [0, 1, 125, 126, 127, 65_535, 65_536, 1 << 31, 1 << 40, Int.max])
    func `a header that is written is read, once all of it is there`(length: Int) throws {
        for mask in [nil, FrameMask(key: 0x0403_0201)] {
            var header = FrameHeader(.binary, length: length)
            header.mask = mask
            header.isFinal = length % 2 == 0
            var buffer = ByteBuffer()
            buffer.writeFrameHeader(header)
            let bytes = Array(buffer.readableBytesView)
            let expected = FrameHeader.Expectation(role: mask == nil ? .client : .server, room: (.max, .max))
            for count in 0..<bytes.count { #expect(try Self.read(Array(bytes[..<count]), expected) == nil) }
            let read = try #require(try Self.read(bytes + [1, 2, 3], expected))
            #expect(read.header == header && read.size == bytes.count)
            if mask != nil { #expect(bytes.suffix(4) == [1, 2, 3, 4]) }
        }
    }

    @Test func `a length has as few bytes as it can, and 63 bits at most`() throws {
        let wrong: [[UInt8]] = [
            [0x82, 126, 0, 0], [0x82, 126, 0, 125], [0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
            [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], [0x82, 127] + Array(repeating: 0xFF, count: 8),
        ]
        for bytes in wrong { #expect(Self.violation(bytes) == .length, "\(bytes)") }
        #expect(try Self.read([0x82, 126, 0, 126])?.header.length == 126)
        #expect(try Self.read([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0])?.header.length == 65_536)
    }

    @Test func `each byte is judged when it is there`() {
        var within = Self.open
        within.isWithinMessage = true
        var compressing = Self.open
        compressing.allowsCompression = true
        let masked = FrameHeader.Expectation(role: .server, room: (.max, .max))
        #expect(Self.violation([0xC1]) == .reservedBit && Self.violation([0xC1], compressing) == nil)
        #expect(Self.violation([0xA1], compressing) == .reservedBit && Self.violation([0x91]) == .reservedBit)
        // Later fragments and control frames are never compressed (RFC 7692 §6.1).
        compressing.isWithinMessage = true
        #expect(Self.violation([0xC0], compressing) == .reservedBit && Self.violation([0xC9]) == .reservedBit)
        #expect(Self.violation([0x83]) == .reservedOpcode && Self.violation([0x8F]) == .reservedOpcode)
        #expect(Self.violation([0x80]) == .fragmentation && Self.violation([0x81], within) == .fragmentation)
        #expect(Self.violation([0x09]) == .controlFrame && Self.violation([0x89, 126]) == .controlFrame)
        #expect(Self.violation([0x81, 0x80]) == .masking && Self.violation([0x81, 0x00], masked) == .masking)
        #expect(Self.violation([0x80], within) == nil && Self.violation([0x89, 125], within) == nil)
    }

    @Test func `a frame that is over the limit is refused by its header`() {
        let limited = FrameHeader.Expectation(role: .client, allowsCompression: true, room: (10, 20))
        #expect(Self.violation([0x82, 10], limited) == nil && Self.violation([0x82, 11], limited) == .messageTooBig)
        #expect(Self.violation([0xC2, 20], limited) == nil && Self.violation([0xC2, 21], limited) == .messageTooBig)
        #expect(Self.violation([0x89, 21], limited) == nil, "control frames have a limit of their own")
    }

    @Test func `masking goes byte by byte, wherever the words begin`() {
        let mask = FrameMask(key: 0xDDCC_BBAA)
        for count in 0...40 {
            for offset in 0...9 {
                let plain = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
                let expected = plain.indices.map { plain[$0] ^ [0xAA, 0xBB, 0xCC, 0xDD][($0 + offset) % 4] }
                var bytes = plain
                bytes.withUnsafeMutableBytes { mask.apply(to: $0, at: offset) }
                #expect(bytes == expected, "\(count) bytes from \(offset)")
            }
        }
    }

    @Test func `masks are not foreseen`() {
        #expect(Set((0..<100).map { _ in FrameMask.random() }).count > 98)
    }
}
