// SPDX-License-Identifier: Apache-2.0

/// Decodes the chunked transfer coding (RFC 9112 §7.1) strictly, from pieces of any size.
package struct ChunkedDecoder: Sendable {
    /// The result of a step.
    package enum Step: Sendable, Equatable {
        /// These bytes of the input belong to the body.
        case data(Range<Int>)
        /// The body is complete; the input after this offset belongs to the next message.
        case end(offset: Int, trailers: Fields)
        /// The input is consumed.
        case needMore
    }

    private enum State: Sendable {
        case size(digits: Int, value: UInt64)
        case spaceBeforeExtension(length: Int)
        case chunkExtension(length: Int)
        case sizeLineFeed(value: UInt64)
        case data(left: UInt64)
        case dataCarriageReturn
        case dataLineFeed
        case trailers
    }

    private var state = State.size(digits: 0, value: 0)
    private var size: UInt64 = 0
    private var trailerBytes: [UInt8] = []
    private let kind: MessageKind
    private let limits: HeadLimits

    /// Makes a decoder for a body of a message of this kind; `limits` bound the trailers, and `limits.line` the extensions
    /// of a chunk.
    package init(of kind: MessageKind = .request, limits: HeadLimits) {
        self.kind = kind
        self.limits = limits
    }

    /// Reads the next step from `bytes` at `offset`, and moves `offset` past the bytes it has read.
    package mutating func next(_ bytes: UnsafeRawBufferPointer, from offset: inout Int) throws(WireError) -> Step {
        while offset < bytes.count {
            let byte = bytes[offset]
            switch self.state {
            case .size(let digits, let value):
                if let digit = ASCII.hexValue(byte) {
                    guard digits < 15 else { throw WireError(.malformed, "a chunk size has more than 15 digits") }
                    self.state = .size(digits: digits + 1, value: value << 4 | UInt64(digit))
                } else {
                    guard digits > 0 else { throw WireError(.malformed, "a chunk has no size") }
                    self.size = value
                    switch byte {
                    case .cr: self.state = .sizeLineFeed(value: value)
                    case UInt8(ascii: ";"): self.state = .chunkExtension(length: 0)
                    case .space, 0x09: self.state = .spaceBeforeExtension(length: 1)
                    default: throw WireError(.malformed, "a chunk size is followed by something else than a line end")
                    }
                }
                offset += 1
            case .spaceBeforeExtension(let length):
                guard length < self.limits.line else { throw WireError(.malformed, "a chunk extension is too long") }
                // Bad white space: a recipient must accept it (RFC 9112 §7.1.1), but only before an extension.
                switch byte {
                case UInt8(ascii: ";"): self.state = .chunkExtension(length: length)
                case .space, 0x09: self.state = .spaceBeforeExtension(length: length + 1)
                default: throw WireError(.malformed, "a chunk size is followed by something else than a line end")
                }
                offset += 1
            case .chunkExtension(let length):
                guard length < self.limits.line else { throw WireError(.malformed, "a chunk extension is too long") }
                if byte == .cr {
                    self.state = .sizeLineFeed(value: self.size)
                } else {
                    guard byte == 0x09 || byte >= 0x20, byte != 0x7F else {
                        throw WireError(.malformed, "a chunk extension has a control byte")
                    }
                    self.state = .chunkExtension(length: length + 1)
                }
                offset += 1
            case .sizeLineFeed(let value):
                guard byte == .lf else { throw WireError(.malformed, "a chunk size ends with a bare carriage return") }
                self.state = value == 0 ? .trailers : .data(left: value)
                offset += 1
            case .data(let left):
                let count = Int(min(left, UInt64(bytes.count - offset)))
                let range = offset..<(offset + count)
                self.state = left == UInt64(count) ? .dataCarriageReturn : .data(left: left - UInt64(count))
                offset += count
                return .data(range)
            case .dataCarriageReturn:
                guard byte == .cr else { throw WireError(.malformed, "a chunk is longer than its size") }
                self.state = .dataLineFeed
                offset += 1
            case .dataLineFeed:
                guard byte == .lf else { throw WireError(.malformed, "a chunk is longer than its size") }
                self.state = .size(digits: 0, value: 0)
                offset += 1
            case .trailers:
                // Checked here, because a line feed to wait for may never come.
                if self.trailerBytes.last == .cr, byte != .lf {
                    throw WireError(.malformed, "a trailer has a bare carriage return")
                }
                self.trailerBytes.append(byte)
                offset += 1
                if byte == .lf, let trailers = try self.finishedTrailers() {
                    return .end(offset: offset, trailers: trailers)
                }
                guard self.trailerBytes.count <= self.limits.bytes else {
                    throw WireError(.headerTooLarge, "the trailers are longer than \(self.limits.bytes) bytes")
                }
            }
        }
        return .needMore
    }

    /// Returns the trailers if the bytes end with an empty line, else nil.
    private func finishedTrailers() throws(WireError) -> Fields? {
        let bytes = self.trailerBytes
        guard bytes.count >= 2, bytes[bytes.count - 2] == .cr else {
            throw WireError(.malformed, "a trailer ends with a bare line feed")
        }
        guard bytes.count == 2 || bytes.suffix(4).elementsEqual([.cr, .lf, .cr, .lf]) else { return nil }
        var result: Result<Fields, WireError> = .success(Fields())
        bytes.withUnsafeBytes { buffer in
            var lines = LineReader(buffer)
            result = Result { () throws(WireError) in try HeadReader.fields(&lines, of: self.kind, limits: self.limits)
            }
        }
        return try result.get()
    }
}
