// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// Frames that a client should not send, or only in small numbers.
extension FrameClient {
    private typealias Bytes = HTTP2Bytes
    private typealias Kind = HTTP2Bytes.Kind
    private typealias Flag = HTTP2Bytes.Flag

    /// Breaks the protocol, so that the connection must end.
    func breach(_ breach: FrameCourse.Breach) {
        // After a GOAWAY of the proxy some breaches have no effect, and the connection continues.
        guard self.mayAsk, !self.model.mayGoAway else { return }
        let next = 2 * self.model.streams.count + 1
        let bytes =
            switch breach {
            case .dataOnConnection: Bytes.data("x", on: 0)
            case .dataOnIdle: Bytes.data("x", on: next)
            // The window may be empty before.
            case .tooMuchWindow: Bytes.windowUpdate(0x7FFF_FFFF, on: 0) + Bytes.windowUpdate(1, on: 0)
            case .noWindow: Bytes.windowUpdate(0, on: 0)
            case .shortWindow: Bytes.frame(Kind.windowUpdate, on: 0, [0, 0, 1])
            case .oddSettings: Bytes.frame(Kind.settings, on: 0, [0, 4, 0])
            case .settingsOnStream: Bytes.settings([(4, 100)], on: next)
            case .hugeWindow: Bytes.settings([(4, 1 << 31)])
            case .smallFrames: Bytes.settings([(5, 100)])
            case .oddPush: Bytes.settings([(2, 2)])
            case .manySettings: Bytes.settings((0..<65).map { (0x99, $0) })
            case .loneContinuation: Bytes.frame(Kind.continuation, Flag.endHeaders, on: next)
            case .brokenSection:
                Bytes.headers([(":method", "GET")], Flag.endStream, on: next)
                    + Bytes.frame(Kind.ping, on: 0, [UInt8](repeating: 0, count: 8))
            case .badBlock: Bytes.frame(Kind.headers, Flag.whole, on: next, [0x80])
            case .badPadding: Bytes.frame(Kind.headers, Flag.whole | Flag.padded, on: next, [9, 0x82])
            case .longFrame: Bytes.frame(Kind.headers, Flag.whole, on: next, [UInt8](repeating: 0x82, count: 20_000))
            case .push: Bytes.frame(Kind.pushPromise, Flag.endHeaders, on: next, Bytes.number(2, 4) + [0x82])
            case .evenStream: Bytes.headers([(":method", "GET")], on: 2)
            case .oddPing: Bytes.frame(Kind.ping, on: 0, [1, 2, 3])
            case .pingOnStream: Bytes.frame(Kind.ping, on: next, [UInt8](repeating: 0, count: 8))
            case .oldStream: Bytes.frame(Kind.windowUpdate, on: next + 10, Bytes.number(1, 4))
            case .shortReset: Bytes.frame(Kind.reset, on: next, [0, 0])
            case .resetOfIdle: Bytes.reset(8, on: next)
            case .selfPriority: Bytes.frame(Kind.priority, on: next, Bytes.number(next, 4) + [1])
            case .shortGoAway: Bytes.frame(Kind.goAway, on: 0, [0, 0, 0, 0])
            case .goAwayOnStream: Bytes.frame(Kind.goAway, on: next, [UInt8](repeating: 0, count: 8))
            }
        self.send(bytes)
        self.sentTheLast()
    }

    /// Sends `count` frames of a kind. The proxy accepts them up to a limit (docs/http2.md).
    func send(_ count: Int, of kind: FrameCourse.Flood, stream number: Int) {
        guard self.mayAsk, !self.model.mayGoAway else { return }
        switch kind {
        case .pings: for _ in 0..<count { self.ping() }
        case .settings: for _ in 0..<count { self.set() }
        case .priorities: for _ in 0..<count { self.sendPriority(of: 1) }
        case .nothing:
            guard let stream = self.sending(number, { !$0.hasEnded && !$0.isBodyWhole }) else { return }
            for _ in 0..<count { self.send(Bytes.frame(Kind.data, on: stream.number)) }
            self.model.floods.nothing += count
        case .resets:
            for _ in 0..<count { if let stream = self.open(.init()) { self.reset(stream) } }
        case .faults: for _ in 0..<count { self.open(.init(fault: .upperCase)) }
        }
        if self.model.floods.isTooMany { self.sentTheLast() }
    }

    /// Changes the window of a stream so that this must end.
    func sendOddWindow(stream number: Int, isZero: Bool) {
        guard self.mayAsk, let stream = self.sending(number, { _ in true }) else { return }
        stream.excuses.insert(.window)
        guard !isZero else { return self.send(Bytes.windowUpdate(0, on: stream.number)) }
        // The window may be zero before the first.
        for _ in 0..<2 {
            stream.window += 0x7FFF_FFFF
            self.send(Bytes.windowUpdate(0x7FFF_FFFF, on: stream.number))
        }
    }
}
