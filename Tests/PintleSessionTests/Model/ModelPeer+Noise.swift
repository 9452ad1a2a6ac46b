// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// Frames of an origin that have no meaning, and frames that break HTTP/2.
extension ModelPeer {
    private typealias Bytes = HTTP2Bytes
    private typealias Kind = HTTP2Bytes.Kind
    private typealias Flag = HTTP2Bytes.Flag

    private static let zeros = [UInt8](repeating: 0, count: 8)

    /// A stream with a number that was used, and nothing more to say.
    private var endedStream: ModelAttempt? { self.attempts.last { $0.requestEnded && $0.answerEnded && !$0.hasReset } }

    /// A stream that the session has reset. Frames on it have crossed the reset, as far as the session knows.
    private var resetStream: ModelAttempt? {
        self.attempts.last { $0.clientReset != nil && !$0.answerEnded && !$0.hasReset && !$0.hasErred }
    }

    func play(_ noise: OriginCourse.Noise) {
        guard self.maySend else { return }
        let last = self.attempts.last?.number ?? 1
        switch noise {
        case .unknownFrame: self.send(Bytes.frame(0x42, 0xFF, on: 0, [1, 2, 3]))
        case .unknownOnStream: self.send(Bytes.frame(0x42, 0xFF, on: last, [1, 2, 3]))
        case .unknownOnIdle: self.send(Bytes.frame(0x42, 0xFF, on: last + 1001))
        case .unknownOfAnySize:
            self.send(Bytes.frame(0xFE, on: last, [UInt8](repeating: 7, count: 1 << 14)) + Bytes.frame(0xFE, on: 0))
        // RFC 9113 §4.1.
        case .reservedBit:
            self.send(Bytes.frame(Kind.ping, on: 1 << 31, Self.zeros))
            self.send(Bytes.frame(Kind.windowUpdate, on: 1 << 31, Bytes.number(1 << 31 | 1, 4)))
            self.receiveWindow += 1
        // RFC 7838 §4, RFC 8336 §2, RFC 9218 §7.1.
        case .alternativeService:
            self.send(Bytes.frame(0xA, on: 0, Bytes.number(6, 2) + Array("a.testh2=\":1\"".utf8)))
            self.send(Bytes.frame(0xA, on: last, Bytes.number(0, 2) + Array("h2=\":1\"".utf8)))
        case .origin: self.send(Bytes.frame(0xC, on: 0, Bytes.number(14, 2) + Array("https://a.test".utf8)))
        case .priorityUpdate: self.send(Bytes.frame(0x10, on: 0, Bytes.number(last, 4) + Array("u=1".utf8)))
        case .priority: self.send(Bytes.frame(Kind.priority, on: last, [0, 0, 0, 0, 1]))
        case .ping: self.send(Bytes.frame(Kind.ping, on: 0, Self.zeros))
        case .pings: for _ in 0..<250 { self.send(Bytes.frame(Kind.ping, on: 0, Self.zeros)) }
        case .manySettings: for _ in 0..<250 { self.play(settings: .init()) }
        case .unknownSettings: self.say(.init(), and: (0..<100).map { (0x99, $0) })
        case .windowOfEndedStream:
            if let attempt = self.endedStream { self.send(Bytes.windowUpdate(5, on: attempt.number)) }
        case .resetOfEndedStream: if let attempt = self.endedStream { self.send(Bytes.reset(0, on: attempt.number)) }
        case .windowOfResetStream:
            if let attempt = self.resetStream { self.send(Bytes.windowUpdate(5, on: attempt.number)) }
        case .resetOfResetStream: if let attempt = self.resetStream { self.send(Bytes.reset(8, on: attempt.number)) }
        case .dataOnResetStream:
            guard let attempt = self.resetStream, self.sendWindow > 5, attempt.sendWindow > 5, attempt.head != nil
            else { return }
            self.sendWindow -= 5
            self.send(Bytes.frame(Kind.data, on: attempt.number, [1, 2, 3, 4, 5]))
        // The head changes the table for later heads.
        case .headOnResetStream:
            guard let attempt = self.resetStream, attempt.head == nil else { return }
            let block = self.encode([(":status", "200"), ("x-crossing", "\(attempt.serial)")])
            self.send(Bytes.frame(Kind.headers, Flag.endHeaders, on: attempt.number, block))
        case .acknowledgedPing:
            self.send(Bytes.frame(Kind.ping, Flag.acknowledgement, on: 0, [UInt8](repeating: 3, count: 8)))
        case .emptyData: self.attempts.last { !$0.isClosed }?.playEmptyData()
        case .manyEmptyData: for _ in 0..<300 { self.attempts.last { !$0.isClosed }?.playEmptyData() }
        }
    }

