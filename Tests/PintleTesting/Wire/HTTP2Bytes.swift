// SPDX-License-Identifier: Apache-2.0

/// Makes bytes of HTTP/2 (RFC 9113 §4, RFC 7541) as a test needs them, right or wrong.
package enum HTTP2Bytes {
    /// The kinds of frames (RFC 9113 §6).
    package enum Kind {
        package static let data: UInt8 = 0
        package static let headers: UInt8 = 1
        package static let priority: UInt8 = 2
        package static let reset: UInt8 = 3
        package static let settings: UInt8 = 4
        package static let pushPromise: UInt8 = 5
        package static let ping: UInt8 = 6
        package static let goAway: UInt8 = 7
        package static let windowUpdate: UInt8 = 8
        package static let continuation: UInt8 = 9
    }

    /// Flags; some have different meanings on different frames.
    package enum Flag {
        package static let acknowledgement: UInt8 = 0x1
        package static let endStream: UInt8 = 0x1
        package static let endHeaders: UInt8 = 0x4
        package static let padded: UInt8 = 0x8
        package static let priority: UInt8 = 0x20
        /// A whole request without a body.
        package static let whole: UInt8 = 0x5
    }

    /// Error codes (RFC 9113 §7).
    package enum Code: Int, Sendable {
        case noError = 0
        case protocolError = 1
        case internalError = 2
        case flowControlError = 3
        case settingsTimeout = 4
        case streamClosed = 5
        case frameSizeError = 6
        case refusedStream = 7
        case cancel = 8
        case compressionError = 9
        case connectError = 10
        case enhanceYourCalm = 11
        case inadequateSecurity = 12
        case http11Required = 13
    }

    package typealias Field = (name: String, value: String)

    /// The first bytes of a client, before its SETTINGS (the connection preface).
    package static let magic = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// Returns a client's preface, with settings.
    package static func greeting(_ settings: [(Int, Int)] = []) -> [UInt8] { self.magic + self.settings(settings) }

    /// Returns a frame.
    ///
    /// - Parameter length: the length in the frame's head; the length of the payload unless given.
    package static func frame(
        _ kind: UInt8, _ flags: UInt8 = 0, on stream: Int, _ payload: [UInt8] = [], length: Int? = nil
    ) -> [UInt8] {
        self.number(length ?? payload.count, 3) + [kind, flags] + self.number(stream, 4) + payload
    }

    /// Returns a number in `count` bytes, the most significant first.
    package static func number(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }

    package static func settings(_ settings: [(Int, Int)], on stream: Int = 0) -> [UInt8] {
        self.frame(Kind.settings, on: stream, settings.flatMap { self.number($0.0, 2) + self.number($0.1, 4) })
    }

    package static let settingsAcknowledgement = Self.frame(Kind.settings, Flag.acknowledgement, on: 0)

    package static func headers(_ fields: [Field], _ flags: UInt8 = Flag.whole, on stream: Int = 1) -> [UInt8] {
        self.frame(Kind.headers, flags, on: stream, self.block(fields))
    }

    /// Returns the head of a request without content, in as many frames as it needs.
    package static func sections(_ fields: [Field], on stream: Int = 1) -> [UInt8] {
        let block = self.block(fields)
        let pieces = stride(from: 0, to: block.count, by: 1 << 14).map {
            Array(block[$0..<min($0 + 1 << 14, block.count)])
        }
        return pieces.enumerated().flatMap { number, piece in
            let end = number == pieces.count - 1 ? Flag.endHeaders : 0
            return self.frame(
                number == 0 ? Kind.headers : Kind.continuation, number == 0 ? end | Flag.endStream : end, on: stream,
                piece)
        }
    }

    package static func data(_ text: String, isLast: Bool = true, on stream: Int = 1) -> [UInt8] {
        self.frame(Kind.data, isLast ? Flag.endStream : 0, on: stream, Array(text.utf8))
    }

    package static func reset(_ code: Int = 8, on stream: Int = 1) -> [UInt8] {
        self.frame(Kind.reset, on: stream, self.number(code, 4))
    }

    package static func windowUpdate(_ increment: Int, on stream: Int = 1) -> [UInt8] {
        self.frame(Kind.windowUpdate, on: stream, self.number(increment, 4))
    }

    // MARK: HPACK

    /// Returns a block of literals without indexing and without Huffman coding (RFC 7541 §6.2.2).
    package static func block(_ fields: [Field]) -> [UInt8] { fields.flatMap { self.literal($0.name, $0.value) } }

    /// Returns one literal.
    ///
    /// - Parameter first: 0 for without indexing, 0x10 for never indexed, 0x40 for with indexing.
    package static func literal(_ name: String, _ value: String, _ first: UInt8 = 0) -> [UInt8] {
        self.literal(Array(name.utf8), Array(value.utf8), first)
    }

    package static func literal(_ name: [UInt8], _ value: [UInt8], _ first: UInt8 = 0) -> [UInt8] {
        [first] + self.integer(name.count, 7) + name + self.integer(value.count, 7) + value
    }

    /// Returns an integer with a prefix (RFC 7541 §5.1).
    ///
    /// - Parameters:
    ///   - bits: the number of bits of the prefix.
    ///   - first: the bits before the prefix.
    package static func integer(_ value: Int, _ bits: Int, _ first: UInt8 = 0) -> [UInt8] {
        let most = 1 << bits - 1
        guard value >= most else { return [first | UInt8(value)] }
        var bytes = [first | UInt8(most)]
        var rest = value - most
        while rest >= 128 {
            bytes.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}
