// SPDX-License-Identifier: Apache-2.0

import PintleTrust
import Testing

@testable import PintleProxy

/// Certificates that are kept for intercepted hosts.
struct CertificateStoreTests {
    @Test func `LOOK-84 a certificate is shown from its start on, and not in its last day`() throws {
        let store = CertificateStore(try CertificateAuthority(named: "Test CA"))
        let names = [try #require(CertifiedName(host: "a.test"))]
        let leaf = try #require(try store.issue(for: names).chain.first)
        #expect(store.identity(for: names, at: .now) != nil)
        // This happens if the clock first jumped ahead, and was set back after the certificate was issued.
        #expect(store.identity(for: names, at: UnixTime(seconds: leaf.notBefore.seconds - 1)) == nil)
        #expect(store.identity(for: names, at: leaf.notBefore) != nil)
        #expect(store.identity(for: names, at: UnixTime(seconds: leaf.notAfter.seconds - 86_400)) == nil)
    }
}
