// SPDX-License-Identifier: Apache-2.0

internal import PintleCoding
internal import PintleFuzzing

/// Fuzzes content codings: arbitrary bytes in any codings, whole and in pieces, with one verdict and at most 1 MiB. The
/// first byte chooses the codings.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCoding(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    guard let selector = bytes.first else { return 0 }
    let body = Array(bytes.dropFirst())
    // Two codings at most: one in the low bits, and one below it in the next bits.
    var codings = [ContentCoding.allCases[Int(selector & 3)]]
    if selector & 0x40 != 0 { codings.append(ContentCoding.allCases[Int(selector >> 2 & 3)]) }
    let limit = 1 << 20
    let whole = outcome { () throws(ContentDecodingError) in
        try ContentDecoder.decoded(body, codings, limit: limit)
    }
    let inPieces = outcome { () throws(ContentDecodingError) in try decodedInPieces(body, codings, limit: limit) }
    switch (whole, inPieces) {
    case (.success(let left), .success(let right)):
        hold(left == right, "pieces decode to what the whole does")
        hold(left.count <= limit, "no more than the limit is decoded")
    case (.failure(let left), .failure(let right)):
        // If two codings are broken, the cuts decide which one is found first, and the wording of zstd's error.
        hold(
            codings.count > 1 || left.withoutReason == right.withoutReason,
            "pieces have the error of the whole: \(right), not \(left)")
    default: fatalError("pieces have the verdict of the whole: \(inPieces), not \(whole)")
    }
    return 0
}

private func decodedInPieces(
    _ body: [UInt8], _ codings: [ContentCoding], limit: Int
) throws(ContentDecodingError) -> [UInt8] {
    let decoder = try ContentDecoder(codings, limit: limit)
    var plain: [UInt8] = []
    for piece in body.pieces {
        try piece.withUnsafeBufferPointer { bytes throws(ContentDecodingError) in
            _ = try decoder.decode(UnsafeRawBufferPointer(bytes)) { decoded in
                plain.append(contentsOf: decoded)
                return true
            }
        }
    }
    try decoder.finish()
    return plain
}

extension ContentDecodingError {
    fileprivate var withoutReason: ContentDecodingError {
        guard case .corrupt(let coding, _) = self else { return self }
        return .corrupt(coding, reason: "")
    }
}
