// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2
internal import PintleLoop
internal import PintleSession

/// Checks a client's frames on their way to SwiftNIO's codec for abuses that the codec does not detect.
///
/// - Frames that have arrived for a stream and were not taken yet are counted, by the cost of holding them.
/// - Empty frames must not follow each other for long; the codec only counts them over the whole connection.
/// - SETTINGS ask for work. The codec counts them with PING, of which clients of gRPC send many.
/// - Only a limited number of a connection's frames is processed per turn, because each may be a request.
final class HTTP2FrameWatch: HTTP2FrameWatcher {
    private typealias Kind = HTTP2FrameHead.Kind

    /// The most consecutive empty frames on a connection.
    private static let mostEmpty = 100
    /// The most frames per turn.
    private static let mostFrames = 32
    /// The most values in one SETTINGS; there are fewer kinds of them.
    private static let mostSettings = 64
    /// The most SETTINGS within a time, acknowledgements included.
    private static let mostChanges = (count: 200, time: TimeAmount.seconds(30))
    /// The longest frame that this side allows, in bytes; the codec refuses longer ones.
    private static let longestFrame = 16 * 1024

    // unowned: the pipeline keeps the connection as long as it has this reader.
    private unowned let connection: HTTP2ClientConnection
    private let loop: Loop
    private var empty = 0
    private var frames = 0
    /// The turn in which `frames` were counted.
    private var turn: UInt64 = 0
    /// The number of SETTINGS since `changesSince`.
    private var changes = 0
    private var changesSince = NIODeadline.uptimeNanoseconds(0)
    /// The time when the incomplete header section began, if there is one.
    private(set) var sectionSince: NIODeadline?

    init(_ connection: HTTP2ClientConnection) {
        self.connection = connection
        self.loop = connection.worker.loop
    }

    func admits(_ frame: HTTP2FrameHead, content: Int) -> Bool {
        if self.turn != self.loop.turn { (self.turn, self.frames) = (self.loop.turn, 0) }
        guard self.frames < Self.mostFrames else {
            self.connection.goOnLater()
            return false
        }
        self.frames += 1
        switch frame.kind {
        case Kind.settings where frame.length > 6 * Self.mostSettings && frame.length <= Self.longestFrame:
            self.connection.fail(.enhanceYourCalm)
        case Kind.settings: self.countChange()
        case Kind.data:
            self.connection.received(content + HTTP2FrameHead.cost, on: frame.stream)
            if content > 0 {
                self.empty = 0
            } else if !frame.endsStream {
                self.empty += 1
                if self.empty > Self.mostEmpty { self.connection.fail(.enhanceYourCalm) }
            }
        case Kind.headers, Kind.continuation:
            if self.sectionSince == nil { self.sectionSince = self.loop.turnTime }
        case Kind.windowUpdate: self.connection.received(HTTP2FrameHead.cost, on: frame.stream)
        // SwiftNIO's codec limits the other kinds.
        default: break
        }
        return true
    }

    /// Counts a SETTINGS frame, and ends the connection if there are too many.
    private func countChange() {
        let now = self.loop.turnTime
        if now - self.changesSince > Self.mostChanges.time { (self.changes, self.changesSince) = (0, now) }
        self.changes += 1
        if self.changes > Self.mostChanges.count { self.connection.fail(.enhanceYourCalm) }
    }

    /// True if a GOAWAY has refused the stream, and for a reset if the stream has ended on both sides: curl resets a stream as soon
    /// as it has the last byte.
    func isLate(_ frame: HTTP2FrameHead) -> Bool {
        self.connection.hasRefused(frame.stream) || frame.kind == Kind.reset && self.connection.hasEnded(frame.stream)
    }

    func sectionEnded() { self.sectionSince = nil }
}
