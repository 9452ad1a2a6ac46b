// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc
internal import PintleSystem

/// A private key that signs with Ed25519 (RFC 8032).
package final class SigningKey: @unchecked Sendable {
    // Why @unchecked holds: nothing changes behind the pointer after `init`, and OpenSSL signs with one key on several threads.

    private let key: PrivateKey
    /// The key that verifies its signatures.
    package let publicKey: VerifyingKey

    /// Reads a private key in PEM (PKCS #8, RFC 8410), as `openssl genpkey -algorithm ed25519` makes it.
    ///
    /// - Parameter file: the name of the file in errors.
    /// - Throws: `.unreadableIdentity` if the text is not one private key for Ed25519, or the key is encrypted.
    package init(pem text: [UInt8], file: String) throws(TrustError) {
        let block = try KeyFile.block(of: text, file: file)
        switch block.label {
        case "PRIVATE KEY": break
        case "ENCRYPTED PRIVATE KEY":
            throw TrustError.identity(
                file, "the private key is encrypted; decrypt it into a pipe: --sign <(openssl pkey -in \(file))")
        case let label where label.hasSuffix("PRIVATE KEY"): throw Self.otherKind(file)
        default: throw TrustError.identity(file, "no private key, but a block \(block.label)")
        }
        let key = try PrivateKey(pem: text, file: file, password: nil)
        var raw = [UInt8](repeating: 0, count: 32)
        var count = raw.count
        guard EVP_PKEY_get_id(key.pointer) == NID_ED25519,
            EVP_PKEY_get_raw_public_key(key.pointer, &raw, &count) == 1, count == raw.count
        else {
            OpenSSLErrors.clear()
            throw Self.otherKind(file)
        }
        self.key = key
        self.publicKey = VerifyingKey(raw: raw)
    }

    /// Reads the file of a private key in PEM. A pipe can be read once, so that no other program reads the key.
    ///
    /// - Throws: `.unreadableIdentity` if the file cannot be read, has no such key, or others may read it.
    package convenience init(file: String) throws(TrustError) {
        var status = stat()
        if pathStat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 {
            throw TrustError.identity(
                file,
                "others may read the key (mode \(String(status.st_mode & 0o777, radix: 8))), and sign with it; "
                    + "`chmod 600 \(file)`, or make a new key if somebody may have read it")
        }
        try self.init(pem: KeyFile.read(file), file: file)
    }

    private static func otherKind(_ file: String) -> TrustError {
        TrustError.identity(
            file, "the private key is not one for Ed25519; make one: openssl genpkey -algorithm ed25519 -out \(file)")
    }

    /// Returns the signature of a message: 64 bytes.
    ///
    /// - Throws: `.library` if OpenSSL fails.
    package func signature(of message: UnsafeRawBufferPointer) throws(TrustError) -> [UInt8] {
        OpenSSLErrors.clear()
        guard let context = EVP_MD_CTX_new() else { throw OpenSSLErrors.failure(of: "EVP_MD_CTX_new") }
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 64)
        var count = signature.count
        guard EVP_DigestSignInit(context, nil, nil, nil, self.key.pointer) == 1,
            EVP_DigestSign(
                context, &signature, &count, message.baseAddress?.assumingMemoryBound(to: UInt8.self), message.count)
                == 1,
            count == signature.count
        else { throw OpenSSLErrors.failure(of: "EVP_DigestSign") }
        return signature
    }
}

/// Files of keys for signatures.
enum KeyFile {
    /// The largest size in bytes; a key takes a few hundred.
    private static let longest = 64 << 10

    /// Returns the bytes of a file, or of a pipe.
    static func read(_ path: String) throws(TrustError) -> [UInt8] {
        do throws(SystemError) {
            return try FileBytes.read(path, atMost: self.longest)
        } catch {
            throw TrustError.identity(path, "cannot be read: \(error)")
        }
    }

    /// Returns the only block of a PEM text.
    static func block(of text: [UInt8], file: String) throws(TrustError) -> PEMBlocks.Block {
        let count = PEMBlocks.count(in: text)
        guard count == 1 else {
            throw TrustError.identity(
                file,
                count == 0 ? "no key in PEM, which has a line \"-----BEGIN …\"" : "\(count) blocks; keep the key alone")
        }
        var blocks = try PEMBlocks(text, file: file)
        guard let block = try blocks.next() else { throw TrustError.identity(file, "the PEM block is damaged") }
        return block
    }
}
