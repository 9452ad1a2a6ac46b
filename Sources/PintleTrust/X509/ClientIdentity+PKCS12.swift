// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

extension ClientIdentity {
    /// Reads a PKCS#12 file (RFC 7292), mostly named `.p12` or `.pfx`.
    ///
    /// The client's certificate is the one that the key belongs to; all others are its signers, in the file's order.
    ///
    /// - Parameter password: the password of the file, in UTF-8; nil and the empty text open a file without one.
    /// - Throws: `.unreadableIdentity`, naming the file: it cannot be read, is no PKCS#12, does not open with the
    ///   password, is encrypted in a way that OpenSSL no longer supports, or lacks the key or its certificate.
    public init(pkcs12File path: String, password: String? = nil) throws(TrustError) {
        let file = try PKCS12File(path)
        var keyPointer: OpaquePointer?
        var leaf: OpaquePointer?
        var others: OpaquePointer?
        try file.open(password: password, &keyPointer, &leaf, &others)
        defer {
            X509_free(leaf)
            pintle_x509_stack_free_all(others)
        }
        guard let keyPointer else {
            throw TrustError.identity(path, "no private key found; export the certificate together with its key")
        }
        let key = PrivateKey(owning: keyPointer)
        let issuers = X509View.all(in: others)
        guard let leaf else {
            throw TrustError.identity(
                path,
                issuers.isEmpty
                    ? "no certificate found; export the key together with its certificate"
                    : "the private key does not belong to any certificate of the file; export it with its own")
        }
        let chain = ([X509View(pointer: leaf)] + issuers).compactMap(Certificate.init)
        guard chain.count == 1 + issuers.count else {
            throw TrustError.identity(
                path, "the dates or the key of a certificate cannot be read; ask its issuer for a valid one")
        }
        try self.init(chain: chain, key: key, path, path)
    }
}

/// One owned `PKCS12 *`, freed when the value goes.
private struct PKCS12File: ~Copyable {
    private let pointer: OpaquePointer
    private let path: String

    init(_ path: String) throws(TrustError) {
        let bytes = try IdentityFile.read(path)
        OpenSSLErrors.clear()
        let parsed = bytes.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_PKCS12(nil, &cursor, bytes.count)
        }
        guard let parsed else {
            throw TrustError.identity(
                path, "not a PKCS#12 file; export certificate and key as one, or give them as PEM",
                cause: OpenSSLErrors.drain())
        }
        self.pointer = parsed
        self.path = path
    }

    deinit {
        PKCS12_free(self.pointer)
    }

    /// Opens the file. The caller frees the results; there are none if this throws.
    ///
    /// - Parameter others: set to a `STACK_OF(X509)` of the certificates other than the key's.
    func open(
        password: String?, _ key: inout OpaquePointer?, _ leaf: inout OpaquePointer?, _ others: inout OpaquePointer?
    ) throws(TrustError) {
        OpenSSLErrors.clear()
        guard PKCS12_parse(self.pointer, password, &key, &leaf, &others) == 1 else {
            let isLocked = ERR_GET_REASON(ERR_peek_last_error()) == PKCS12_R_MAC_VERIFY_FAILURE
            let cause = OpenSSLErrors.drain()
            throw TrustError.identity(self.path, isLocked ? Self.locked(password) : Self.unsupported, cause: cause)
        }
    }

    private static func locked(_ password: String?) -> String {
        password == nil ? "the file is encrypted; give its password" : "the password does not open the file"
    }

    private static let unsupported =
        "cannot be opened; it may be damaged, or encrypted in a way that OpenSSL no longer supports, as RC2: "
        + "export it again with AES"
}
