// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleTesting
import Testing

@testable import PintleWebSocket

/// Bytes mean the same however they are cut, and however little is worked on at a time.
@Suite(.timeLimit(.minutes(15))) struct SplitTests {
    typealias Frame = WebSocketPeer.Frame

    /// Bytes that a peer could send: frames in order, frames with a fault, and bytes that are none.
    private static func bytes(_ numbers: inout SeededGenerator, role: WebSocketRole, deflating: DeflatingPeer)
        -> [UInt8]
    {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...12, using: &numbers) {
            let size = [0, 1, 5, 125, 126, 127, 300, 5000, 66_000][Int.random(in: 0...8, using: &numbers)]
            let text = Self.text(size, &numbers)
            var frames: [Frame]
            switch Int.random(in: 0...19, using: &numbers) {
            case 0: frames = [Frame(8, [0x03, 0xE8] + text.prefix(123))]
            case 1: frames = [Frame(UInt8.random(in: 0...15, using: &numbers), Array(text.prefix(130)))]
            case 2: frames = [.text(text + [0xFF, 0x41])]
            case 3:
                frames = [
                    Frame(
                        2, text, isFinal: Bool.random(using: &numbers),
                        reserved: UInt8.random(in: 0...7, using: &numbers))
                ]
            case 4...7: frames = [Frame(UInt8.random(in: 9...10, using: &numbers), Array(text.prefix(125)))]
            case 8...11: frames = deflating.frames(of: text.isEmpty ? [0x41] : text, isText: true, fragment: 100)
            default:
                frames = Frame.fragments(of: text, opcode: 1, size: Int.random(in: 1...70_000, using: &numbers))
                if size > 1000, frames.count > 20 { frames = [.text(text)] }
            }
            if frames.count > 1, Bool.random(using: &numbers) { frames.insert(.ping("between"), at: 1) }
            if role == .server {
                for index in frames.indices {
                    frames[index].mask = (0..<4).map { _ in UInt8.random(in: 0...255, using: &numbers) }
                }
            }
            bytes += frames.flatMap(\.bytes)
        }
        if Int.random(in: 0...3, using: &numbers) == 0 {
            let place = Int.random(in: 0..<bytes.count, using: &numbers)
            bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &numbers)
        }
        return bytes
    }

    private static func text(_ count: Int, _ numbers: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += Self.words[Int.random(in: 0..<Self.words.count, using: &numbers)] }
        return bytes
    }

    /// Words with characters of all lengths.
    private static let words: [[UInt8]] = {
        var numbers = SeededGenerator(seed: 1)
        let alphabet = ["a", "b", " ", "ä", "€", "𝄞"].map { Array($0.utf8) }
        return (0..<64).map { _ in
            (0..<Int.random(in: 1...60, using: &numbers)).flatMap { _ in
                alphabet[Int.random(in: 0...5, using: &numbers)]
            }
        }
    }()

    private static func events(
        _ bytes: [UInt8], role: WebSocketRole, cuts: () -> Int, budgets: () -> Int
    ) -> ([WebSocketEvent], ByteBuffer) {
        var machine = WebSocketMachine(
            role: role, compression: DeflateParameters(), messageLimit: 70_000, makeMask: { FrameMask(key: 7) })
        var (input, output) = (ByteBuffer(), ByteBuffer())
        var events: [WebSocketEvent] = []
        var place = 0
        while place < bytes.count {
            let end = min(place + cuts(), bytes.count)
            // Bytes that were not taken are offered again, in new memory.
            input = ByteBuffer(bytes: Array(input.readableBytesView) + bytes[place..<end])
            place = end
            var budget = 0
            repeat {
                budget = budgets()
                while let event = machine.next(&input, budget: &budget) {
                    machine.answer(event, into: &output)
                    events.append(event)
                }
            } while budget <= 0
            #expect(input.readableBytes <= 139)
        }
        return (events, output)
    }

    @Test(arguments: WebSocketRole.allCases)
    func `any cut of the bytes gives the same events and answers`(role: WebSocketRole) throws {
        var numbers = SeededGenerator(seed: Seed.ofThisRun)
        for round in 0..<80 {
            let deflating = try DeflatingPeer(own: (15, round % 2 == 0), others: (15, false))
            let bytes = Self.bytes(&numbers, role: role, deflating: deflating)
            let whole = Self.events(bytes, role: role, cuts: { .max / 2 }, budgets: { .max })
            let random = Self.events(
                bytes, role: role, cuts: { Int.random(in: 1...5000, using: &numbers) },
                budgets: { Int.random(in: 1...9000, using: &numbers) })
            #expect(random == whole, "round \(round), seed \(Seed.ofThisRun)")
            guard bytes.count < 3000 else { continue }
            let bytewise = Self.events(bytes, role: role, cuts: { 1 }, budgets: { 1 })
            #expect(bytewise == whole, "round \(round), seed \(Seed.ofThisRun)")
        }
    }

    @Test func `two machines tell each other whatever they are given`() throws {
        var numbers = SeededGenerator(seed: Seed.ofThisRun)
        for round in 0..<24 {
            var agreed = DeflateParameters()
            agreed.clientNoContextTakeover = Bool.random(using: &numbers)
            agreed.clientMaxWindowBits = Int.random(in: 8...15, using: &numbers)
            var settings = WebSocketCompression()
            settings.threshold = Int.random(in: 0...200, using: &numbers)
            settings.level = Int.random(in: 1...9, using: &numbers)
            let compression = round % 3 == 0 ? nil : agreed
            var client = WebSocketMachine(role: .client, compression: compression, settings: settings)
            var server = WebSocketMachine(role: .server, compression: compression)
            let messages = (0..<8).map { _ in
                let text = Self.text(Int.random(in: 0...150_000, using: &numbers), &numbers)
                return WebSocketPayload(isText: Bool.random(using: &numbers), bytes: ByteBuffer(bytes: text))
            }
            var wire = ByteBuffer()
            for message in messages {
                client.begin(message)
                while client.isWithinMessage {
                    client.writeFragment(into: &wire)
                    // A ping goes between two fragments.
                    client.writePing(ByteBuffer(string: "now"), into: &wire)
                }
            }
            client.writeClose(WebSocketClose(.goingAway, "bye"), into: &wire)
            var answers = ByteBuffer()
            let events = server.receive(&wire, answeringInto: &answers)
            let received = events.compactMap { if case .message(let message) = $0 { message } else { nil } }
            #expect(received == messages, "round \(round), seed \(Seed.ofThisRun)")
            #expect(events.last == .close(WebSocketClose(.goingAway, "bye")))
            let pongs = client.receive(&answers, answeringInto: &wire)
            #expect(pongs.count == events.count - messages.count && pongs.last == .close(WebSocketClose(.goingAway)))
            #expect(!client.takesInput && !client.takesOutput && !server.takesInput && !server.takesOutput)
            #expect(wire.readableBytes == 0, "nothing is answered behind a Close")
        }
    }
}
