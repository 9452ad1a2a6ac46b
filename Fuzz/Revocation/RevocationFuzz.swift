// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleTrust

/// Fuzzes revocation lists, and the verdict of a policy with such lists on a chain that is valid without them.
///
/// The input is leaf, issuer, lists, each after its length; the seeds have lists that the issuer has signed.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRevocation(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let pieces = fuzzedBytes(data, count).measuredPieces(limit: 8)
    let lists = pieces.dropFirst(2).compactMap { try? RevocationList(der: $0, file: "list") }
    guard lists.allSatisfy({ !$0.der.isEmpty }), pieces.count >= 2, let leaf = try? Certificate(der: pieces[0]),
        let issuer = try? Certificate(der: pieces[1]),
        let policy = try? SecurityPolicy(pinning: .none, roots: .only([issuer]), revocationLists: lists),
        let evaluator = try? TrustEvaluator(policy: policy)
    else { return 0 }
    let verdict = evaluator.evaluate(chain: [leaf], host: "host.test", at: moment)
    hold(verdict == evaluator.evaluate(chain: [leaf], host: "host.test", at: moment), "a verdict is the same twice")
    guard verdict.isTrusted, let bare = try? SecurityPolicy(pinning: .none, roots: .only([issuer])),
        let without = try? TrustEvaluator(policy: bare)
    else { return 0 }
    hold(
        without.evaluate(chain: [leaf], host: "host.test", at: moment).isTrusted,
        "a list makes nothing trusted that was not")
    return 0
}

/// An instant within the validity of the seeds.
private let moment = UnixTime(seconds: 1_800_000_000)
