// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A certificate with its private key, which proves a program's identity to servers (RFC 8446 §4.4.2).
///
/// The key stays inside OpenSSL: only `keyPEM` hands it out, and no description contains it. Copies share one key.
public struct ClientIdentity: Sendable {
    /// The certificates that a server is sent, in this order: the client's own, then its signers in the order of the file.
    public let chain: [Certificate]

    private let credentials: ClientCredentials

    /// Reads PEM files: certificate and key in one file, or each in its own.
    ///
    /// The first certificate is the client's, the following ones are its signers. An expired one is read like any other;
    /// the server will refuse it. The permissions of the files are not checked.
    ///
    /// - Parameters:
    ///   - certificateFile: the certificate and, optionally, its signers.
    ///   - keyFile: the file of the key; nil means that it is in `certificateFile`. If it is given, a key in
    ///     `certificateFile` is ignored.
    ///   - password: the password of an encrypted key, PKCS#8 or traditional; at most 1024 bytes of UTF-8. A key that is
    ///     not encrypted needs none.
    /// - Throws: `.unreadableIdentity`, naming the file: it cannot be read, has no certificate, no key or several ones, or
    ///   other blocks; the password does not open the key; or the key does not belong to the certificate.
    public init(
        certificateFile: String, keyFile: String? = nil, password: String? = nil
    ) throws(TrustError) {
        let certificates = try IdentityFile(certificateFile)
        guard !certificates.certificates.isEmpty else {
            throw TrustError.identity(
                certificateFile, "no certificate found; PEM has a line \"-----BEGIN CERTIFICATE-----\"")
        }
        let keys = if let keyFile { try IdentityFile(keyFile) } else { certificates }
        let key = try keys.privateKey(password: password)
        try self.init(chain: certificates.certificates, key: key, certificateFile, keyFile ?? certificateFile)
    }

    /// - Parameter chain: the certificates, leaf first; not empty.
    init(
        chain: [Certificate], key: consuming PrivateKey, _ certificateFile: String, _ keyFile: String
    ) throws(TrustError) {
        guard let certificate = chain.first else { preconditionFailure("BUG: an identity without a certificate") }
        self.credentials = try ClientCredentials(
            X509Handle(der: certificate.der, source: certificateFile), certificate, Array(chain.dropFirst()), key,
            certificateFile, keyFile)
        self.chain = chain
    }

    /// Takes a certificate that was just issued for `key`.
    ///
    /// - Parameter issuers: the signers to send with it.
    init(
        issued leaf: consuming X509Handle, by issuers: [Certificate], key: consuming PrivateKey
    ) throws(TrustError) {
        guard let certificate = leaf.read({ Certificate($0) }) else { throw OpenSSLErrors.failure(of: "i2d_X509") }
        self.chain = [certificate] + issuers
        self.credentials = try ClientCredentials(leaf, certificate, issuers, key, "the new certificate", "its key")
    }

    /// Gives every connection of an `SSL_CTX` this identity, for servers that ask for one.
    ///
    /// - Throws: `.unreadableIdentity` if OpenSSL does not accept it, for instance because the context's security level
    ///   demands a longer key.
    package func install(on sslContext: OpaquePointer) throws(TrustError) {
        guard self.isInstalled(onContext: sslContext) else {
            throw TrustError(
                code: .unreadableIdentity,
                message: "the client certificate \(self.chain.first?.label ?? ""): OpenSSL does not accept it; "
                    + "have one issued with a stronger key",
                cause: OpenSSLErrors.drain())
        }
    }

    /// Returns the private key in PKCS#8, as a PEM text without a password, which the caller must keep secret.
    ///
    /// - Throws: `.library` if OpenSSL fails.
    package func keyPEM() throws(TrustError) -> String { PEMText.block("PRIVATE KEY", try self.credentials.pkcs8()) }

    /// Gives every connection of a context this identity.
    ///
    /// - Returns: true if OpenSSL accepts it; otherwise the reason stays in the error queue.
    func isInstalled(onContext context: OpaquePointer) -> Bool {
        OpenSSLErrors.clear()
        return self.credentials.lend { leaf, key, issuers in
            SSL_CTX_use_cert_and_key(context, leaf, key, issuers, 1) == 1
        }
    }

    /// Gives one connection this identity, in place of the context's.
    ///
    /// - Returns: true if OpenSSL accepts it; otherwise the reason stays in the error queue.
    func isInstalled(onConnection connection: OpaquePointer) -> Bool {
        OpenSSLErrors.clear()
        return self.credentials.lend { leaf, key, issuers in
            SSL_use_cert_and_key(connection, leaf, key, issuers, 1) == 1
        }
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible {
    /// The certificate's subject, its issuer and the end of its validity.
    public var description: String {
        guard let leaf = self.chain.first else { return "client certificate" }
        return
            "client certificate \(leaf.label), issued by \"\(leaf.issuer.prefix(200))\", valid until \(leaf.notAfter)"
    }

    /// Equal to `description`.
    public var debugDescription: String { self.description }
}

/// The OpenSSL objects of an identity.
///
/// `@unchecked Sendable`, because the compiler cannot see into the pointers. They are set in `init` and never changed:
/// `init` checked that key and certificate match, including parameters, so OpenSSL has nothing to complete in them when a
/// context takes them. It takes them by atomic reference counts, and copies the list of the issuers.
private final class ClientCredentials: @unchecked Sendable {
    private let leaf: X509Handle
    private let issuers: OfflineChain
    private let key: PrivateKey

    init(
        _ leaf: consuming X509Handle, _ certificate: Certificate, _ signers: [Certificate],
        _ key: consuming PrivateKey, _ certificateFile: String, _ keyFile: String
    ) throws(TrustError) {
        var issuers = try OfflineChain()
        for issuer in signers { try issuers.append(issuer) }
        OpenSSLErrors.clear()
        let keyPointer = key.pointer
        guard leaf.read({ X509_check_private_key($0.pointer, keyPointer) }) == 1 else {
            throw TrustError.identity(
                keyFile,
                "the private key does not belong to the certificate \(certificate.label)"
                    + (keyFile == certificateFile ? "" : " of \(certificateFile)")
                    + "; give the two that were issued together, the certificate before its signers'",
                cause: OpenSSLErrors.drain())
        }
        self.leaf = leaf
        self.issuers = issuers
        self.key = key
    }

    func pkcs8() throws(TrustError) -> [UInt8] { try self.key.pkcs8() }

    /// Lends the certificate, the key and a `STACK_OF(X509)` of the issuers.
    ///
    /// The stack may be empty but is always there: without one OpenSSL would send certificates of the context's store.
    func lend(_ body: (OpaquePointer, OpaquePointer, OpaquePointer) -> Bool) -> Bool {
        self.leaf.read { leaf in
            self.issuers.lend { issuers in body(leaf.pointer, self.key.pointer, issuers) }
        }
    }
}
