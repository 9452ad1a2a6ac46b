// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCoding
import PintleTesting
import Testing

@testable import PintleWebSocket

/// Bytes that a peer may send, and their cost.
@Suite(.timeLimit(.minutes(15))) struct LimitTests {
    typealias Frame = WebSocketPeer.Frame

    /// Returns the events of a client with a limit.
    private static func events(
        _ bytes: [UInt8], limit: Int = 1000, _ compression: DeflateParameters? = DeflateParameters()
    ) -> [WebSocketEvent] {
        var machine = WebSocketMachine(role: .client, compression: compression, messageLimit: limit)
        var (input, output) = (ByteBuffer(bytes: bytes), ByteBuffer())
        return machine.receive(&input, answeringInto: &output)
    }

    private static func violation(_ events: [WebSocketEvent]) -> WebSocketViolation.Kind? {
        guard case .violation(let violation) = events.last else { return nil }
        return violation.kind
    }

    private static func message(_ bytes: [UInt8], isText: Bool = false) -> WebSocketEvent {
        .message(WebSocketPayload(isText: isText, bytes: ByteBuffer(bytes: bytes)))
    }

    /// A compressed message of bytes that another implementation has deflated.
    private static func compressed(_ bytes: [UInt8]) -> [UInt8] { Frame(2, bytes, reserved: 4).bytes }

    @Test func `a message of the limit passes, and one byte more does not`() throws {
        let most = repeated("x", 1000)
        #expect(Self.events(Frame.binary(most).bytes) == [Self.message(most)])
        #expect(Self.violation(Self.events(Frame.binary(most + [0]).bytes)) == .messageTooBig)
        let fragments = Frame.fragments(of: most, opcode: 2, size: 300)
        #expect(Self.events(fragments.flatMap(\.bytes)) == [Self.message(most)])
        let more = Frame.fragments(of: most + [0], opcode: 2, size: 300)
        #expect(Self.violation(Self.events(more.flatMap(\.bytes))) == .messageTooBig)
        // The header is enough.
        #expect(Self.violation(Self.events(Array(Frame.binary(most + [0]).bytes.prefix(4)))) == .messageTooBig)
        let deflating = try DeflatingPeer(own: (15, true), others: (15, false))
        #expect(Self.events(deflating.frames(of: most, isText: false, fragment: nil)[0].bytes) == [Self.message(most)])
        #expect(
            Self.violation(Self.events(deflating.frames(of: most + [0], isText: false, fragment: nil)[0].bytes))
                == .messageTooBig)
    }

    @Test func `a message that inflates to 128 MiB costs its limit`() throws {
        let deflater = try RawDeflater(windowBits: 15, level: 9)
        var bomb: [UInt8] = []
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        for round in 0..<128 {
            zeros.withUnsafeBytes { deflater.deflate($0, isLast: round == 127) { bomb += Array($0) } }
        }
        #expect(bomb.count < 140_000)
        var machine = WebSocketMachine(role: .client, compression: DeflateParameters(), messageLimit: 4 << 20)
        var input = ByteBuffer(bytes: Self.compressed(bomb))
        var (budget, turns) = (0, 0)
        while machine.takesInput {
            budget = 256 << 10
            if case .violation(let violation) = machine.next(&input, budget: &budget) {
                #expect(violation.kind == .messageTooBig && violation.closeCode == .messageTooBig)
            }
            turns += 1
        }
        // So much was made and no more: a turn makes as much as its budget.
        #expect((16...20).contains(turns), "\(turns)")
    }

    @Test func `compressed bytes beyond any message of the limit are refused before they are inflated`() {
        // A hundred thousand empty blocks, which inflate to nothing.
        let blocks = repeated([0x00, 0x00, 0x00, 0xFF, 0xFF], 500_000)
        #expect(Self.violation(Self.events(Self.compressed(blocks))) == .messageTooBig)
        var fragments: [UInt8] = Frame(2, Array(blocks.prefix(1000)), isFinal: false, reserved: 4).bytes
        for _ in 0..<10 { fragments += Frame(0, Array(blocks.prefix(1000)), isFinal: false).bytes }
        #expect(Self.violation(Self.events(fragments)) == .messageTooBig)
    }

    @Test func `the examples of RFC 7692 are inflated`() {
        let hello = Array("Hello".utf8)
        let one: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        let again: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
        #expect(Self.events(Self.compressed(one)) == [Self.message(hello)])
        let fragments = Frame(2, Array(one[..<3]), isFinal: false, reserved: 4).bytes + Frame(0, Array(one[3...])).bytes
        #expect(Self.events(fragments) == [Self.message(hello)])
        #expect(
            Self.events(Self.compressed(one) + Self.compressed(again)) == [Self.message(hello), Self.message(hello)])
        let stored: [UInt8] = [0x00, 0x05, 0x00, 0xFA, 0xFF] + hello + [0x00]
        #expect(Self.events(Self.compressed(stored)) == [Self.message(hello)])
        let final: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]
        #expect(Self.events(Self.compressed(final)) == [Self.message(hello)])
        // Data after a final block may refer to data before it.
        #expect(
            Self.events(Self.compressed(final) + Self.compressed(again)) == [Self.message(hello), Self.message(hello)])
        let twoBlocks: [UInt8] = [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]
        #expect(Self.events(Self.compressed(twoBlocks)) == [Self.message(hello)])
        #expect(Self.events(Self.compressed([0x00])) == [Self.message([])])
        #expect(Self.events(Self.compressed([])) == [Self.message([])])
    }

    @Test func `an agreement to forget is kept`() {
        var agreed = DeflateParameters()
        agreed.serverNoContextTakeover = true
        let one: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        let again: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
        let events = Self.events(Self.compressed(one) + Self.compressed(one), agreed)
        #expect(events == Array(repeating: Self.message(Array("Hello".utf8)), count: 2))
        #expect(Self.violation(Self.events(Self.compressed(one) + Self.compressed(again), agreed)) == .compression)
    }

    @Test(
        arguments: [
            [0xF2, 0x48, 0xCD, 0xC9], [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07], [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
            [0x07],
            [0xFF, 0xFF], [0x00, 0x09, 0x00, 0xF6, 0xFF, 0x48], [0x02, 0xFF, 0x00],
        ] as [[UInt8]])
    func `deflate that is broken or cut off ends the connection`(bytes: [UInt8]) {
        #expect(Self.violation(Self.events(Self.compressed(bytes))) == .compression)
    }

    @Test func `compressed text that is not UTF-8 fails as soon as it is inflated`() throws {
        let deflater = try RawDeflater(windowBits: 15, level: 1)
        var bytes: [UInt8] = []
        [0x41, 0xFF, 0x41].withUnsafeBytes { deflater.deflate($0, isLast: true) { bytes += Array($0) } }
        let begun = Frame(1, bytes, isFinal: false, reserved: 4).bytes
        #expect(Self.violation(Self.events(begun)) == .invalidText)
    }

    @Test func `a Close says what it can, and no more`() {
        #expect(WebSocketClose(.normal, String(repeating: "€", count: 50)).payload.readableBytes == 2 + 123)
        #expect(WebSocketClose(.normal, String(repeating: "é", count: 62)).reason.utf8.count == 122)
        #expect(WebSocketClose(.abnormal, "why").payload.readableBytes == 0)
        #expect(WebSocketClose(.noStatus).payload.readableBytes == 0 && WebSocketClose(.noStatus).code == .noStatus)
        #expect(Self.events(Frame(8).bytes) == [.close(WebSocketClose(.noStatus))])
        #expect(Self.violation(Self.events(Frame.close(1000, [0xC3]).bytes)) == .invalidText)
        let codes = (0...UInt16.max).filter { WebSocketCloseCode(rawValue: $0).mayBeSent }
        #expect(codes == Array(1000...1003) + Array(1007...1014) + Array(3000...4999))
    }

    @Test func `control frames are short when they are sent, too`() {
        let machine = WebSocketMachine(role: .server)
        var output = ByteBuffer()
        machine.writePing(ByteBuffer(repeating: 1, count: 200), into: &output)
        #expect(frames(in: output) == [Frame(9, repeated([1], 125))])
    }

    @Test func `a long message goes in fragments of 64 KiB, a short one in one frame`() {
        var machine = WebSocketMachine(role: .server)
        var output = ByteBuffer()
        machine.write(WebSocketPayload(isText: false, bytes: ByteBuffer(repeating: 7, count: 150_000)), into: &output)
        machine.write(WebSocketPayload(isText: true, bytes: ByteBuffer(repeating: 0x41, count: 65_536)), into: &output)
        let sent = frames(in: output)
        #expect(sent.map(\.opcode) == [2, 0, 0, 1] && sent.map(\.isFinal) == [false, false, true, true])
        #expect(sent.map(\.payload.count) == [65_536, 65_536, 150_000 - 131_072, 65_536])
    }

    @Test func `a window of 256 bytes is kept to`() throws {
        // Data that repeats at a distance of 240 to 600 bytes, which a larger window would use.
        var generator = SeededGenerator(seed: 1)
        var bytes: [UInt8] = []
        for size in stride(from: 240, to: 600, by: 7) {
            let part = (0..<size).map { _ in UInt8.random(in: 0...255, using: &generator) }
            bytes += part + part
        }
        for level in [1, 4, 6, 9] {
            let deflater = try RawDeflater(windowBits: 8, level: level)
            var deflated: [UInt8] = []
            bytes.withUnsafeBytes { deflater.deflate($0, isLast: true) { deflated += Array($0) } }
            let inflater = try RawInflater(windowBits: 8)
            var plain: [UInt8] = []
            var byte: UInt8 = 0
            try deflated.withUnsafeBytes { input in
                var rest = input
                // Byte by byte, so that nothing but the window can be reached back to.
                while true {
                    let outcome = withUnsafeMutableBytes(of: &byte) { inflater.inflate(&rest, into: $0) }
                    if let failure = outcome.failure { throw failure }
                    guard outcome.count > 0 else { return }
                    plain.append(byte)
                }
            }
            #expect(plain == bytes, "level \(level)")
            #expect(inflater.isBetweenBlocks)
        }
    }
}
