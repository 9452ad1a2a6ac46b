// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleTrust

/// Fuzzes the first bytes of a TLS server, whole, in pieces and byte by byte: the same certificates are found.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzServerFlight(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    let whole = finding(in: [bytes])
    hold(whole == finding(in: bytes.pieces), "a flight in pieces is that of the whole")
    if bytes.count <= 4096 {
        hold(whole == finding(in: bytes.map { [$0] }), "a flight byte by byte is that of the whole")
    }
    guard case .certificates(let certificates) = whole else { return 0 }
    hold(certificates.reduce(0) { $0 + $1.count } <= bytes.count, "certificates are part of what was sent")
    for certificate in certificates.prefix(4) { _ = try? Certificate(der: certificate) }
    return 0
}

private func finding(in pieces: [[UInt8]]) -> ServerFlightReader.Finding {
    var reader = ServerFlightReader()
    var finding = ServerFlightReader.Finding.undecided
    for piece in pieces {
        let next = reader.read(piece)
        hold(finding == .undecided || next == finding, "what is decided stays")
        finding = next
    }
    return finding
}
