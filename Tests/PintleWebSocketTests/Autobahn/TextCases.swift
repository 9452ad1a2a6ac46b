// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// Section 6: text that is UTF-8, and text that is not.
enum TextCases {
    typealias Frame = WebSocketPeer.Frame

    static let all = Self.whole + Self.failFast + Self.sequences

    private static let kosme: [UInt8] = [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0x83, 0xCE, 0xBC, 0xCE, 0xB5]
    private static let edited = Array("edited".utf8)
    private static let surrogate: [UInt8] = [0xED, 0xA0, 0x80]
    private static let beyondUnicode: [UInt8] = [0xF4, 0x90, 0x80, 0x80]

    private static let whole: [AutobahnCase] = {
        let hello = Array("Hello-µ@ßöäüàá-UTF-8!!".utf8)
        let half = Array("Hello-µ@ßöä".utf8).count
        let middle = "middle frame payload"
        let invalid = Self.kosme + Self.surrogate + Self.edited
        let empty = Frame.text("", isFinal: false)
        func bytewise(_ bytes: [UInt8]) -> [Frame] { Frame.fragments(of: bytes, opcode: 1, size: 1) }
        return [
            AutobahnCase("6.1.1", [.send([.text("")])], replies: [.text("")]),
            AutobahnCase("6.1.2", [.send([empty, .more("", isFinal: false), .more("")])], replies: [.text("")]),
            AutobahnCase(
                "6.1.3", [.send([empty, .more(middle, isFinal: false), .more("")])], replies: [.text(middle)]),
            AutobahnCase("6.2.1", [.send([.text(hello)])], replies: [.text(hello)]),
            AutobahnCase(
                "6.2.2",
                [.send([.text(Array(hello[..<half]), isFinal: false), .more(Array(hello[half...]))])],
                replies: [.text(hello)]),
            AutobahnCase("6.2.3", [.send(bytewise(hello))], replies: [.text(hello)]),
            AutobahnCase("6.2.4", [.send(bytewise(Self.kosme))], replies: [.text(Self.kosme)]),
            AutobahnCase("6.3.1", [.send([.text(invalid)])], .failed([1007])),
            AutobahnCase("6.3.2", [.send(bytewise(invalid))], .failed([1007])),
        ]
    }()

    /// The text up to the byte that makes it invalid, without the rest: that must be enough for a failure.
    private static let failFast: [AutobahnCase] = {
        let invalid = Self.kosme + Self.beyondUnicode + Self.edited
        let begin = Frame.text(Self.kosme, isFinal: false)
        let message = Frame.text(invalid)
        return [
            AutobahnCase(
                "6.4.1", [.send([begin]), .send([.more(Self.beyondUnicode, isFinal: false)])], .failed([1007])),
            AutobahnCase(
                "6.4.2",
                [
                    .send([.text(Array(invalid[..<12]), isFinal: false)]),
                    .send([.more([invalid[12]], isFinal: false)]),
                ], .failed([1007])),
            AutobahnCase("6.4.3", [.part(message, 0..<11), .part(message, 11..<15)], .failed([1007])),
            AutobahnCase("6.4.4", [.part(message, 0..<12), .part(message, 12..<13)], .failed([1007])),
        ]
    }()

    /// Sections 6.5 to 6.23, from Markus Kuhn's test file for decoders.
    private static let sequences: [AutobahnCase] = Self.groups.enumerated().flatMap { index, group in
        group.enumerated().map { place, sequence in
            let (isValid, bytes) = sequence
            let frame = Frame.text(bytes)
            return AutobahnCase(
                "6.\(index + 5).\(place + 1)", [.send([frame])], replies: isValid ? [frame] : [],
                isValid ? .byPeer : .failed([1007]))
        }
    }

    private typealias Group = [(isValid: Bool, bytes: [UInt8])]

    private static func valid(_ sequences: [UInt8]...) -> Group { sequences.map { (true, $0) } }
    private static func invalid(_ sequences: [UInt8]...) -> Group { sequences.map { (false, $0) } }
    private static func hello(_ bytes: UInt8...) -> [UInt8] { Array("hello".utf8) + bytes + Array("world".utf8) }

    /// Sequences whose last byte is missing.
    private static let unfinished: [[UInt8]] = [
        [0xC0], [0xE0, 0x80], [0xF0, 0x80, 0x80], [0xF8, 0x80, 0x80, 0x80], [0xFC, 0x80, 0x80, 0x80, 0x80],
        [0xDF], [0xEF, 0xBF], [0xF7, 0xBF, 0xBF], [0xFB, 0xBF, 0xBF, 0xBF], [0xFD, 0xBF, 0xBF, 0xBF, 0xBF],
    ]

