// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleMessage

/// Fuzzes requests as they come from a connection: the head whole and byte by byte, and the rest as a chunked body whole
/// and in pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWire(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    let limits = HeadLimits(bytes: 2048, line: 512, count: 16)
    let whole = outcome { () throws(WireError) in
        var parser = RequestParser(limits: limits)
        return try parse(&parser, bytes, count: bytes.count)
    }
    let grown = outcome { () throws(WireError) in try parseGrown(bytes, limits) }
    switch (whole, grown) {
    case (.success(let left), .success(let right)):
        hold(left?.head == right?.head && left?.length == right?.length, "a head that grows is the head of the whole")
        guard let left else { return 0 }
        _ = outcome { () throws(WireError) in try left.head.bodyFraming() }
        checkChunks(Array(bytes[left.length...]), limits)
    // The number of bytes read so far may decide which broken rule is found first.
    case (.failure, .failure): checkChunks(bytes, limits)
    default: fatalError("a head that grows has the verdict of the whole: \(grown), not \(whole)")
    }
    return 0
}

private typealias Parsed = (head: RequestHead, length: Int)

private func parse(_ parser: inout RequestParser, _ bytes: [UInt8], count: Int) throws(WireError) -> Parsed? {
    try bytes.withUnsafeBufferPointer { all throws(WireError) in
        try parser.parse(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: all[..<count])))
    }
}

/// Parses call by call with more of the same bytes, as a connection does.
private func parseGrown(_ bytes: [UInt8], _ limits: HeadLimits) throws(WireError) -> Parsed? {
    var parser = RequestParser(limits: limits)
    var count = 0
    for piece in bytes.pieces {
        count += piece.count
        if let parsed = try parse(&parser, bytes, count: count) { return parsed }
    }
    return nil
}

private struct Chunks: Equatable {
    var body: [UInt8] = []
    var trailers: Fields?
}

private func checkChunks(_ bytes: [UInt8], _ limits: HeadLimits) {
    let whole = outcome { () throws(WireError) in try chunks([bytes], limits) }
    let inPieces = outcome { () throws(WireError) in try chunks(bytes.pieces, limits) }
    switch (whole, inPieces) {
    case (.success(let left), .success(let right)): hold(left == right, "chunks in pieces are those of the whole")
    case (.failure(let left), .failure(let right)):
        hold(left == right, "chunks in pieces have the error of the whole: \(right), not \(left)")
    default: fatalError("chunks in pieces have the verdict of the whole: \(inPieces), not \(whole)")
    }
}

private func chunks(_ pieces: [[UInt8]], _ limits: HeadLimits) throws(WireError) -> Chunks {
    var decoder = ChunkedDecoder(limits: limits)
    var chunks = Chunks()
    for piece in pieces {
        var offset = 0
        let isAtEnd = try piece.withUnsafeBufferPointer { bytes throws(WireError) in
            while true {
                switch try decoder.next(UnsafeRawBufferPointer(bytes), from: &offset) {
                case .data(let range): chunks.body += bytes[range]
                case .end(_, let trailers):
                    chunks.trailers = trailers
                    return true
                case .needMore: return false
                }
            }
        }
        if isAtEnd { break }
    }
    return chunks
}
