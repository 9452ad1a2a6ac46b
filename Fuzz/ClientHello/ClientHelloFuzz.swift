// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleTrust

/// Fuzzes the bytes that a client sends into a tunnel, whole and in pieces: both ways have the same verdict and find the
/// same name.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzClientHello(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    let whole = seen(in: [bytes])
    hold(whole == seen(in: bytes.pieces), "a hello in pieces is that of the whole")
    hold(whole == seen(in: bytes.map { [$0] }), "a hello byte by byte is that of the whole")
    return 0
}

/// The outcome of a stream.
private struct Seen: Equatable {
    var name: String??
    /// True for a malformed hello; the reason is not compared, since it may depend on the number of bytes read so far.
    var isMalformed = false
    var isOther = false
    var waits = false
}

private func seen(in pieces: [[UInt8]]) -> Seen {
    var reader = ClientHelloReader()
    var seen = Seen()
    for piece in pieces {
        let finding = reader.read(piece)
        seen.waits = finding == .undecided
        switch finding {
        case .hello(let name): seen.name = .some(name)
        case .malformed: seen.isMalformed = true
        case .otherProtocol: seen.isOther = true
        case .undecided, .nothingNew: break
        }
    }
    // The name does not count after a refusal or before more bytes have come.
    if seen.isMalformed || seen.waits { seen.name = nil }
    return seen
}
