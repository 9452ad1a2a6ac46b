// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleStub

/// Fuzzes the resolver of a captured network: the bytes as a datagram, and as a stream whole and in pieces. A datagram gets
/// an answer that fits into one of 512 bytes and has the number of the question, or none; the stream has the same answers
/// however it comes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDNS(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    if let answer = service().answer(bytes) {
        hold(answer.count >= 12 && answer.count <= 512, "an answer has the size of a datagram")
        hold(answer.prefix(2) == bytes.prefix(2) && answer[2] & 0x80 != 0, "an answer belongs to its question")
        hold(service().answer(answer) == nil, "an answer gets no answer")
    }
    let whole = answers(to: [bytes])
    let inPieces = answers(to: bytes.pieces)
    hold(whole.isFine == inPieces.isFine && whole.bytes == inPieces.bytes, "pieces have the answers of the whole")
    return 0
}

private func service() -> NameService {
    NameService(names: CapturedNames()) {
        $0.utf8.count % 2 == 0
    } denied: { _ in
    }
}

private func answers(to pieces: [[UInt8]]) -> (bytes: [UInt8], isFine: Bool) {
    let service = service()
    var conversation = StreamConversation()
    for piece in pieces {
        guard conversation.receive(piece, answer: { service.answer($0) }) else { return (conversation.output, false) }
    }
    return (conversation.output, true)
}
