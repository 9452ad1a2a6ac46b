// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import PintleTrust
import Testing

/// The operating system's roots. Each test has a process of its own, since the environment belongs to all threads.
struct SystemRootTests {
    @Test func `SSL_CERT_FILE names the system roots`() async {
        await #expect(processExitsWith: .success) {
            let site = try Site()
            let folder = try TemporaryFolder()
            setenv("SSL_CERT_FILE", try folder.write(site.root.certificatePEM, to: "roots.pem"), 1)
            setenv("SSL_CERT_DIR", folder.path, 1)
            let verdict = try SecurityPolicy.default.verdict(site.chain, host: Site.host)
            exit(verdict.isTrusted ? 0 : 1)
        }
    }

    @Test func `a root that SSL_CERT_FILE names was chosen by hand, and need not be of public form`() async {
        await #expect(processExitsWith: .success) {
            let site = try Site()
            let folder = try TemporaryFolder()
            setenv("SSL_CERT_FILE", try folder.write(site.root.certificatePEM, to: "roots.pem"), 1)
            let plain = try site.pki.mint(
                CertificateRecipe.server("DNS:\(Site.host)").changed { $0.namesIssuerKey = false }, signedBy: site.root)
            let verdict = try SecurityPolicy.default.verdict(plain.chain, host: Site.host)
            let whole = try TrustEvaluator(policy: .default, profile: .allRoots)
            let strict = whole.evaluate(chain: plain.chain, host: Site.host)
            exit(verdict.isTrusted && strict.error?.rule == .authorityKeyIdentifier ? 0 : 1)
        }
    }

    @Test func `a machine without system roots trusts nobody and does not crash`() async {
        await #expect(processExitsWith: .success) {
            let site = try Site()
            setenv("SSL_CERT_FILE", "/nonexistent/roots.pem", 1)
            setenv("SSL_CERT_DIR", "/nonexistent", 1)
            let verdict = try SecurityPolicy.default.verdict(site.chain, host: Site.host)
            exit(verdict.error?.problem == .unknownIssuer ? 0 : 1)
        }
    }
}
