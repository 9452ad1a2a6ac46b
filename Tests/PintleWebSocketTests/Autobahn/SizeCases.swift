// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting

/// Section 9: long messages, whole, in fragments and in pieces. Of 9.7 and 9.8, a thousand messages one after another.
enum SizeCases {
    typealias Frame = WebSocketPeer.Frame

    /// True if the cases have the sizes and counts of the suite, false for smaller ones that shorten a test run.
    static let isWhole = getenv("PINTLE_AUTOBAHN_WHOLE") != nil

    static let all = Self.whole + Self.fragmented + Self.inPieces

    private static let scale = Self.isWhole ? 1 : 8
    private static let text = "BAsd7&jh23"
    private static let bytes: [UInt8] = [0x00, 0xFE, 0x23, 0xFA, 0xF0]

    private static let whole: [AutobahnCase] = {
        let sizes = [64 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20, 16 << 20]
        return sizes.enumerated().flatMap { index, size in
            // The largest case is about limits, and keeps its size.
            let count = size == 16 << 20 ? size : size / Self.scale
            let text = Frame.text(repeated(Self.text, count))
            let binary = Frame.binary(repeated(Self.bytes, count))
            return [
                AutobahnCase("9.1.\(index + 1)", [.send([text])], replies: [text]),
                AutobahnCase("9.2.\(index + 1)", [.send([binary])], replies: [binary]),
            ]
        }
    }()

    private static let fragmented: [AutobahnCase] = {
        let count = (4 << 20) / Self.scale
        let sizes = [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20]
        let (text, binary) = (repeated("*", count), repeated([0xFE], count))
        return sizes.enumerated().flatMap { index, size in
            [
                AutobahnCase(
                    "9.3.\(index + 1)", [.send(Frame.fragments(of: text, opcode: 1, size: size))],
                    replies: [.text(text)]),
                AutobahnCase(
                    "9.4.\(index + 1)", [.send(Frame.fragments(of: binary, opcode: 2, size: size))],
                    replies: [.binary(binary)]),
            ]
        }
    }()

    private static let inPieces: [AutobahnCase] = {
        let count = (1 << 20) / Self.scale
        let (text, binary) = (Frame.text(repeated(Self.text, count)), Frame.binary(repeated(Self.bytes, count)))
        return [64, 128, 256, 512, 1024, 2048].enumerated().flatMap { index, size in
            [
                AutobahnCase("9.5.\(index + 1)", [.send([text], pieces: size)], replies: [text]),
                AutobahnCase("9.6.\(index + 1)", [.send([binary], pieces: size)], replies: [binary]),
            ]
        }
    }()

    /// Sections 9.7 and 9.8: a number of messages of one size, each sent after the previous one has come back.
    static let roundTrips: [RoundTrips] = [0, 16, 64, 256, 1024, 4096].enumerated().flatMap { index, size in
        let count = Self.isWhole ? 1000 : 100
        return [
            RoundTrips(number: "9.7.\(index + 1)", count: count, frame: .text(repeated("*", size))),
            RoundTrips(number: "9.8.\(index + 1)", count: count, frame: .binary(repeated([0xFE], size))),
        ]
    }
}

/// A message that is sent again and again.
struct RoundTrips: Sendable, CustomStringConvertible {
    let number: String
    let count: Int
    let frame: WebSocketPeer.Frame

    var description: String { self.number }
}
