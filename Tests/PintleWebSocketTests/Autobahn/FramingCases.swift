// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// Sections 1 to 5: messages of all lengths, pings, reserved bits, unknown kinds, fragments.
enum FramingCases {
    typealias Frame = WebSocketPeer.Frame

    static let all = Self.messages + Self.pings + Self.reservedBits + Self.opcodes + Self.fragments

    private static let hello = "Hello, world!"
    private static let bytes: [UInt8] = [0x00, 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0x00, 0xFF]

    private static let messages: [AutobahnCase] = {
        let sizes: [(Int, pieces: Int?)] = [
            (0, nil), (125, nil), (126, nil), (127, nil), (128, nil), (65_535, nil), (65_536, nil), (65_536, 997),
        ]
        return sizes.indices.flatMap { index in
            let (count, pieces) = sizes[index]
            let text = Frame.text(repeated("*", count))
            let binary = Frame.binary(repeated([0xFE], count))
            return [
                AutobahnCase("1.1.\(index + 1)", [.send([text], pieces: pieces)], replies: [text]),
                AutobahnCase("1.2.\(index + 1)", [.send([binary], pieces: pieces)], replies: [binary]),
            ]
        }
    }()

    private static let pings: [AutobahnCase] = {
        let long = repeated([0xFE], 125)
        let tenPings = (0..<10).map { Frame.ping("payload-\($0)") }
        let tenPongs = (0..<10).map { Frame.pong("payload-\($0)") }
        let unasked = Frame.pong("unsolicited pong payload")
        return [
            AutobahnCase("2.1", [.send([.ping()])], replies: [.pong()]),
            AutobahnCase("2.2", [.send([.ping(Self.hello)])], replies: [.pong(Self.hello)]),
            AutobahnCase("2.3", [.send([.ping(Self.bytes)])], replies: [.pong(Self.bytes)]),
            AutobahnCase("2.4", [.send([.ping(long)])], replies: [.pong(long)]),
            AutobahnCase("2.5", [.send([.ping(repeated([0xFE], 126))])], .failed([1002])),
            AutobahnCase("2.6", [.send([.ping(long)], pieces: 1)], replies: [.pong(long)]),
            AutobahnCase("2.7", [.send([.pong()])]),
            AutobahnCase("2.8", [.send([unasked])]),
            AutobahnCase("2.9", [.send([unasked, .ping("ping payload")])], replies: [.pong("ping payload")]),
            AutobahnCase("2.10", [.send(tenPings)], replies: tenPongs),
            AutobahnCase("2.11", [.send(tenPings, pieces: 1)], replies: tenPongs),
        ]
    }()

    private static let reservedBits: [AutobahnCase] = {
        let hello = Frame.text(Self.hello)
        func wrong(_ bits: UInt8) -> Frame { .text(Self.hello, reserved: bits) }
        return [
            AutobahnCase("3.1", [.send([wrong(1)])], .failed([1002])),
            AutobahnCase("3.2", [.send([hello, wrong(2), .ping()])], replies: [hello], .failed([1002])),
            AutobahnCase(
                "3.3", [.send([hello]), .send([wrong(3)]), .send([.ping()])], replies: [hello], .failed([1002])),
            AutobahnCase("3.4", [.send([hello, wrong(4), .ping()], pieces: 1)], replies: [hello], .failed([1002])),
            AutobahnCase("3.5", [.send([.binary(Self.bytes, reserved: 5)])], .failed([1002])),
            AutobahnCase("3.6", [.send([.binary(Array(Self.hello.utf8), reserved: 6)])], .failed([1002])),
            AutobahnCase("3.7", [.send([Frame(8, reserved: 7)])], .failed([1002])),
        ]
    }()

