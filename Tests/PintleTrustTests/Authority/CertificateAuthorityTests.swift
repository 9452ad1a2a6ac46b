// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import PintleTrust
import Testing

/// The authority for intercepted tunnels, as strict verifiers see it.
struct CertificateAuthorityTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// Runs `openssl verify -x509_strict` on a chain.
    private func verify(
        _ identity: ClientIdentity, of authority: CertificateAuthority, _ arguments: String...
    ) throws -> (isTrusted: Bool, words: String) {
        let root = try self.folder.write(authority.certificatePEM, to: "root.pem")
        let leaf = try self.folder.write(PEMText.certificates(identity.chain), to: "leaf.pem")
        let openssl = try ChildProcess(
            "/usr/bin/openssl",
            ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", root] + arguments + [leaf])
        try openssl.waitForExit()
        return (openssl.exitCode == 0, openssl.lines.map(\.text).joined(separator: "\n"))
    }

    private func names(_ hosts: String...) throws -> [CertifiedName] {
        try hosts.map { try #require(CertifiedName(host: $0)) }
    }

    @Test(arguments: [
        ("api.example.test", "-verify_hostname", "api.example.test"), ("127.0.0.1", "-verify_ip", "127.0.0.1"),
        ("[::1]", "-verify_ip", "::1"), ("API.Example.test.", "-verify_hostname", "api.example.test"),
        ("xn--bcher-kva.example", "-verify_hostname", "xn--bcher-kva.example"),
        ("a_b.example", "-verify_hostname", "a_b.example"),
    ])
    func `strict verifiers take a certificate for its host`(host: String, option: String, value: String) throws {
        let authority = try CertificateAuthority(named: "Test CA")
        let verdict = try self.verify(try authority.identity(for: try self.names(host)), of: authority, option, value)
        #expect(verdict.isTrusted, "\(verdict.words)")
        let other = try self.verify(
            try authority.identity(for: try self.names(host)), of: authority, "-verify_hostname", "other.test")
        #expect(!other.isTrusted)
    }

    @Test func `a certificate is for all of its names, also where none is short enough for a subject`() throws {
        let authority = try CertificateAuthority(named: "Test CA")
        let long = (0..<4).map { _ in String(repeating: "a", count: 60) }.joined(separator: ".")
        let identity = try authority.identity(for: try self.names(long, "10.0.0.1", "short.test"))
        #expect(identity.chain[0].names == [long, "10.0.0.1", "short.test"] && identity.chain[0].subject.isEmpty)
        for (option, value) in [
            ("-verify_hostname", long), ("-verify_ip", "10.0.0.1"), ("-verify_hostname", "short.test"),
        ] {
            let verdict = try self.verify(identity, of: authority, option, value)
            #expect(verdict.isTrusted, "\(verdict.words)")
        }
    }

    @Test(arguments: ["", ".", "a..b", "a b", "bücher.example", String(repeating: "a", count: 64), "host:443", "*"])
    func `what is no host gets no certificate`(host: String) { #expect(CertifiedName(host: host) == nil) }

    @Test func `an address with the dot of the root is an address all the same`() {
        #expect(CertifiedName(host: "192.0.2.12.") == CertifiedName(host: "192.0.2.12"))
        #expect(CertifiedName(host: "192.0.2.12") == .address([192, 0, 2, 12]))
        #expect(CertifiedName(host: "::1.") == nil)
    }

    @Test func `a certificate holds for a week that began an hour ago, and never longer than its authority`() throws {
        let now = UnixTime.now
        let authority = try CertificateAuthority(named: "Test CA")
        let leaf = try authority.identity(for: try self.names("a.test"), at: now).chain[0]
        #expect(leaf.notBefore.seconds == now.seconds - 3600)
        #expect(leaf.notAfter.seconds == now.seconds - 3600 + 7 * 86_400)
        #expect(leaf.notAfter < authority.certificate.notAfter)
        let late = UnixTime(seconds: authority.certificate.notAfter.seconds - 60)
        let short = try authority.identity(for: try self.names("a.test"), at: late).chain[0]
        #expect(short.notAfter == authority.certificate.notAfter)
    }

    @Test func `an authority that outlives 2049 says so in the form that RFC 5280 asks for`() throws {
        let now = UnixTime(seconds: 2_400_000_000)
        let certificate = try CertificateAuthority(named: "Test CA", at: now).certificate
        #expect(certificate.notBefore.seconds == now.seconds - CertificateAuthority.backdating)
        #expect(certificate.notAfter.seconds == certificate.notBefore.seconds + CertificateAuthority.validity)
        // A UTCTime of 2046, and a GeneralizedTime of 2056.
        #expect(String(decoding: certificate.der, as: Unicode.ASCII.self).contains("460119174000Z\u{18}\u{0F}2056"))
    }

    @Test(arguments: [
        ["-newkey", "rsa:2048"], ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384"], ["-newkey", "ed25519"],
        ["-newkey", "rsa-pss", "-pkeyopt", "rsa_keygen_bits:2048"],
    ])
    func `an authority of one's own signs with whatever key it has`(kind: [String]) throws {
        let (certificate, key) = ("\(self.folder.path)/own.pem", "\(self.folder.path)/own.key")
        let openssl = try ChildProcess(
            "/usr/bin/openssl",
            ["req", "-x509"] + kind + [
                "-nodes", "-keyout", key, "-out", certificate, "-days", "30", "-subj", "/C=DE/O=One/CN=Own",
                "-addext", "keyUsage=critical,keyCertSign",
            ])
        #expect(try openssl.waitForExit() == 0, "\(openssl.lines)")
        let authority = try CertificateAuthority(certificateFile: certificate, keyFile: key)
        let identity = try authority.identity(for: try self.names("api.example.test"))
        let verdict = try self.verify(identity, of: authority, "-verify_hostname", "api.example.test")
        #expect(verdict.isTrusted, "\(verdict.words)")
    }

    @Test func `two authorities have neither key nor name in common`() throws {
        let (one, other) = (try CertificateAuthority(named: "Test CA"), try CertificateAuthority(named: "Test CA"))
        #expect(one.certificate.spkiPin != other.certificate.spkiPin)
        #expect(one.certificate.subject != other.certificate.subject && one.certificate.keyType == "EC P-256")
        #expect(!(try self.verify(try one.identity(for: try self.names("a.test")), of: other)).isTrusted)
    }

    // MARK: Constraints

    @Test(arguments: [
        (["*.example.test"], "api.example.test", true), (["*.example.test"], "example.test", true),
        (["*.example.test"], "example.org", false), (["*.example.test"], "10.1.2.3", false),
        (["10.1.0.0/16"], "10.1.2.3", true), (["10.1.0.0/16"], "10.2.2.3", false),
        (["10.1.0.0/16"], "api.example.test", false), (["10.1.0.0/16"], "[::1]", false),
        (["a.test", "::1"], "[::1]", true), (["a.test", "::1"], "[::2]", false), (["a.test", "::1"], "a.test", true),
    ])
    func `an authority that is held to names can stand in for no other`(
        permitted: [String], host: String, isTrusted: Bool
    ) throws {
        let authority = try CertificateAuthority(named: "Test CA", permitting: try PermittedNames(permitted))
        let verdict = try self.verify(try authority.identity(for: try self.names(host)), of: authority)
        #expect(verdict.isTrusted == isTrusted, "\(verdict.words)")
    }

    @Test(arguments: ["", "*", "10.0.0.0/33", "10.0.0.0/", "a b", "*.*.test"])
    func `a pattern that no constraint can say is refused`(pattern: String) {
        #expect(throws: PermittedNames.Malformed.self) { try PermittedNames([pattern]) }
    }

    // MARK: Files

    @Test func `an authority is kept where nobody else can read its key, and comes back the same`() throws {
        let place = AuthorityFolder("\(self.folder.path)/data/pintle/ca")
        let authority = try CertificateAuthority(named: "Test CA")
        #expect(throws: TrustError.self) { try place.read() }
        try place.keep(authority)
        #expect(try place.read().certificate == authority.certificate)
        #expect(Self.mode(place.path) == 0o700 && Self.mode(place.keyFile) == 0o600)
        let error = #expect(throws: TrustError.self) { try place.keep(authority) }
        #expect(error?.message.contains("is there already") == true)
    }

    @Test(arguments: ["folder", "key"])
    func `an authority whose key others may read is not used`(what: String) throws {
        let place = AuthorityFolder("\(self.folder.path)/ca")
        try place.keep(try CertificateAuthority(named: "Test CA"))
        let path = what == "key" ? place.keyFile : place.path
        chmod(path, what == "key" ? 0o640 : 0o755)
        let error = try #require(throws: TrustError.self) { try place.read() }
        #expect(error.code == .unreadableIdentity && error.message.hasPrefix("\(path): others may read the \(what)"))
    }

    @Test(arguments: ["", "/ca.key", "/ca.pem"])
    func `LOOK-97 an authority that others may change is not used`(what: String) throws {
        let place = AuthorityFolder("\(self.folder.path)/ca")
        try place.keep(try CertificateAuthority(named: "Test CA"))
        chmod(place.path + what, what.isEmpty ? 0o720 : 0o620)
        let error = try #require(throws: TrustError.self) { try place.read() }
        #expect(error.code == .unreadableIdentity)
        #expect(error.message.hasPrefix("\(place.path + what): its group may change what is there"))
        guard geteuid() == 0 else { return }
        chmod(place.path + what, what.isEmpty ? 0o700 : 0o600)
        chown(place.path + what, 54_321, 54_321)
        let other = try #require(throws: TrustError.self) { try place.read() }
        #expect(other.message.hasPrefix("\(place.path + what): it belongs to another user (54321)"))
    }

    @Test func `a certificate that is no authority's is refused`() throws {
        let pki = TestPKI()
        let leaf = try pki.leaf("leaf", dns: ["a.test"], signedBy: try pki.root("Root"))
        let files = try self.folder.write(leaf, as: "leaf")
        let error = try #require(throws: TrustError.self) {
            try CertificateAuthority(certificateFile: files.certificate, keyFile: files.key)
        }
        #expect(error.message.contains("is no authority's"))
    }

    @Test func `an authority that another has signed sends what leads to its root`() throws {
        let pki = TestPKI()
        let root = try pki.root("Root")
        let files = try self.folder.write(try pki.intermediate("Middle", signedBy: root), as: "middle")
        let authority = try CertificateAuthority(certificateFile: files.certificate, keyFile: files.key)
        let identity = try authority.identity(for: try self.names("a.test"))
        #expect(identity.chain.map(\.issuer) == ["CN=Middle", "CN=Root"])
    }

    private static func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }
}
