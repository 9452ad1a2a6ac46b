// SPDX-License-Identifier: Apache-2.0

internal import PintleFuzzing
internal import PintleTrust

/// Fuzzes one certificate: reads it, with its names and extensions, and evaluates it in every position of a chain.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCertificate(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = fuzzedBytes(data, count)
    guard let certificate = try? Certificate(der: bytes) else { return 0 }
    // OpenSSL accepts BER around the signed part, such as a signature with unused bits, and writes DER.
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

/// An instant within the validity of the seeds.
private let moment = UnixTime(seconds: 1_800_000_000)

/// Policies with the certificate as its own root, as a pinned certificate, and unknown to the policy.
private func policies(over certificate: Certificate) -> [SecurityPolicy] {
    [
        try? SecurityPolicy(pinning: .none, roots: .only([certificate]), allowsCommonName: true),
        try? SecurityPolicy(pinning: .certificate, certificates: [certificate], roots: .only([certificate])),
        try? SecurityPolicy(
            pinning: .publicKey, pins: [certificate.spkiPin], allowInvalidCertificates: true,
            validatesDomainName: false, roots: .only([certificate])),
    ].compactMap { $0 }
}
