// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The head of a frame (RFC 9113 §4.1).
package struct HTTP2FrameHead {
    /// The kinds of frames that are looked at (§6).
    package enum Kind {
        package static let data: UInt8 = 0
        package static let headers: UInt8 = 1
        package static let priority: UInt8 = 2
        package static let reset: UInt8 = 3
        package static let settings: UInt8 = 4
        package static let goAway: UInt8 = 7
        package static let windowUpdate: UInt8 = 8
        package static let continuation: UInt8 = 9
    }

    enum Flag {
        static let acknowledgement: UInt8 = 0x1
        static let endStream: UInt8 = 0x1
        static let endHeaders: UInt8 = 0x4
        static let padded: UInt8 = 0x8
        static let priority: UInt8 = 0x20
    }

    static let size = 9

    /// The cost of holding a frame beside its content, in bytes; not less than the memory that the codec takes for one.
    package static let cost = 256

    /// The bytes behind it.
    package let length: Int
    package let kind: UInt8
    let flags: UInt8
    package let stream: Int

    /// Nil if it has not come as a whole.
    init?(_ bytes: ByteBuffer, at index: Int) {
        guard let high: UInt16 = bytes.getInteger(at: index), let low: UInt8 = bytes.getInteger(at: index + 2),
            let kind: UInt8 = bytes.getInteger(at: index + 3), let flags: UInt8 = bytes.getInteger(at: index + 4),
            let stream: UInt32 = bytes.getInteger(at: index + 5)
        else { return nil }
        self.length = Int(high) << 8 | Int(low)
        self.kind = kind
        self.flags = flags
        self.stream = Int(stream & 0x7FFF_FFFF)
    }

    /// Of DATA and HEADERS.
    package var endsStream: Bool { self.flags & Flag.endStream != 0 }
    /// Of HEADERS and CONTINUATION.
    var endsHeaders: Bool { self.flags & Flag.endHeaders != 0 }
    /// Of DATA and HEADERS.
    var isPadded: Bool { self.flags & Flag.padded != 0 }
    /// Of HEADERS.
    var hasPriority: Bool { self.flags & Flag.priority != 0 }
    /// Of SETTINGS.
    var isAcknowledgement: Bool { self.flags & Flag.acknowledgement != 0 }
}

/// Sees the frames that come from a peer before the codec does.
package protocol HTTP2FrameWatcher: AnyObject {
    /// A frame is next. Of what is longer its content may not have come.
    ///
    /// - Parameter content: its bytes without padding.
    /// - Returns: false if it has to wait until `HTTP2HeadFrames.goOn()`, and is asked about again.
    func admits(_ frame: HTTP2FrameHead, content: Int) -> Bool

    /// True for a RST_STREAM that says nothing any more, and that the codec is not to count as one of a flood.
    func isLate(_ reset: HTTP2FrameHead) -> Bool

    /// A header section has come as a whole.
    func sectionEnded()
}

extension HTTP2FrameWatcher {
    package func isLate(_ reset: HTTP2FrameHead) -> Bool { false }
}

extension ByteBuffer {
    /// True for the greeting of a client, which is no frame.
    var beginsGreeting: Bool {
        self.readableBytes >= 4 && self.getInteger(at: self.readerIndex, as: UInt32.self) == 0x5052_4920
    }

    mutating func writeFrameHead(length: Int, kind: UInt8, flags: UInt8 = 0, stream: Int = 0) {
        self.writeInteger(UInt16(truncatingIfNeeded: length >> 8))
        self.writeInteger(UInt8(truncatingIfNeeded: length))
        self.writeInteger(kind)
        self.writeInteger(flags)
        self.writeInteger(UInt32(truncatingIfNeeded: stream))
    }

    mutating func writeSetting(_ name: UInt16, _ value: UInt32) {
        self.writeInteger(name)
        self.writeInteger(value)
    }

    /// Writes a header block as HEADERS, or as a CONTINUATION, and as many more CONTINUATION frames as it takes.
    ///
    /// - Parameters:
    ///   - prefix: what stands in front of the block in the first frame.
    ///   - flags: of the whole; END_HEADERS is for the last frame.
    ///   - size: the longest frame.
    mutating func writeSection(
        _ block: some Collection<UInt8>, behind prefix: ByteBuffer = ByteBuffer(), kind: UInt8, flags: UInt8,
        stream: Int,
        size: Int
    ) {
        self.reserveCapacity(minimumWritableBytes: prefix.readableBytes + block.count + 9 * (block.count / size + 2))
        var (rest, room, kind, flags) = (block[...], size - prefix.readableBytes, kind, flags)
        let end = flags & HTTP2FrameHead.Flag.endHeaders
        var prefix = prefix
        repeat {
            let piece = rest.prefix(room)
            rest = rest.dropFirst(room)
            flags = flags & ~end | (rest.isEmpty ? end : 0)
            self.writeFrameHead(
                length: prefix.readableBytes + piece.count, kind: kind, flags: flags, stream: stream)
            self.writeBuffer(&prefix)
            self.writeBytes(piece)
            (room, kind, flags) = (size, HTTP2FrameHead.Kind.continuation, 0)
        } while !rest.isEmpty
    }
}
