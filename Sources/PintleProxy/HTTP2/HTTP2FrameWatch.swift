// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2
internal import PintleLoop
internal import PintleSession

/// Looks at the frames of a client on their way to SwiftNIO's codec for what the codec leaves to others.
///
/// - What has come for a stream and was not taken yet is counted, by what it costs to hold it.
/// - Frames of nothing, of which the codec counts those of a whole connection, must not follow each other for long.
/// - A turn takes no more than some frames of one connection: each may be a request, and others want their share.
final class HTTP2FrameWatch: HTTP2FrameWatcher {
    private typealias Kind = HTTP2FrameHead.Kind

    /// Frames of nothing that may follow each other on a connection.
    private static let mostEmpty = 100
    /// Frames that a turn takes.
    private static let mostFrames = 32
    /// Values in one SETTINGS; there are not as many kinds.
    private static let mostSettings = 64
    /// The longest frame that this side allows; the codec refuses a longer one.
    private static let longestFrame = 16 * 1024

    // unowned: the pipeline has the connection for as long as it has a reader of frames.
    private unowned let connection: HTTP2ClientConnection
    private let loop: Loop
    private var empty = 0
    private var frames = 0
    /// The turn that these were counted in.
    private var turn: UInt64 = 0
    /// When a header section began that is not complete.
    private(set) var sectionSince: NIODeadline?

    init(_ connection: HTTP2ClientConnection) {
        self.connection = connection
        self.loop = connection.lane.loop
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
        case Kind.priority, Kind.windowUpdate: self.connection.received(HTTP2FrameHead.cost, on: frame.stream)
        default: break
        }
        return true
    }

    /// curl breaks streams off of which it has everything, as soon as it has the last byte.
    func isLate(_ reset: HTTP2FrameHead) -> Bool { self.connection.hasEnded(reset.stream) }

    func sectionEnded() { self.sectionSince = nil }
}
