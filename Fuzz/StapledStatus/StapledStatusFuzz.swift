// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleTrust

/// Fuzzes OCSP responses that a server staples, for a leaf and its issuer.
///
/// The input is leaf, issuer, response, each after its length. The responses in the seeds are valid until 2126.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStapledStatus(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let pieces = fuzzedBytes(data, count).measuredPieces(limit: 3)
    guard pieces.count == 3, let leaf = try? Certificate(der: pieces[0]), let issuer = try? Certificate(der: pieces[1])
    else { return 0 }
    func status(_ response: [UInt8]) -> StapledStatus {
        response.withUnsafeBufferPointer { StapledStatus(response: $0, leaf: leaf, issuer: issuer) }
    }
    let whole = status(pieces[2])
    hold(whole != .missing, "a response is there")
    hold(whole == status(pieces[2]), "a status is the same twice")
    hold(status(pieces[2].dropLast()) == .unusable, "nothing is read of a response that is cut off")
    hold(status(pieces[2] + [0]) == .unusable, "nothing follows a response")
    return 0
}
