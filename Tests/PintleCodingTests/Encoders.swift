// SPDX-License-Identifier: Apache-2.0

import PintleCoding
import PintleTesting

/// The formats of the codings, as the programs of others write them.
enum Encoder: String, CaseIterable, Sendable {
    case gzip = "gzip -nc"
    case deflate =
        "/usr/bin/python3 -c 'import sys, zlib; i, o = sys.stdin.buffer, sys.stdout.buffer; o.write(zlib.compress(i.read()))'"
    case bareDeflate =
        "/usr/bin/python3 -c 'import sys, zlib; c = zlib.compressobj(6, 8, -15); i, o = sys.stdin.buffer, sys.stdout.buffer; o.write(c.compress(i.read()) + c.flush())'"
    case br = "brotli -c"
    case zstd = "zstd -qc"

    var coding: ContentCoding {
        switch self {
        case .gzip: .gzip
        case .deflate, .bareDeflate: .deflate
        case .br: .br
        case .zstd: .zstd
        }
    }

    func encode(_ bytes: [UInt8]) throws -> [UInt8] { try ShellFilter.run(self.rawValue, bytes) }
}

/// Bytes that compress, but not away: words of a few letters.
func sample(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in
        UInt8.random(in: 0...5, using: &generator) == 0 ? 0x20 : 0x61 + UInt8.random(in: 0...7, using: &generator)
    }
}

/// Decodes pieces, and returns the content or the reason why decoding stopped.
func decoded(
    _ pieces: [ArraySlice<UInt8>], _ codings: [ContentCoding], limit: Int = 1 << 30
) -> Result<[UInt8], ContentDecodingError> {
    Result { () throws(ContentDecodingError) in
        let decoder = try ContentDecoder(codings, limit: limit)
        var plain: [UInt8] = []
        for piece in pieces {
            // A separate copy, so that a sanitizer finds reads past its end.
            try Array(piece).withUnsafeBufferPointer { bytes throws(ContentDecodingError) in
                _ = try decoder.decode(UnsafeRawBufferPointer(bytes)) {
                    plain.append(contentsOf: $0)
                    return true
                }
            }
        }
        try decoder.finish()
        return plain
    }
}

func decoded(_ bytes: [UInt8], _ codings: [ContentCoding], limit: Int = 1 << 30) -> Result<
    [UInt8], ContentDecodingError
> {
    decoded([bytes[...]], codings, limit: limit)
}

extension Result {
    var error: Failure? {
        guard case .failure(let error) = self else { return nil }
        return error
    }
}
