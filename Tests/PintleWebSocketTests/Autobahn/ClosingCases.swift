// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// Section 7: the closing handshake. Section 10: a message in many frames.
enum ClosingCases {
    typealias Frame = WebSocketPeer.Frame

    static let all = Self.order + Self.payloads + Self.codes + Self.fragmented

    private static let close = Frame.close(1000)
    private static let hello = Frame.text("Hello World!")

    private static let order: [AutobahnCase] = [
        AutobahnCase("7.1.1", [.send([hello])], replies: [hello]),
        AutobahnCase("7.1.2", [.send([close, Frame(8)])], .answered([1000])),
        AutobahnCase("7.1.3", [.send([close, .ping()])], .answered([1000])),
        AutobahnCase("7.1.4", [.send([close, hello])], .answered([1000])),
        AutobahnCase(
            "7.1.5", [.send([.text("fragment1", isFinal: false), close, .more("fragment2")])], .answered([1000])),
        // The other end decides if it answers the messages before the Close.
        AutobahnCase("7.1.6", [.send([.text(repeated("BAsd7&jh23", 256 << 10)), hello, close, .ping()])], .any),
    ]

    private static let payloads: [AutobahnCase] = [
        AutobahnCase("7.3.1", [.send([Frame(8)])], .answered([1000, nil])),
        AutobahnCase("7.3.2", [.send([Frame(8, [0x61])])], .failed([1002])),
        AutobahnCase("7.3.3", [.send([close])], .answered([1000])),
        AutobahnCase("7.3.4", [.send([.close(1000, Array("Hello World!".utf8))])], .answered([1000])),
        AutobahnCase("7.3.5", [.send([.close(1000, repeated("*", 123))])], .answered([1000])),
        AutobahnCase("7.3.6", [.send([.close(1000, repeated("*", 124))])], .failed([1002])),
        AutobahnCase(
            "7.5.1",
            [.send([.close(1000, [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0x83, 0xED, 0xA0, 0x80, 0x65, 0x64, 0x69])])],
            .failed([1002, 1007])),
    ]

    private static let codes: [AutobahnCase] = {
        let valid: [UInt16] = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]
        let invalid: [UInt16] = [0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999]
        return valid.enumerated().map { AutobahnCase("7.7.\($0 + 1)", [.send([.close($1)])], .answered([1000, $1])) }
            + invalid.enumerated().map { AutobahnCase("7.9.\($0 + 1)", [.send([.close($1)])], .failed([1002])) }
            // No document defines these codes, so they are refused, too.
            + [
                AutobahnCase("7.13.1", [.send([.close(5000)])], .failed([1002])),
                AutobahnCase("7.13.2", [.send([.close(65_535)])], .failed([1002])),
            ]
    }()

    private static let fragmented: [AutobahnCase] = {
        let payload = repeated("*", 65_536)
        let frames = Frame.fragments(of: payload, opcode: 1, size: 1300)
        precondition(frames.count == 51)
        return [AutobahnCase("10.1.1", [.send(frames)], replies: [.text(payload)])]
    }()
}
