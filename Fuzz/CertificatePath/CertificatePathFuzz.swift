// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleTrust

/// Fuzzes the search for a path from a server's certificates to the roots: it ends, and with the same verdict twice.
///
/// The first byte has the number of certificates that are roots (low four bits), and chooses the host, the form of the
/// check, and use of the common name.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCertificatePath(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    guard let selector = bytes.first else { return 0 }
    let read = Array(bytes.dropFirst()).measuredPieces(limit: 24).compactMap { try? Certificate(der: $0) }
    let rootCount = min(Int(selector & 0x0F), read.count)
    let (chain, roots) = (Array(read.dropLast(rootCount)), Array(read.suffix(rootCount)))
    let host = selector & 0x10 == 0 ? "host.test" : "192.0.2.1"
    guard
        let policy = try? SecurityPolicy(
            pinning: .none, roots: .only(roots), allowsCommonName: selector & 0x40 != 0,
            form: selector & 0x20 == 0 ? .report : .strict),
        let evaluator = try? TrustEvaluator(policy: policy)
    else { return 0 }
    let verdict = evaluator.evaluate(chain: chain, host: host, at: moment)
    hold(verdict == evaluator.evaluate(chain: chain, host: host, at: moment), "a verdict is the same twice")
    guard verdict.isTrusted else {
        hold(verdict.error?.message.isEmpty == false, "a refusal has a reason")
        return 0
    }
    hold(verdict.chainOrigin == .verified, "what is trusted was verified")
    hold(verdict.chain.first?.certificate == chain.first, "the path begins at the leaf")
    guard let top = verdict.chain.last?.certificate else { fatalError("what is trusted has a path") }
    // An anchor is a name and a key: another certificate with both may be used in its place.
    hold(
        roots.contains { $0.subject == top.subject && $0.spkiPin == top.spkiPin },
        "a path ends at a root: \(top.subject)")
    return 0
}

/// An instant within the validity of the seeds.
private let moment = UnixTime(seconds: 1_800_000_000)
