// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Client certificates and their keys, read from files.
struct ClientIdentityTests {
    private let folder: TemporaryFolder
    private let pki = TestPKI()
    private let client: TestIdentity

    init() throws {
        self.folder = try TemporaryFolder()
        let upper = try self.pki.intermediate("Upper", signedBy: self.pki.root("Staff Root"))
        self.client = try self.pki.client("alice", signedBy: self.pki.intermediate("Lower", signedBy: upper))
    }

    @Test func `certificate, signers and key are read from two files`() throws {
        let files = try self.folder.write(self.client, as: "alice")
        let identity = try ClientIdentity(certificateFile: files.certificate, keyFile: files.key)
        #expect(identity.chain == self.client.chain)
        #expect(identity.chain.map(\.subject) == ["CN=alice", "CN=Lower", "CN=Upper"])
    }

    @Test func `certificate and key are read from one file, in either order`() throws {
        for text in [self.client.chainPEM + self.client.keyPEM, self.client.keyPEM + self.client.chainPEM] {
            let file = try self.folder.write(text, to: "both.pem")
            #expect(try ClientIdentity(certificateFile: file).chain == self.client.chain)
        }
    }

    @Test func `the curve that may stand before a key is passed over`() throws {
        let curve = PEMText.block("EC PARAMETERS", [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
        let file = try self.folder.write(curve + self.client.keyPEM + self.client.certificatePEM, to: "both.pem")
        #expect(try ClientIdentity(certificateFile: file).chain == [self.client.certificate])
    }

    @Test func `an RSA key is read like any other`() throws {
        let client = try self.pki.client(signedBy: self.pki.root(), key: .rsa(bits: 2048))
        let files = try self.folder.write(client, as: "rsa")
        #expect(
            try ClientIdentity(certificateFile: files.certificate, keyFile: files.key).chain == [client.certificate])
    }

    @Test(arguments: TestIdentity.KeyFormat.allCases)
    func `an encrypted key opens with its password and with no other`(format: TestIdentity.KeyFormat) throws {
        let certificate = try self.folder.write(self.client.certificatePEM, to: "alice.pem")
        let key = try self.folder.write(
            self.client.encryptedKeyPEM(password: "schlüssel", format: format), to: "alice.key")
        let read = { try ClientIdentity(certificateFile: certificate, keyFile: key, password: $0) }
        #expect(try read("schlüssel").chain == [self.client.certificate])
        let wrong = self.error { _ = try read("guess") }
        #expect(wrong?.message == "\(key): the password does not open the private key")
        // Mostly "bad decrypt"; now and then the padding fits by chance, and the decrypted bytes do not parse.
        #expect(wrong?.cause != nil)
        #expect(
            self.error { _ = try read(nil) }?.message == "\(key): the private key is encrypted; give its password")
        // Longer than OpenSSL's buffer for passwords; the part that fits must not be used.
        let long = String(repeating: "x", count: 5000)
        #expect(
            self.error { _ = try read(long) }?.message == "\(key): the password does not open the private key")
    }

    @Test func `a key that is not encrypted needs no password and minds none`() throws {
        let files = try self.folder.write(self.client, as: "alice")
        let identity = try ClientIdentity(
            certificateFile: files.certificate, keyFile: files.key, password: "unused")
        #expect(identity.chain == self.client.chain)
    }

    @Test(arguments: ["secret", "schlüssel", "", nil])
    func `a PKCS#12 file gives certificate, signers in order and key`(password: String?) throws {
        let file = try self.folder.write(self.client.pkcs12(password: password), to: "alice.p12")
        #expect(try ClientIdentity(pkcs12File: file, password: password).chain == self.client.chain)
    }

    @Test func `a PKCS#12 file opens with its password and with no other`() throws {
        let file = try self.folder.write(self.client.pkcs12(password: "secret"), to: "alice.p12")
        #expect(
            self.error { _ = try ClientIdentity(pkcs12File: file, password: "guess") }?.message
                == "\(file): the password does not open the file")
        #expect(
            self.error { _ = try ClientIdentity(pkcs12File: file) }?.message
                == "\(file): the file is encrypted; give its password")
    }

    @Test func `a PKCS#12 file without key, without certificate or with a foreign key is refused`() throws {
        let stranger = try self.pki.client("stranger", signedBy: self.pki.root())
        let certificate = self.client.certificate
        let cases: [(String, [UInt8])] = [
            (
                "no private key found; export the certificate together with its key",
                try TestIdentity.pkcs12(key: nil, certificate: certificate, others: [], password: "p")
            ),
            (
                "no certificate found; export the key together with its certificate",
                try TestIdentity.pkcs12(key: self.client, certificate: nil, others: [], password: "p")
            ),
            (
                "the private key does not belong to any certificate of the file; export it with its own",
                try TestIdentity.pkcs12(key: stranger, certificate: nil, others: [certificate], password: "p")
            ),
            (
                "not a PKCS#12 file; export certificate and key as one, or give them as PEM",
                Array(self.client.keyPEM.utf8)
            ),
        ]
        for (reason, bytes) in cases {
            let file = try self.folder.write(bytes, to: "broken.p12")
            let error = self.error { _ = try ClientIdentity(pkcs12File: file, password: "p") }
            #expect(error?.message == "\(file): \(reason)")
        }
    }

    @Test func `a PKCS#12 file with an outdated encryption is refused with the remedy`() throws {
        let files = try self.folder.write(self.client, as: "alice")
        let file = "\(self.folder.path)/old.p12"
        let export = try ChildProcess(
            "/usr/bin/openssl",
            [
                "pkcs12", "-export", "-legacy", "-in", files.certificate, "-inkey", files.key, "-out", file,
                "-passout", "pass:secret",
            ])
        try #require(try export.waitForExit() == 0)
        let error = self.error { _ = try ClientIdentity(pkcs12File: file, password: "secret") }
        #expect(
            error?.message == "\(file): cannot be opened; it may be damaged, or encrypted in a way that OpenSSL no "
                + "longer supports, as RC2: export it again with AES")
        #expect(error?.cause?.contains("is not supported") == true)
    }

    @Test func `a missing file is named, with the system's reason`() throws {
        let files = try self.folder.write(self.client, as: "alice")
        let absent = "\(self.folder.path)/absent"
        let errors = [
            self.error { _ = try ClientIdentity(certificateFile: absent, keyFile: files.key) },
            self.error { _ = try ClientIdentity(certificateFile: files.certificate, keyFile: absent) },
            self.error { _ = try ClientIdentity(pkcs12File: absent) },
        ]
        for error in errors {
            #expect(error?.message == "\(absent): cannot be read; check the path and its permissions")
            #expect(error?.cause == "no such file or folder")
        }
        let folder = self.error { _ = try ClientIdentity(pkcs12File: self.folder.path) }
        #expect(folder?.message.hasPrefix("\(self.folder.path): not a regular file") == true)
    }

    @Test func `files without certificate, without key, with several keys or with something else are refused`() throws {
        let (certificate, key) = (self.client.certificatePEM, self.client.keyPEM)
        let cases = [
            (key, "no certificate found; PEM has a line \"-----BEGIN CERTIFICATE-----\""),
            (certificate, "no private key found; PEM has a line \"-----BEGIN PRIVATE KEY-----\""),
            (certificate + key + key, "holds 2 private keys; keep the one of the certificate"),
            (
                certificate + PEMText.block("X509 CRL", [1, 2, 3]) + key,
                "holds \"X509 CRL\" where a certificate or a private key belongs; take it out"
            ),
            (
                certificate + PEMText.block("PRIVATE KEY", [1, 2, 3]),
                "the private key is damaged, or of a kind that OpenSSL does not know"
            ),
            ("", "not a PEM file, which has lines \"-----BEGIN ...-----\"; give certificate and key as PEM"),
            (
                String((certificate + key).dropLast(40)),
                "a PEM block is damaged or cut short; copy the file again, whole"
            ),
        ]
        for (text, reason) in cases {
            let file = try self.folder.write(text, to: "broken.pem")
            #expect(self.error { _ = try ClientIdentity(certificateFile: file) }?.message == "\(file): \(reason)")
        }
        let damaged = try self.folder.write(PEMText.block("CERTIFICATE", [1, 2, 3]) + key, to: "damaged.pem")
        #expect(
            self.error { _ = try ClientIdentity(certificateFile: damaged) }?.message
                == "\(damaged): certificate 1: not an X.509 certificate; "
                + "give it as PEM (BEGIN CERTIFICATE) or as DER")
    }

    @Test func `a key of another certificate is refused`() throws {
        let stranger = try self.pki.client("stranger", signedBy: self.pki.root())
        let files = try self.folder.write(self.client, as: "alice")
        let other = try self.folder.write(stranger.keyPEM, to: "other.key")
        #expect(
            self.error { _ = try ClientIdentity(certificateFile: files.certificate, keyFile: other) }?.message
                == "\(other): the private key does not belong to the certificate \"CN=alice\" of "
                + "\(files.certificate); give the two that were issued together, the certificate before "
                + "its signers'")
        // Signers first: the key is there, but not for the first certificate.
        let turned = try self.folder.write(
            PEMText.certificates(self.client.chain.reversed()) + self.client.keyPEM, to: "turned.pem")
        #expect(
            self.error { _ = try ClientIdentity(certificateFile: turned) }?.message
                == "\(turned): the private key does not belong to the certificate \"CN=Upper\"; "
                + "give the two that were issued together, the certificate before its signers'")
    }

    @Test func `no description shows the key or the password`() throws {
        let certificate = try self.folder.write(self.client.certificatePEM, to: "alice.pem")
        let key = try self.folder.write(self.client.encryptedKeyPEM(password: "hunter2"), to: "alice.key")
        let identity = try ClientIdentity(certificateFile: certificate, keyFile: key, password: "hunter2")
        let expected =
            "client certificate \"CN=alice\", issued by \"CN=Lower\", valid until \(self.client.certificate.notAfter)"
        #expect("\(identity)" == expected)
        #expect(String(reflecting: identity) == expected)
        var dumped = ""
        dump(identity.chain, to: &dumped)
        dump(identity, to: &dumped)
        #expect(!dumped.contains("hunter2"))
        #expect(!self.reflection(of: identity).contains { $0 is [UInt8] && ($0 as? [UInt8]) == self.client.keyDER })
        let wrong = self.error {
            _ = try ClientIdentity(certificateFile: certificate, keyFile: key, password: "hunter3")
        }
        #expect(wrong.map { !"\($0)".contains("hunter3") } == true)
    }

    /// Everything that reflection finds below a value.
    private func reflection(of value: Any) -> [Any] {
        [value] + Mirror(reflecting: value).children.flatMap { self.reflection(of: $0.value) }
    }

    /// Returns the error of a failed read; every failure has the same code.
    private func error(_ read: () throws -> Void) -> TrustError? {
        do {
            try read()
            return nil
        } catch {
            let trustError = error as? TrustError
            #expect(trustError?.code == .unreadableIdentity)
            return trustError
        }
    }
}
