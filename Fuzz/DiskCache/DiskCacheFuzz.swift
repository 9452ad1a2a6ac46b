// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCacheStore
internal import PintleFuzzing

/// Fuzzes body files as a damaged disk may have them: a read returns the bytes that were written, or nothing.
///
/// If the first byte is even, the rest is a body that is written and read back; if it is odd, the rest is a length of 8
/// bytes and a file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDiskCache(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    guard let selector = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    if selector & 1 == 0 {
        writeAndRead(rest, damagedAt: Int(selector >> 1))
    } else if rest.count >= 8 {
        let length = rest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        readFile(Array(rest.dropFirst(8)), length)
    }
    return 0
}

private let header = BodyHeader(generation: 0x0102_0304_0506_0708, id: 7)

private func writeAndRead(_ body: [UInt8], damagedAt place: Int) {
    var encoder = BodyEncoder(header: header)
    var file = header.bytes
    for piece in body.pieces { piece.withUnsafeBytes { encoder.encode($0, into: &file) } }
    encoder.finish(into: &file)
    hold(encoder.length == UInt64(body.count), "every byte is counted")
    hold(UInt64(file.count) == BodyLayout.fileSize(ofLength: encoder.length), "a file has the size that its body says")
    hold(readFile(file, encoder.length) == body, "a body is read as it was written")
    // A change of any byte must be found.
    let broken = place * 251 % file.count
    file[broken] ^= 0x10
    hold(readFile(file, encoder.length) == nil, "a file that differs in byte \(broken) is damaged")
}

/// The whole body in a file; nil if the file is damaged.
@discardableResult
private func readFile(_ file: [UInt8], _ length: UInt64) -> [UInt8]? {
    let found = file.prefix(BodyHeader.byteCount).withUnsafeBytes { BodyHeader(decoding: $0) }
    if let found { hold(found.bytes == Array(file.prefix(BodyHeader.byteCount)), "a header has one form") }
    guard found == header, let layout = BodyLayout(header: header, length: length) else { return nil }
    var body: [UInt8] = []
    while UInt64(body.count) < length {
        let piece = layout.piece(at: UInt64(body.count), upTo: .max) { place, space in
            guard place < UInt64(file.count) else { return 0 }
            let stored = file[Int(place)...].prefix(space.count)
            stored.withUnsafeBytes { space.copyMemory(from: $0) }
            return stored.count
        }
        guard let piece else { return nil }
        hold(piece.readableBytes > 0, "reading goes on until the end")
        hold(piece.readableBytes <= BodyLayout.pieceSize, "a piece is bounded")
        body += piece.readableBytesView
    }
    hold(UInt64(body.count) == length, "a body ends where its length says")
    return body
}