    private static let groups: [Group] = [
        // 6.5: correct text
        valid(hello(0x24), hello(0xC2, 0xA2), hello(0xE2, 0x82, 0xAC), hello(0xF0, 0xA4, 0xAD, 0xA2), kosme),
        // 6.6: all beginnings of correct text; characters end at these places
        (1...kosme.count).map { ([2, 5, 7, 9, 11].contains($0), Array(kosme[..<$0])) },
        // 6.7: the first sequences of each length
        valid([0x00], [0xC2, 0x80], [0xE0, 0xA0, 0x80], [0xF0, 0x90, 0x80, 0x80]),
        // 6.8: the same of five and six bytes
        invalid([0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80]),
        // 6.9: the last sequences of each length
        valid([0x7F], [0xDF, 0xBF], [0xEF, 0xBF, 0xBF], [0xF4, 0x8F, 0xBF, 0xBF]),
        // 6.10: the same beyond Unicode
        invalid([0xF7, 0xBF, 0xBF, 0xBF], [0xFB, 0xBF, 0xBF, 0xBF, 0xBF], [0xFD, 0xBF, 0xBF, 0xBF, 0xBF, 0xBF]),
        // 6.11: other limits
        valid([0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBD], [0xF4, 0x8F, 0xBF, 0xBF])
            + invalid([0xF4, 0x90, 0x80, 0x80]),
        // 6.12: continuations of nothing
        invalid([0x80], [0xBF]) + (2...6).map { count in (false, (0..<count).map { $0 % 2 == 0 ? 0x80 : 0xBF }) }
            + invalid(Array(0x80..<0xBF)),
        // 6.13: beginnings of nothing
        [0xC0..<0xDF, 0xE0..<0xEF, 0xF0..<0xF7, 0xF8..<0xFB, 0xFC..<0xFD].map { range in
            (false, range.flatMap { [UInt8($0), 0x20] })
        },
        // 6.14: sequences whose last byte is missing
        unfinished.map { (false, $0) },
        // 6.15: all of those
        invalid(unfinished.flatMap(\.self)),
        // 6.16: bytes that never are in UTF-8
        invalid([0xFE], [0xFF], [0xFE, 0xFE, 0xFF, 0xFF]),
        // 6.17: a slash in forms that are too long
        invalid(
            [0xC0, 0xAF], [0xE0, 0x80, 0xAF], [0xF0, 0x80, 0x80, 0xAF], [0xF8, 0x80, 0x80, 0x80, 0xAF],
            [0xFC, 0x80, 0x80, 0x80, 0x80, 0xAF]),
        // 6.18: the last characters that each form is too long for
        invalid(
            [0xC1, 0xBF], [0xE0, 0x9F, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF], [0xF8, 0x87, 0xBF, 0xBF, 0xBF],
            [0xFC, 0x83, 0xBF, 0xBF, 0xBF, 0xBF]),
        // 6.19: zero in forms that are too long
        invalid(
            [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xF0, 0x80, 0x80, 0x80], [0xF8, 0x80, 0x80, 0x80, 0x80],
            [0xFC, 0x80, 0x80, 0x80, 0x80, 0x80]),
        // 6.20: single surrogates
        [[0xA0, 0x80], [0xAD, 0xBF], [0xAE, 0x80], [0xAF, 0xBF], [0xB0, 0x80], [0xBE, 0x80], [0xBF, 0xBF]].map {
            (false, [0xED] + $0)
        },
        // 6.21: pairs of surrogates
        [[0xA0, 0x80], [0xAD, 0xBF], [0xAE, 0x80], [0xAF, 0xBF]].flatMap { high -> Group in
            [[0xB0, 0x80], [0xBF, 0xBF]].map { low in (false, [0xED] + high + [0xED] + low) }
        },
        // 6.22: numbers that are no characters, and valid all the same
        valid([0xEF, 0xBF, 0xBE], [0xEF, 0xBF, 0xBF]) + noncharacters,
        // 6.23: specials
        (0xB9...0xBF).map { (true, [0xEF, 0xBF, $0]) },
    ]

    /// The last two numbers of each plane but the first.
    private static let noncharacters: Group = (1...16).flatMap { plane -> Group in
        [0xFFFE, 0xFFFF].compactMap { Unicode.Scalar(UInt32(plane << 16 | $0)) }.map { (true, Array(String($0).utf8)) }
    }
}
