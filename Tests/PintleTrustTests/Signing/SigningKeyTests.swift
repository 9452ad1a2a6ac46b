// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleTesting
import PintleTrust
import Testing

/// Keys for Ed25519 in files, and their signatures.
struct SigningKeyTests {
    /// The key of the examples of RFC 8410 §10.
    private static let publicPEM = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
        -----END PUBLIC KEY-----

        """
    private static let privatePEM = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
        -----END PRIVATE KEY-----

        """

    private static func key(seed: [UInt8]) throws -> SigningKey {
        let lead: [UInt8] = [
            0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
        ]
        return try SigningKey(pem: Array(PEMText.block("PRIVATE KEY", lead + seed).utf8), file: "key.pem")
    }

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal.utf8).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    @Test(arguments: [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ])
    func `signatures are those of RFC 8032 §7.1`(seed: String, message: String, signature: String) throws {
        let key = try Self.key(seed: Self.bytes(seed))
        let made = try Self.bytes(message).withUnsafeBytes { bytes in try key.signature(of: bytes) }
        #expect(made == Self.bytes(signature))
        #expect(Self.bytes(message).withUnsafeBytes { key.publicKey.accepts(made, of: $0) })
        #expect(!Self.bytes(message + "00").withUnsafeBytes { key.publicKey.accepts(made, of: $0) })
    }

    @Test func `a public key is that of its private key`() throws {
        let key = try SigningKey(pem: Array(Self.privatePEM.utf8), file: "key.pem")
        #expect(try VerifyingKey(pem: Array(Self.publicPEM.utf8), file: "key.pub") == key.publicKey)
        #expect(key.publicKey.pin.description.hasPrefix("sha256/"))
    }

    @Test func `every change of a signature is found`() throws {
        let key = try SigningKey(pem: Array(Self.privatePEM.utf8), file: "key.pem")
        let message = Array("message".utf8)
        let signature = try message.withUnsafeBytes { bytes in try key.signature(of: bytes) }
        for bit in 0..<signature.count * 8 {
            var changed = signature
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!message.withUnsafeBytes { key.publicKey.accepts(changed, of: $0) }, "bit \(bit)")
        }
        #expect(!message.withUnsafeBytes { key.publicKey.accepts(signature + [0], of: $0) })
        #expect(!message.withUnsafeBytes { key.publicKey.accepts([], of: $0) })
    }

    @Test func `a file with another thing says what it has`() throws {
        func reason(_ read: () throws(TrustError) -> Void) -> String {
            do throws(TrustError) {
                try read()
                return ""
            } catch { return error.message }
        }
        func signing(_ text: String) -> String {
            reason { () throws(TrustError) in _ = try SigningKey(pem: Array(text.utf8), file: "k") }
        }
        func verifying(_ text: String) -> String {
            reason { () throws(TrustError) in _ = try VerifyingKey(pem: Array(text.utf8), file: "k") }
        }
        let elliptic = try TestPKI().root().keyPEM
        #expect(signing("") == "k: no key in PEM, which has a line \"-----BEGIN …\"")
        #expect(signing(Self.publicPEM) == "k: no private key, but a block PUBLIC KEY")
        #expect(signing(Self.privatePEM + Self.privatePEM) == "k: 2 blocks; keep the key alone")
        #expect(signing(PEMText.block("ENCRYPTED PRIVATE KEY", [1])).contains("is encrypted; decrypt it into a pipe"))
        #expect(signing(elliptic).contains("not one for Ed25519; make one: openssl genpkey"))
        #expect(signing(PEMText.block("PRIVATE KEY", [1, 2, 3])).contains("is damaged"))
        #expect(verifying(Self.privatePEM) == "k: a private key; name the public one: openssl pkey -in k -pubout")
        #expect(verifying(PEMText.block("CERTIFICATE", [1])) == "k: no public key, but a block CERTIFICATE")
        #expect(verifying(PEMText.block("PUBLIC KEY", [1])) == "k: the public key is not one for Ed25519")
    }

    @Test func `a key that others may read signs nothing`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Self.privatePEM, to: "key.pem")
        _ = try SigningKey(file: file)
        chmod(file, 0o640)
        #expect {
            try SigningKey(file: file)
        } throws: { error in
            "\(error)".contains("others may read the key (mode 640)") && "\(error)".contains("chmod 600 \(file)")
        }
        #expect(throws: TrustError.self) { try VerifyingKey(file: "\(folder.path)/none") }
    }
}
