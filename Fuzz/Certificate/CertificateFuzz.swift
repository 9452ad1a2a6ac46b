// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleTrust

/// Reads one certificate, with its names and extensions, and judges it in every place that a chain has.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCertificate(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    guard let certificate = try? Certificate(der: bytes) else { return 0 }
    // OpenSSL reads BER around the part that is signed, as in a signature with unused bits, and writes DER.
    hold((try? Certificate(der: certificate.der)) == certificate, "a certificate reads as it was written")
    hold((try? Certificate(der: bytes)) == certificate, "a certificate reads twice the same")
    _ = try? CertificateKey(of: certificate)
    for policy in policies(over: certificate) {
        guard let evaluator = try? TrustEvaluator(policy: policy) else { continue }
        for host in [certificate.names.first ?? "host.test", "192.0.2.1"] {
            let verdict = evaluator.evaluate(chain: [certificate, certificate], host: host, at: moment)
            hold(
                verdict == evaluator.evaluate(chain: [certificate, certificate], host: host, at: moment),
                "a verdict is the same twice")
            hold(verdict.isTrusted || verdict.error?.message.isEmpty == false, "a refusal has a reason")
        }
    }
    return 0
}

/// In the middle of what the seeds are valid for.
private let moment = UnixTime(seconds: 1_800_000_000)

/// The certificate as its own root, as a pinned certificate, and as a stranger.
private func policies(over certificate: Certificate) -> [SecurityPolicy] {
    [
        try? SecurityPolicy(pinning: .none, roots: .only([certificate]), allowsCommonName: true),
        try? SecurityPolicy(pinning: .certificate, certificates: [certificate], roots: .only([certificate])),
        try? SecurityPolicy(
            pinning: .publicKey, pins: [certificate.spkiPin], allowInvalidCertificates: true,
            validatesDomainName: false, roots: .only([certificate])),
    ].compactMap { $0 }
}
