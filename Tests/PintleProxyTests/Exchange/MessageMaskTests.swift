// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleSession
import PintleTesting
import Testing

@testable import PintlePolicy
@testable import PintleProxy
@testable import PintleWebSocket

/// Masks of WebSocket messages that repeat the value of a credential.
struct MessageMaskTests {
    private static let value = "aS3cr3aS3cr3t"
    private static let stars = String(repeating: "*", count: value.utf8.count)

    private static var mask: MessageMask { MessageMask { EchoMask(TextFinder([Array(Self.value.utf8)])) } }

    private static func frame(_ opcode: Opcode, _ payload: some Collection<UInt8>, isFinal: Bool = true) -> ByteBuffer {
        var header = FrameHeader(opcode, length: payload.count)
        header.isFinal = isFinal
        var buffer = ByteBuffer()
        buffer.writeFrameHeader(header)
        buffer.writeBytes(payload)
        return buffer
    }

    /// A message in fragments of random lengths, with pings between them.
    private static func message(_ text: String, ping: String, _ generator: inout SeededGenerator) -> ByteBuffer {
        var (rest, wire, isFirst) = (Array(text.utf8)[...], ByteBuffer(), true)
        repeat {
            let piece = rest.prefix(Int.random(in: 0...20, using: &generator))
            rest = rest.dropFirst(piece.count)
            wire.writeImmutableBuffer(
                Self.frame(isFirst ? .text : .continuation, piece, isFinal: rest.isEmpty))
            isFirst = false
            if Bool.random(using: &generator) { wire.writeImmutableBuffer(Self.frame(.ping, ping.utf8)) }
        } while !rest.isEmpty
        return wire
    }

    /// The payloads of data frames, joined, and those of others.
    private static func payloads(_ wire: ByteBuffer) throws -> (messages: String, controls: [String]) {
        var (walk, messages, controls) = (FrameWalk(), [UInt8](), [String]())
        try wire.withUnsafeReadableBytes { bytes in
            var rest = bytes
            while let part = try walk.next(in: rest) {
                let bytes = Array(rest.prefix(part.count))
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
                switch part {
                case .header: break
                case .payload(_, isControl: true, _): controls.append(String(decoding: bytes, as: UTF8.self))
                case .payload(_, isControl: false, let endsMessage):
                    messages += endsMessage ? bytes + Array("|".utf8) : bytes
                }
            }
        }
        return (String(decoding: messages, as: UTF8.self), controls)
    }

    @Test func `random messages in random fragments and pieces are masked, and keep their frames`() throws {
        var generator = SeededGenerator(seed: Seed.ofThisRun)
        for _ in 0..<2000 {
            var (wire, expected) = (ByteBuffer(), "")
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let parts = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                    [Self.value, "aS3cr3", "text", "a", "aS3cr3aS3cr3aS3cr3t", "ü"].randomElement(using: &generator)
                        ?? ""
                }
                let text = parts.joined()
                expected += text.replacing(Self.value, with: Self.stars) + "|"
                wire.writeImmutableBuffer(Self.message(text, ping: "p\(Self.value)", &generator))
            }
            let (mask, whole) = (Self.mask, wire)
            var heard = ByteBuffer()
            while wire.readableBytes > 0 {
                let count = min(wire.readableBytes, Int.random(in: 1...40, using: &generator))
                heard.writeImmutableBuffer(try mask.take(wire.readSlice(length: count) ?? ByteBuffer()))
            }
            #expect(heard.readableBytes == whole.readableBytes)
            let (messages, controls) = try Self.payloads(heard)
            #expect(messages == expected, "the seed \(Seed.ofThisRun)")
            #expect(controls.joined().replacing("p\(Self.stars)", with: "") == "", "the seed \(Seed.ofThisRun)")
        }
    }

    @Test func `a message passes as soon as it is known to be harmless`() throws {
        let mask = Self.mask
        let begun = Self.frame(.text, "hello aS3".utf8, isFinal: false)
        #expect(try mask.take(begun).readableBytes == begun.readableBytes - 3)
        let rest = Self.frame(.continuation, ".".utf8)
        #expect(try mask.take(rest).readableBytes == rest.readableBytes + 3)
        // A message may end with the beginning of a value.
        let whole = Self.frame(.text, "hello aS3".utf8)
        #expect(try mask.take(whole) == whole)
        #expect(try mask.take(Self.frame(.text, "".utf8)).readableBytes == 2)
    }

    @Test(arguments: [
        ([0xC1, 0x01, 0x00] as [UInt8], "a frame with a reserved bit that means nothing"),
        ([0x81, 0x81, 1, 2, 3, 4, 0], "a frame that is masked"),
        ([0x80, 0x00], "a fragment that continues no message"),
    ])
    func `messages that cannot be told apart break the connection off`(bytes: [UInt8], reason: String) {
        #expect {
            try Self.mask.take(ByteBuffer(bytes: bytes))
        } throws: {
            "\($0)" == "its messages cannot be searched for credentials: the server sent \(reason)"
        }
    }

    @Test func `a message that is divided without end is broken off`() throws {
        let mask = Self.mask
        _ = try mask.take(Self.frame(.text, "a".utf8, isFinal: false))
        let pings = Self.frame(.ping, String(repeating: "p", count: 125).utf8)
        #expect(throws: HandedOverRefusal.self) { for _ in 0..<1000 { _ = try mask.take(pings) } }
    }
}