    private static let opcodes: [AutobahnCase] = [3 as UInt8, 11].flatMap { first in
        let section = first == 3 ? "4.1" : "4.2"
        let hello = Frame.text(Self.hello)
        let payload = Array("reserved opcode payload".utf8)
        return [
            AutobahnCase("\(section).1", [.send([Frame(first)])], .failed([1002])),
            AutobahnCase("\(section).2", [.send([Frame(first + 1, payload)])], .failed([1002])),
            AutobahnCase(
                "\(section).3", [.send([hello, Frame(first + 2), .ping()])], replies: [hello], .failed([1002])),
            AutobahnCase(
                "\(section).4", [.send([hello, Frame(first + 3, hello.payload), .ping()])], replies: [hello],
                .failed([1002])),
            AutobahnCase(
                "\(section).5", [.send([hello, Frame(first + 4, hello.payload), .ping()], pieces: 1)],
                replies: [hello], .failed([1002])),
        ]
    }

    private static let fragments: [AutobahnCase] = {
        let parts = [Frame.text("fragment1", isFinal: false), .more("fragment2")]
        let whole = Frame.text("fragment1fragment2")
        let (ping, pong) = (Frame.ping("ping payload"), Frame.pong("ping payload"))
        let pinged = [parts[0], ping, parts[1]]
        func apart(_ frames: [Frame]) -> [AutobahnCase.Step] { frames.map { .send([$0]) } }
        /// A continuation of nothing, and then a message.
        func lonely(_ isFinal: Bool) -> [Frame] {
            [.more("non-continuation payload", isFinal: isFinal), .text(Self.hello)]
        }
        func lonelyTwice(_ isFinal: Bool) -> [Frame] {
            let once = [
                Frame.more("fragment1", isFinal: isFinal), .text("fragment2", isFinal: false), .more("fragment3"),
            ]
            return once + once
        }
        let long = (1...5).map { part in
            part == 1
                ? Frame.text("fragment1", isFinal: false) : Frame.more("fragment\(part)", isFinal: part == 5)
        }
        let longWhole = Frame.text("fragment1fragment2fragment3fragment4fragment5")
        let (first, second) = ("pongme 1!", "pongme 2!")
        let begin = [long[0], long[1], Frame.ping(first)]
        let end = [long[2], long[3], Frame.ping(second), long[4]]
        let longReplies = [Frame.pong(first), .pong(second), longWhole]
        return [
            AutobahnCase("5.1", [.send([.ping("fragment1", isFinal: false), parts[1]])], .failed([1002])),
            AutobahnCase("5.2", [.send([.pong("fragment1", isFinal: false), parts[1]])], .failed([1002])),
            AutobahnCase("5.3", [.send(parts)], replies: [whole]),
            AutobahnCase("5.4", apart(parts), replies: [whole]),
            AutobahnCase("5.5", [.send(parts, pieces: 1)], replies: [whole]),
            AutobahnCase("5.6", [.send(pinged)], replies: [pong, whole]),
            AutobahnCase("5.7", apart(pinged), replies: [pong, whole]),
            AutobahnCase("5.8", [.send(pinged, pieces: 1)], replies: [pong, whole]),
            AutobahnCase("5.9", [.send(lonely(true))], .failed([1002])),
            AutobahnCase("5.10", apart(lonely(true)), .failed([1002])),
            AutobahnCase("5.11", [.send(lonely(true), pieces: 1)], .failed([1002])),
            AutobahnCase("5.12", [.send(lonely(false))], .failed([1002])),
            AutobahnCase("5.13", apart(lonely(false)), .failed([1002])),
            AutobahnCase("5.14", [.send(lonely(false), pieces: 1)], .failed([1002])),
            AutobahnCase(
                "5.15", [.send(parts + [.more("fragment3", isFinal: false), .text("fragment4")])], replies: [whole],
                .failed([1002])),
            AutobahnCase("5.16", [.send(lonelyTwice(false))], .failed([1002])),
            AutobahnCase("5.17", [.send(lonelyTwice(true))], .failed([1002])),
            AutobahnCase("5.18", [.send([parts[0], .text("fragment2")])], .failed([1002])),
            AutobahnCase("5.19", [.send(begin), .await(1), .send(end)], replies: longReplies),
            AutobahnCase("5.20", apart(begin) + [.await(1)] + apart(end), replies: longReplies),
        ]
    }()
}
