// SPDX-License-Identifier: Apache-2.0

import PintleTesting

/// A random course of events for one client that speaks HTTP/2 with the proxy, frame by frame, and for the origins, with
/// everything that is needed to play it again.
///
/// Streams and origins are numbers among those that are under way at the time, so a course without some of its events is
/// still a course.
struct FrameCourse: ModelCourse {
    typealias Stage = FrameStage

    /// An index of ``FrameConfiguration/all``.
    var configuration: Int
    /// The window of each stream that the client begins with, in bytes.
    var window = 65_535
    /// The turns after which the client acknowledges the proxy's settings.
    var lateness = 0
    var steps: [Step]
    var end = End.leaving
    var isWrong = false

    /// Says how the connection ends, when everything on it has ended.
    enum End: String, Codable, CaseIterable { case leaving, draining, breaking }

    /// Lines that fill a head, which all have values of one size in bytes.
    struct Filling: Codable, Hashable {
        var lines = 0
        var size = 0

        var isEmpty: Bool { self.lines == 0 }
    }

    /// A request of the client.
    struct Request: Codable {
        enum Body: String, Codable, CaseIterable {
            /// The request ends with its head.
            case none
            case declared, undeclared
            /// The request names a byte more, or a byte less, than it has.
            case tooShort, tooLong

            var isWrong: Bool { self == .tooShort || self == .tooLong }
        }

        /// The encoding of literals (RFC 7541 §6.2).
        enum Form: UInt8, Codable, CaseIterable {
            case plain = 0, never = 0x10, kept = 0x40
            /// Huffman-coded, with a first byte that no other literal has.
            case coded = 0x1F
        }

        /// The fault of a head (RFC 9113 §8.1.1).
        enum Fault: String, Codable, CaseIterable {
            case none, noPath, twoHosts, ofConnection, upperCase, latePseudo
            /// A CONNECT with an unknown `:protocol` (RFC 8441 §4).
            case unknownProtocol
        }

        var method = "GET"
        var filling = Filling()
        var form = Form.plain
        var fault = Fault.none
        var isPadded = false
        var hasPriority = false
        /// The most bytes of the header section in a frame.
        var cut = 1 << 14
        var body = Body.none
        /// Bytes of the body.
        var size = 0
    }

    /// An answer of an origin.
    struct Answer: Codable {
        enum Length: String, Codable, CaseIterable { case told, untold }

        var status: UInt16 = 200
        var filling = Filling()
        /// Names the content: see ``ModelContent``.
        var version = 0
        var length = Length.told
        /// True for one whose head has END_STREAM, as errors of gRPC have.
        var endsWithHead = false
    }

    /// Frames that end a connection (RFC 9113 §5.4.1).
    enum Breach: String, Codable, CaseIterable {
        case dataOnConnection, tooMuchWindow, oddSettings, loneContinuation, badBlock, longFrame, push, evenStream
        case oddPing, oldStream, dataOnIdle, noWindow, shortWindow, settingsOnStream, hugeWindow, smallFrames, oddPush
        case manySettings, brokenSection, badPadding, pingOnStream, shortReset, resetOfIdle, selfPriority, shortGoAway
        case goAwayOnStream
    }

    /// Frames that the proxy takes up to a number of them.
    enum Flood: String, Codable, CaseIterable {
        case pings, settings, priorities, resets
        /// Requests that are none.
        case faults
        /// Content of no bytes.
        case nothing
    }

    enum Step: Codable {
        case opens(Request)
        case sends(stream: Int, Int, padding: Int)
        case endsBody(stream: Int)
        case trailers(stream: Int)
        case resets(stream: Int)
        case prioritizes(stream: Int)
        case gives(stream: Int, Int)
        case givesConnection(Int)
        case setsWindow(Int)
        case setsTable(Int)
        case setsFrame(Int)
        case resizesTable(Int)
        case pings
        case unknown
        case goesAway
        case stopsReading
        case readsOn
        case cuts(Int)
        case breaches(Breach)
        case floods(stream: Int, Flood, Int)
        case oddWindow(stream: Int, isZero: Bool)
        case leaves
        case interim(origin: Int, Filling)
        case answers(origin: Int, Answer)
        case givesBody(origin: Int, Int)
        case givesTrailers(origin: Int)
        case ends(origin: Int)
        case endsWhenGiven(origin: Int)
        case fails(origin: Int)
        case slows(origin: Int)
        case takes(origin: Int)
        case memoryRunsShort
        case memoryIsFree
        case drains
        case reload
        case turn
        case second
        case hour
    }
}

/// A configuration for courses of frames, and the facts about it that the model needs.
struct FrameConfiguration {
    let yaml: String
    /// The limits of heads: all bytes, bytes of a line, and lines.
    var bytes = 64 << 10
    var line = 16 << 10
    var count = 256

    static let all = [
        FrameConfiguration(yaml: ""),
        FrameConfiguration(
            yaml: "limits: {header_bytes: 8KiB, header_line: 2KiB, header_count: 40}", bytes: 8 << 10, line: 2 << 10,
            count: 40),
        FrameConfiguration(
            yaml: "limits: {header_bytes: 128KiB, header_line: 64KiB}", bytes: 128 << 10, line: 64 << 10),
        FrameConfiguration(yaml: "limits: {held_bytes: 1MiB, body_buffer: 64KiB}"),
        FrameConfiguration(yaml: "routes: [{name: r, request: {throttle: {packet: 5000, delay: 20ms}}}]"),
    ]
}
