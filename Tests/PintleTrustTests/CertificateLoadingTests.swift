// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Certificates from bytes, files and folders.
struct CertificateLoadingTests {
    private let folder: TemporaryFolder
    private let site: Site

    init() throws {
        self.folder = try TemporaryFolder()
        self.site = try Site()
    }

    @Test func `a certificate says what is in it`() throws {
        let pki = TestPKI(now: UnixTime(seconds: 1_767_323_045))
        let root = try pki.root("Root, of Test")
        let leaf = try pki.leaf("Leaf", dns: ["a.test", "*.b.test"], ip: ["192.0.2.1"], signedBy: root)
        let certificate = try Certificate(der: leaf.certificate.der)
        #expect(certificate == leaf.certificate)
        #expect(certificate.subject == "CN=Leaf")
        #expect(certificate.issuer == "CN=Root\\, of Test")
        #expect(certificate.notBefore.description == "2026-01-01T03:04:05Z")
        #expect(certificate.notAfter == pki.now.advanced(by: .seconds(90 * 86_400)))
        #expect(certificate.names == ["a.test", "*.b.test", "192.0.2.1"])
        #expect(certificate.serial.count.isMultiple(of: 2) && !certificate.serial.isEmpty)
        #expect(!certificate.isSelfIssued && root.certificate.isSelfIssued)
    }

    @Test func `names that do not print are made harmless`() throws {
        let leaf = try self.site.pki.leaf(dns: ["a\u{1B}[31m.test", "b\u{7F}\u{E9}"], signedBy: self.site.root)
        #expect(leaf.certificate.names == ["a?[31m.test", "b???"])
        let named = try self.site.pki.leaf("line\nbreak", signedBy: self.site.root)
        #expect(named.certificate.subject == "CN=line\\0Abreak")
    }

    @Test func `SEC-09 a folder's certificates are loaded once each`() throws {
        let other = try Site("Other")
        try self.folder.write(self.site.leaf.certificate.der, to: "pins/a.cer")
        try self.folder.write(self.site.leaf.certificatePEM, to: "pins/b.PEM")
        try self.folder.write(self.site.leaf.chainPEM, to: "pins/c.crt")
        try self.folder.write(other.root.certificate.der, to: "pins/d.der")
        // None of these is a certificate file of the folder.
        try self.folder.write("a note", to: "pins/README")
        try self.folder.write(self.site.leaf.keyPEM, to: "pins/leaf.key")
        try self.folder.write("left by an editor", to: "pins/.a.pem")
        try self.folder.write(other.leaf.certificatePEM, to: "pins/deeper.pem/e.pem")
        for path in ["\(self.folder.path)/pins", "\(self.folder.path)/pins/"] {
            let loaded = try Certificate.load(path: path)
            #expect(loaded == [self.site.leaf, self.site.intermediate, other.root].map(\.certificate))
        }
    }

    @Test func `SEC-27 certificates of several places are gathered by the caller`() throws {
        let other = try Site("Other")
        let first = try self.folder.write(self.site.root.certificatePEM, to: "app/root.pem")
        try self.folder.write(other.root.certificatePEM, to: "framework/root.pem")
        let pinned = try Certificate.load(path: first) + Certificate.load(path: "\(self.folder.path)/framework")
        let policy = try self.site.policy(.certificate, pinning: pinned)
        #expect(policy.certificates == [self.site.root.certificate, other.root.certificate])
        #expect(try policy.verdict(self.site.chain, host: Site.host).isTrusted)
    }

    @Test func `SEC-23 an unparsable pin in a folder is an error that names the file`() throws {
        try self.folder.write(self.site.leaf.certificate.der, to: "pins/a.cer")
        let bad = try self.folder.write("not a certificate", to: "pins/b.cer")
        self.expectRefusal(of: "\(self.folder.path)/pins", naming: bad, because: "not an X.509 certificate")
    }

    @Test func `a PEM file may hold many certificates and words between them`() throws {
        let text = "The root:\r\n\(self.site.root.certificatePEM)\nand the rest\n\(self.site.leaf.chainPEM)bye"
        let loaded = try Certificate.load(pem: Array(text.utf8), file: "all.pem")
        #expect(loaded == [self.site.root, self.site.leaf, self.site.intermediate].map(\.certificate))
    }