    func play(_ breach: OriginCourse.Breach) {
        guard self.maySend else { return }
        let last = self.attempts.last?.number ?? 1
        let idle = last + 1000
        let bytes =
            switch breach {
            case .text: Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)
            case .push: Bytes.frame(Kind.pushPromise, Flag.endHeaders, on: last, Bytes.number(2, 4) + Bytes.block([]))
            case .pushSetting: Bytes.settings([(2, 1)])
            case .dataOnZero: Bytes.frame(Kind.data, on: 0, [1])
            case .dataOnIdle: Bytes.frame(Kind.data, on: idle, [1])
            case .headOnIdle: Bytes.headers([(":status", "200")], on: idle)
            case .headOnEven: Bytes.headers([(":status", "200")], on: 2)
            case .noWindow: Bytes.windowUpdate(0, on: 0)
            case .shortWindow: Bytes.frame(Kind.windowUpdate, on: 0, [0, 0, 1])
            case .windowOfIdle: Bytes.windowUpdate(1, on: idle)
            // The window may be empty before.
            case .overflow: Bytes.windowUpdate(0x7FFF_FFFF, on: 0) + Bytes.windowUpdate(1, on: 0)
            case .longFrame: Bytes.frame(Kind.data, on: last, [UInt8](repeating: 1, count: 16_385))
            case .longUnknown: Bytes.frame(0x42, on: 0, [UInt8](repeating: 1, count: 16_385))
            case .brokenBlock: Bytes.frame(Kind.headers, Flag.endHeaders, on: last, [0x80])
            case .badPadding: Bytes.frame(Kind.data, Flag.padded, on: last, [9, 1])
            case .noPadding: Bytes.frame(Kind.data, Flag.padded, on: last)
            case .frameInSection:
                Bytes.headers([(":status", "200")], 0, on: last) + Bytes.frame(Kind.ping, on: 0, Self.zeros)
            case .continuationAlone: Bytes.frame(Kind.continuation, Flag.endHeaders, on: last, [0x88])
            case .oddSettings: Bytes.frame(Kind.settings, on: 0, [0, 1, 2])
            case .settingsOnStream: Bytes.settings([], on: last)
            case .hugeWindow: Bytes.settings([(4, 1 << 31)])
            case .smallFrames: Bytes.settings([(5, 100)])
            case .shortPing: Bytes.frame(Kind.ping, on: 0, [1, 2, 3])
            case .longPing: Bytes.frame(Kind.ping, on: 0, Self.zeros + [0])
            case .pingOnStream: Bytes.frame(Kind.ping, on: last, Self.zeros)
            case .resetOfIdle: Bytes.reset(8, on: idle)
            case .resetOfConnection: Bytes.reset(8, on: 0)
            case .shortReset: Bytes.frame(Kind.reset, on: last, [0, 0])
            case .shortGoAway: Bytes.frame(Kind.goAway, on: 0, [0, 0, 0, 0])
            case .goAwayOnStream: Bytes.frame(Kind.goAway, on: last, Self.zeros)
            }
        self.breaks(by: bytes)
    }
}
