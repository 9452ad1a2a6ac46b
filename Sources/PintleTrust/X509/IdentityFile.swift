// SPDX-License-Identifier: Apache-2.0

/// A PEM file with certificates, with a private key, or with both.
struct IdentityFile {
    let certificates: [Certificate]

    private let path: String
    private let text: [UInt8]
    private let keyCount: Int

    /// Reads the file and its certificates; a key is only counted.
    ///
    /// - Throws: `.unreadableIdentity` if it cannot be read, is no PEM, or has other blocks.
    init(_ path: String) throws(TrustError) {
        let text = try IdentityFile.read(path)
        guard PEMBlocks.count(in: text) > 0 else {
            throw TrustError.identity(
                path, "not a PEM file, which has lines \"-----BEGIN ...-----\"; give certificate and key as PEM")
        }
        var certificates: [Certificate] = []
        var keyCount = 0
        do throws(TrustError) {
            var blocks = try PEMBlocks(text, file: path)
            while let block = try blocks.next() {
                switch block.label {
                case "CERTIFICATE", "X509 CERTIFICATE":
                    let number = certificates.count + 1
                    certificates.append(try Certificate(der: block.bytes, source: "\(path): certificate \(number)"))
                // Some programs write the curve before the key, which names it too.
                case "EC PARAMETERS": break
                case let label where label.hasSuffix("PRIVATE KEY"): keyCount += 1
                case let label:
                    throw TrustError.identity(
                        path, "holds \"\(label)\" where a certificate or a private key belongs; take it out")
                }
            }
        } catch {
            throw error.ofIdentity
        }
        self.certificates = certificates.withoutDuplicates()
        self.path = path
        self.text = text
        self.keyCount = keyCount
    }

    /// - Throws: `.unreadableIdentity` if there is not exactly one key, or it cannot be opened.
    func privateKey(password: String?) throws(TrustError) -> PrivateKey {
        guard self.keyCount > 0 else {
            throw TrustError.identity(
                self.path, "no private key found; PEM has a line \"-----BEGIN PRIVATE KEY-----\"")
        }
        guard self.keyCount == 1 else {
            throw TrustError.identity(
                self.path, "holds \(self.keyCount) private keys; keep the one of the certificate")
        }
        return try PrivateKey(pem: self.text, file: self.path, password: password)
    }

    /// Returns the bytes of a file.
    static func read(_ path: String) throws(TrustError) -> [UInt8] {
        do throws(TrustError) {
            return try CertificateFiles.read(path)
        } catch {
            throw error.ofIdentity
        }
    }
}

extension TrustError {
    /// - Parameter file: the file that should have the identity.
    static func identity(_ file: String, _ message: String, cause: String? = nil) -> TrustError {
        TrustError(code: .unreadableIdentity, message: "\(file): \(message)", cause: cause)
    }

    /// This error as one about an identity instead of a certificate.
    fileprivate var ofIdentity: TrustError {
        TrustError(code: .unreadableIdentity, message: self.message, cause: self.cause)
    }
}
