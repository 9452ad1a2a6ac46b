// SPDX-License-Identifier: Apache-2.0

internal import CPintleZlib

/// The layer for gzip and deflate, with zlib.
final class InflateLayer: CodingLayer {
    enum Format {
        case gzip, deflate
    }

    private enum State {
        /// No byte has arrived.
        case fresh
        /// The first byte of a deflate coding: together with the second one it tells the zlib format from the raw stream.
        case undecided(UInt8)
        case running
        case ended
    }

    let coding: ContentCoding
    private var state = State.fresh
    /// zlib keeps a pointer to it, so it must not move.
    private let stream: UnsafeMutablePointer<z_stream>

    init(_ format: Format) throws(ContentDecodingError) {
        self.coding = format == .gzip ? .gzip : .deflate
        self.stream = .allocate(capacity: 1)
        self.stream.initialize(to: z_stream())
        // 15 bits are the largest window; 16 more select the gzip format.
        guard pintle_inflate_init(self.stream, format == .gzip ? 15 + 16 : 15) == Z_OK else {
            throw .outOfMemory(self.coding)
        }
    }

    deinit {
        inflateEnd(self.stream)
        self.stream.deallocate()
    }

    var isAtEnd: Bool {
        switch self.state {
        case .fresh, .ended: true
        case .undecided, .running: false
        }
    }

    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecodingError) -> Int {
        switch self.state {
        case .running: break
        case .fresh:
            guard let first = input.first else { return 0 }
            guard self.coding == .deflate else {
                self.state = .running
                break
            }
            self.state = .undecided(first)
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst())
            return 0
        case .undecided(let first):
            guard let second = input.first else { return 0 }
            self.state = .running
            if !Self.isHeader(first, second) { inflateReset2(self.stream, -15) }
            // Passes the first byte alone: it cannot produce output.
            try withUnsafeBytes(of: first) { kept throws(ContentDecodingError) in
                var kept = kept
                _ = try self.inflate(&kept, into: output)
            }
        case .ended:
            guard let first = input.first else { return 0 }
            // A gzip body may have further members (RFC 1952 §2.2), which begin with this byte.
            guard self.coding == .gzip, first == 0x1F else { throw .trailingBytes(self.coding) }
            inflateReset(self.stream)
            self.state = .running
        }
        return try self.inflate(&input, into: output)
    }

    private func inflate(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecodingError) -> Int {
        // zlib counts in 32 bits.
        let piece = input.prefix(1 << 30)
        let stream = self.stream
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: UnsafeRawBufferPointer(rebasing: piece).assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(piece.count)
        stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        let code = CPintleZlib.inflate(stream, Z_NO_FLUSH)
        input = UnsafeRawBufferPointer(rebasing: input.dropFirst(piece.count - Int(stream.pointee.avail_in)))
        switch code {
        // Z_BUF_ERROR: there was nothing to do, because there was no input, or the last call had just filled the output.
        case Z_OK, Z_BUF_ERROR: break
        case Z_STREAM_END: self.state = .ended
        case Z_MEM_ERROR: throw .outOfMemory(self.coding)
        case Z_NEED_DICT: throw .corrupt(self.coding, reason: "it needs a dictionary")
        default:
            let reason = stream.pointee.msg.map { String(cString: $0) } ?? "zlib gives no reason (\(code))"
            throw .corrupt(self.coding, reason: reason)
        }
        return output.count - Int(stream.pointee.avail_out)
    }

    /// True if two bytes are the header of the zlib format (RFC 1950 §2.2). A raw stream with these bytes would begin with
    /// a stored block whose padding is not zero, which no encoder writes.
    private static func isHeader(_ first: UInt8, _ second: UInt8) -> Bool {
        first & 0x0F == 8 && first >> 4 <= 7 && (Int(first) << 8 | Int(second)) % 31 == 0
    }
}
