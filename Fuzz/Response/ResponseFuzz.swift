// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleMessage

/// Fuzzes a response as it comes from a connection: the head line by line, the body whole and in pieces with one outcome.
///
/// The first byte chooses the method of the request.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzResponse(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    guard let selector = bytes.first else { return 0 }
    let method = selector & 1 == 0 ? "GET" : "HEAD"
    var reader = ResponseReader(limits: HeadLimits(bytes: 2048, line: 512, count: 16))
    guard let start = readHead(Array(bytes.dropFirst()), &reader, method) else { return 0 }
    let body = Array(bytes.dropFirst(1 + start))
    let whole = outcome { () throws(WireError) in try readBody([body], reader) }
    let inPieces = outcome { () throws(WireError) in try readBody(body.pieces, reader) }
    switch (whole, inPieces) {
    case (.success(let left), .success(let right)): hold(left == right, "a body in pieces is that of the whole")
    case (.failure(let left), .failure(let right)):
        hold(left == right, "a body in pieces has the error of the whole: \(right), not \(left)")
    default: fatalError("a body in pieces has the verdict of the whole: \(inPieces), not \(whole)")
    }
    return 0
}

/// The offset of the body; nil if no head was completed.
private func readHead(_ bytes: [UInt8], _ reader: inout ResponseReader, _ method: String) -> Int? {
    var start = 0
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = Array(bytes[start...end])
        start = end + 1
        let found = outcome { () throws(WireError) in
            try line.withUnsafeBufferPointer { (line) throws(WireError) in
                try reader.line(UnsafeRawBufferPointer(line), method: method)
            }
        }
        switch found {
        case .success(.more): continue
        case .success(.interim(let head)): hold((100..<200).contains(head.status), "an interim response is 1xx")
        case .success(.head(let head, _)):
            check(head, method)
            return start
        case .failure(let error):
            hold(!error.message.isEmpty, "a refusal has a reason")
            return nil
        }
    }
    return nil
}

private func check(_ head: ResponseHead, _ method: String) {
    hold(head.status >= 200 || head.status == 101, "a final response is none of 1xx")
    var forwarded = head.fields
    Forwarding.removeHopByHop(from: &forwarded)
    hold(!forwarded.contains(.connection) && !forwarded.contains(.transferEncoding), "hop-by-hop fields go")
    hold(forwarded.count <= head.fields.count, "nothing is added")
    _ = ContentRange(head.fields["Content-Range"] ?? "")
    _ = RangeValidator.value(for: head.fields)
    _ = AuthenticationChallenge.challenges(in: head.fields)
    _ = AuthenticationChallenge.challenges(in: head.fields, isProxy: true)
}

private struct Body: Equatable {
    var bytes: [UInt8] = []
    var isOver = false
    var hasExcess = false
    var trailers = Fields()
}

private func readBody(_ pieces: [[UInt8]], _ reader: ResponseReader) throws(WireError) -> Body {
    var reader = reader
    var body = Body()
    for piece in pieces {
        try piece.withUnsafeBufferPointer { (bytes) throws(WireError) in
            var offset = 0
            while let range = try reader.nextBody(UnsafeRawBufferPointer(bytes), from: &offset) {
                body.bytes += bytes[range]
            }
        }
    }
    (body.isOver, body.hasExcess, body.trailers) = (reader.isBodyOver, reader.hasExcess, reader.trailers)
    return body
}
