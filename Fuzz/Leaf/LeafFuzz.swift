// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleTrust

/// An authority for the lifetime of the process.
private let authority = try? CertificateAuthority(named: "Fuzz")

/// Fuzzes host names as clients of tunnels write them, one a line: every accepted name is in the issued certificate, in the
/// same form.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLeaf(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let authority else { fatalError("does not hold: there is an authority") }
    var names: [CertifiedName] = []
    for line in fuzzedBytes(data, count).split(separator: 0x0A, omittingEmptySubsequences: false).prefix(4) {
        guard let name = CertifiedName(host: String(decoding: line, as: UTF8.self)) else { continue }
        hold(CertifiedName(host: name.description) == name, "a name is the same when it is read again")
        if !names.contains(name) { names.append(name) }
    }
    guard !names.isEmpty else { return 0 }
    guard case .success(let identity) = outcome({ () throws(TrustError) in try authority.identity(for: names) }) else {
        return 0
    }
    guard let leaf = identity.chain.first, let read = try? Certificate(der: leaf.der) else {
        fatalError("does not hold: a certificate that is issued can be read")
    }
    hold(read.names == names.map(\.description), "it is for the names that were asked for: \(read.names), not \(names)")
    return 0
}