    @Test func `a truncated PEM file is refused wherever it was cut`() throws {
        let text = self.site.leaf.chainPEM
        // From inside the second BEGIN line to just before the last END line, the file is complete.
        let second = self.site.leaf.certificatePEM.count
        for kept in [second + 15, second + 40, second + 200, text.count - 30, text.count - 8] {
            let file = try self.folder.write(String(text.prefix(kept)), to: "cut.pem")
            self.expectRefusal(of: file, naming: file, because: "damaged or cut short")
        }
        let first = try self.folder.write(String(text.prefix(60)), to: "short.pem")
        self.expectRefusal(of: first, naming: first, because: "damaged or cut short")
    }

    @Test func `a truncated DER file is refused`() throws {
        let der = self.site.leaf.certificate.der
        let file = try self.folder.write(Array(der.dropLast(10)), to: "cut.der")
        self.expectRefusal(of: file, naming: file, because: "not an X.509 certificate")
    }

    @Test func `bytes after a DER certificate are refused`() throws {
        let der = self.site.leaf.certificate.der
        let file = try self.folder.write(der + [0, 0, 0], to: "more.der")
        self.expectRefusal(of: file, naming: file, because: "3 bytes follow the certificate")
        let error = #expect(throws: TrustError.self) { try Certificate(der: der + der) }
        #expect(error?.code == .unreadableCertificate)
        let inside = PEMText.block("CERTIFICATE", der + [0])
        let pem = try self.folder.write(inside, to: "more.pem")
        self.expectRefusal(of: pem, naming: "\(pem): certificate 1", because: "1 bytes follow the certificate")
    }

    @Test func `a private key where a certificate belongs is refused`() throws {
        let alone = try self.folder.write(self.site.leaf.keyPEM, to: "key.pem")
        let beside = try self.folder.write(self.site.leaf.chainPEM + self.site.leaf.keyPEM, to: "both.pem")
        let binary = try self.folder.write(self.site.leaf.keyDER, to: "key.der")
        for file in [alone, beside, binary] {
            self.expectRefusal(
                of: file, naming: file,
                because: "holds a private key where a certificate belongs; give a file of certificates only")
        }
    }

    @Test func `another kind of PEM block is refused by its name`() throws {
        let file = try self.folder.write(PEMText.block("X509 CRL", [1, 2, 3]), to: "list.pem")
        self.expectRefusal(of: file, naming: file, because: "holds \"X509 CRL\" where a certificate belongs")
    }

    @Test func `garbage is refused`() throws {
        var random = SeededGenerator(seed: 58)
        let garbage = (0..<10_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        for bytes in [garbage, [UInt8](repeating: 0x30, count: 10_000), [], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF]] {
            let file = try self.folder.write(bytes, to: "garbage.cer")
            self.expectRefusal(of: file, naming: file, because: "not an X.509 certificate")
            #expect(throws: TrustError.self) { try Certificate(der: bytes) }
        }
        let armoured = try self.folder.write(PEMText.block("CERTIFICATE", garbage), to: "garbage.pem")
        self.expectRefusal(of: armoured, naming: armoured, because: "not an X.509 certificate")
    }

    @Test func `no byte of a certificate can be changed into a crash`() throws {
        let der = self.site.leaf.certificate.der
        for index in der.indices {
            var damaged = der
            damaged[index] ^= 0xFF
            guard let certificate = try? Certificate(der: damaged) else { continue }
            #expect(certificate != self.site.leaf.certificate)
            #expect(try !self.site.policy().verdict([certificate] + self.site.chain.dropFirst(), host: nil).isTrusted)
        }
    }

    @Test func `a missing file, an empty folder and what is no file are refused by name`() throws {
        let missing = "\(self.folder.path)/missing.pem"
        let error = #expect(throws: TrustError.self) { try Certificate.load(path: missing) }
        #expect(error?.message == "\(missing): cannot be read; check the path and its permissions")
        #expect(error?.cause == "no such file or folder")
        try self.folder.write("", to: "empty/notes.txt")
        let empty = "\(self.folder.path)/empty"
        self.expectRefusal(of: empty, naming: empty, because: "holds no .cer, .crt, .der or .pem file")
        self.expectRefusal(of: "/dev/null", naming: "/dev/null", because: "not a regular file")
    }

    @Test func `a file larger than any bundle is refused`() throws {
        let file = try self.folder.write([UInt8](repeating: 0, count: 9 << 20), to: "large.pem")
        self.expectRefusal(of: file, naming: file, because: "larger than 8 MiB")
    }

    private func expectRefusal(
        of path: String, naming file: String, because reason: String, location: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: TrustError.self, sourceLocation: location) { try Certificate.load(path: path) }
        #expect(error?.code == .unreadableCertificate, sourceLocation: location)
        #expect(error?.message.hasPrefix("\(file): ") == true, sourceLocation: location)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")", sourceLocation: location)
    }
}
