// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import PintleTrust
import Testing

/// The operating system's roots. Each test has a separate process, since the environment belongs to all threads.
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

    @Test func `bad form is reported under the system's roots, and refused where the policy is strict`() async {
        await #expect(processExitsWith: .success) {
            let site = try Site()
            let folder = try TemporaryFolder()
            setenv("SSL_CERT_FILE", try folder.write(site.root.certificatePEM, to: "roots.pem"), 1)
            let plain = try site.pki.mint(
                CertificateRecipe.server("DNS:\(Site.host)").changed { $0.namesIssuerKey = false }, signedBy: site.root)
            let verdict = try SecurityPolicy.default.verdict(plain.chain, host: Site.host)
            let isReported = verdict.isTrusted && verdict.form.map(\.rule) == [.authorityKeyIdentifier]
            let strict = try SecurityPolicy(pinning: .none, form: .strict).verdict(plain.chain, host: Site.host)
            exit(isReported && strict.error?.rule == .authorityKeyIdentifier ? 0 : 1)
        }
    }

    @Test func `LOOK-29 every root of the system that has not expired can be given as an anchor`() throws {
        let bundles = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]
        guard let bundle = bundles.first(where: { access($0, R_OK) == 0 }) else {
            Issue.record("scripts/test installs the system's roots (ca-certificates)")
            return
        }
        let now = UnixTime.now
        let roots = try Certificate.load(path: bundle).filter { $0.notBefore <= now && now <= $0.notAfter }
        #expect(roots.count > 50)
        for root in roots {
            let policy = try SecurityPolicy(pinning: .none, roots: .only([root]), form: .strict)
            let verdict = try policy.verdict([root], host: nil, at: now)
            #expect(verdict.isTrusted, "\(root.subject): \(verdict.error?.message ?? "")")
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
