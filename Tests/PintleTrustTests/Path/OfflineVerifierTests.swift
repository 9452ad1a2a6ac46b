// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Chains as PEM, and times as text.
struct OfflineVerifierTests {
    @Test func `each chain is judged by its own roots, or by the policy's`() throws {
        let site = try Site()
        let other = try Site("Other")
        var verifier = try OfflineVerifier(policy: try site.policy())
        let chain = site.chain.map { PEMText.certificates([$0]) }
        for _ in 0..<2 {
            #expect(verifier.verdict(chain: chain, roots: nil, host: Site.host, at: .now).isTrusted)
            let roots = [other, site].map { [$0.root.certificatePEM] }
            #expect(!verifier.verdict(chain: chain, roots: roots[0], host: Site.host, at: .now).isTrusted)
            #expect(verifier.verdict(chain: chain, roots: roots[1], host: Site.host, at: .now).isTrusted)
            #expect(!verifier.verdict(chain: chain, roots: [], host: Site.host, at: .now).isTrusted)
        }
        // All in one text, as servers keep them.
        #expect(verifier.verdict(chain: [site.leaf.chainPEM], roots: nil, host: Site.host, at: .now).isTrusted)
    }

    @Test func `what is no certificate is refused, with its place`() throws {
        let site = try Site()
        var verifier = try OfflineVerifier(policy: try site.policy())
        let leaf = site.leaf.certificatePEM
        let cases: [([String], String)] = [
            (["junk"], "chain[0]: no certificate found"),
            ([leaf, String(leaf.prefix(200))], "chain[1]: a PEM block is damaged or cut short"),
            ([site.leaf.keyPEM], "chain[0]: holds a private key where a certificate belongs"),
            (
                [PEMText.block("CERTIFICATE", site.leaf.certificate.der + [0])],
                "chain[0]: certificate 1: 1 bytes follow the certificate"
            ),
            ([], "\(Site.host): the server sent no certificate"),
        ]
        for (chain, message) in cases {
            let verdict = verifier.verdict(chain: chain, roots: nil, host: Site.host, at: .now)
            #expect(verdict.error?.message.hasPrefix(message) == true, "\(verdict.error?.message ?? "trusted")")
        }
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1969-12-31T23:59:59Z", -1), ("2026-01-01", 1_767_225_600),
            ("2026-01-01T00:00:00Z", 1_767_225_600), ("2026-01-01T00:00Z", 1_767_225_600),
            ("2026-01-01T01:30:00+01:30", 1_767_225_600), ("2025-12-31T19:00:00-0500", 1_767_225_600),
            ("2026-01-01T00:00:00.999Z", 1_767_225_600), ("2026-01-01t00:00:00", 1_767_225_600),
            ("2024-02-29T00:00:00Z", 1_709_164_800), ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("2023-02-29", nil), ("2026-13-01", nil), ("2026-01-01T24:00:00Z", nil), ("2026-01-01T00:00:00Zx", nil),
            ("2026-1-1", nil), ("", nil), ("yesterday", nil), ("2026-01-01T", nil), ("2026-01-01T00:00:00+1", nil),
        ] as [(String, Int64?)])
    func `times are read as ISO 8601`(text: String, seconds: Int64?) {
        #expect(UnixTime(iso8601: text)?.seconds == seconds)
    }

    @Test func `a time that is written is read back`() throws {
        for seconds in stride(from: -2_000_000_000 as Int64, to: 10_000_000_000, by: 86_399_999) {
            let time = UnixTime(seconds: seconds)
            #expect(UnixTime(iso8601: time.description) == time)
        }
    }
}
