// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The head of a frame (RFC 9113 §4.1).
package struct HTTP2FrameHead {
    /// The types of frames that are examined (§6).
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

    /// The cost of holding a frame in addition to its content, in bytes; at least the memory that the codec takes for one.
    package static let cost = 256

    /// The number of bytes after the head.
    package let length: Int
    package let kind: UInt8
    let flags: UInt8
    package let stream: Int

    /// Nil if the head has not arrived completely.
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

    /// Valid for DATA and HEADERS.
    package var endsStream: Bool { self.flags & Flag.endStream != 0 }
    /// Valid for HEADERS and CONTINUATION.
    var endsHeaders: Bool { self.flags & Flag.endHeaders != 0 }
    /// Valid for DATA and HEADERS.
    var isPadded: Bool { self.flags & Flag.padded != 0 }
    /// Valid for HEADERS.
    var hasPriority: Bool { self.flags & Flag.priority != 0 }
    /// Valid for SETTINGS.
    var isAcknowledgement: Bool { self.flags & Flag.acknowledgement != 0 }
}

/// Examines the frames of a peer before the codec does.
package protocol HTTP2FrameWatcher: AnyObject {
    /// Called for the next frame. The content of a longer frame may not have arrived.
    ///
    /// - Parameter content: the number of its bytes without padding.
    /// - Returns: false if the frame must wait until `HTTP2HeadFrames.goOn()`; then this is called again for it.
    func admits(_ frame: HTTP2FrameHead, content: Int) -> Bool

    /// True for a RST_STREAM, WINDOW_UPDATE or DATA that has no meaning any more. It is dropped before the codec, which counts late
    /// resets as part of a flood, and fails at frames of streams that it has refused to open.
    func isLate(_ frame: HTTP2FrameHead) -> Bool

    /// Called when a header section has arrived completely.
    func sectionEnded()
}

extension HTTP2FrameWatcher {
    package func isLate(_ frame: HTTP2FrameHead) -> Bool { false }
}

extension ByteBuffer {
    /// True for the greeting of a client, which is not a frame.
    var beginsGreeting: Bool {
        self.readableBytes >= 4 && self.getInteger(at: self.readerIndex, as: UInt32.self) == 0x5052_4920
    }

    /// A WINDOW_UPDATE for the window of the connection.
    init(windowUpdate count: Int) {
        self.init()
        self.writeFrameHead(length: 4, kind: HTTP2FrameHead.Kind.windowUpdate)
        self.writeInteger(UInt32(count))
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

    /// Writes a header block as a HEADERS or CONTINUATION frame, and as many further CONTINUATION frames as are needed.
    ///
    /// - Parameters:
    ///   - prefix: the bytes before the block in the first frame.
    ///   - flags: the flags of the section; END_HEADERS is set on the last frame.
    ///   - size: the highest length of a frame.
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

    /// True for a header block without fields, which has nothing but table sizes (RFC 7541 §6.3).
    var hasNoFields: Bool {
        var rest = self.readableBytesView
        while let first = rest.popFirst() {
            guard first & 0xE0 == 0x20 else { return false }
            // A size of more than 30 continues as long as bytes have their high bit set.
            guard first & 0x1F == 0x1F else { continue }
            while let next = rest.popFirst(), next & 0x80 != 0 {}
        }
        return true
    }

    /// Returns the bytes between two indices, which must be readable.
    func part(from start: Int, to end: Int) -> ByteBuffer {
        if start == self.readerIndex, end == self.writerIndex { return self }
        guard let part = self.getSlice(at: start, length: end - start) else {
            preconditionFailure("BUG: frames are cut out of bytes that have not arrived")
        }
        return part
    }

    /// Removes the padding of a HEADERS frame from its payload (RFC 9113 §6.2).
    ///
    /// - Returns: false if the padding is longer than the payload.
    mutating func removePadding(of head: HTTP2FrameHead) -> Bool {
        guard head.isPadded else { return true }
        guard let padding: UInt8 = self.readInteger(), Int(padding) <= self.readableBytes else { return false }
        self.moveWriterIndex(to: self.writerIndex - Int(padding))
        return true
    }
}
