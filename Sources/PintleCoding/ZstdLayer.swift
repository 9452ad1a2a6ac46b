// SPDX-License-Identifier: Apache-2.0

internal import CPintleZstd

/// The layer for zstd, with Zstandard's decoder. A body may have several frames, and frames to be skipped (RFC 8878 §3.1).
final class ZstdLayer: CodingLayer {
    let coding = ContentCoding.zstd
    private(set) var isAtEnd = true
    private var hasFrame = false
    /// The number of further bytes that may belong to the current frame's header.
    private var headerRest = 0
    /// The longest header: magic number, descriptor, window or dictionary, and size (RFC 8878 §3.1.1.1).
    private static let longestHeader = 18
    /// The magic number of the current frame, as far as it has arrived.
    private var magic: [UInt8] = []
    private let decoder: OpaquePointer

    init() throws(ContentDecodingError) {
        guard let decoder = ZSTD_createDCtx() else { throw .outOfMemory(.zstd) }
        self.decoder = decoder
        // A content coding may use windows of up to 8 MiB (RFC 9659 §3).
        ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, 23)
    }

    deinit { ZSTD_freeDCtx(self.decoder) }

    func decode(
        _ input: inout UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(ContentDecodingError) -> Int {
        // After a frame has ended, a call without input would begin the next one.
        if input.isEmpty, self.isAtEnd { return 0 }
        // At the end of a header libzstd checks if the input contains the whole frame. If so, another part of the library
        // decodes it. That part is stricter about the declared size, and if the header began in an earlier piece, it
        // mistakes the bytes after the header for the start of a frame. The result must not depend on the way in which a
        // body was cut into pieces, so headers are passed byte by byte.
        if self.isAtEnd { self.headerRest = Self.longestHeader }
        let count = self.headerRest > 0 ? min(1, input.count) : input.count
        self.headerRest -= count
        try self.checkMagic(input.prefix(count))
        var source = ZSTD_inBuffer(src: input.baseAddress, size: count, pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = ZSTD_decompressStream(self.decoder, &target, &source)
        guard ZSTD_isError(result) == 0 else {
            throw .corrupt(.zstd, reason: String(cString: ZSTD_getErrorName(result)))
        }
        self.isAtEnd = result == 0
        self.hasFrame = self.hasFrame || self.isAtEnd
        input = UnsafeRawBufferPointer(rebasing: input.dropFirst(source.pos))
        return target.pos
    }

    /// Checks that a frame begins with one of two magic numbers, in little-endian order (RFC 8878 §3.1.1, §3.1.2). libzstd
    /// may also accept older formats, which are not content codings.
    private func checkMagic(_ input: Slice<UnsafeRawBufferPointer>) throws(ContentDecodingError) {
        if self.isAtEnd { self.magic.removeAll(keepingCapacity: true) }
        self.magic += input.prefix(4 - self.magic.count)
        let isSkippable = self.magic.first.map { $0 & 0xF0 == 0x50 } ?? false
        let rest: [UInt8] = isSkippable ? [0x2A, 0x4D, 0x18] : [0xB5, 0x2F, 0xFD]
        guard isSkippable || self.magic.starts(with: [0x28]), rest.starts(with: self.magic.dropFirst()) else {
            if self.hasFrame { throw .trailingBytes(.zstd) }
            throw .corrupt(.zstd, reason: "no frame begins so")
        }
    }
}
