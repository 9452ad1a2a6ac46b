// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A certificate that may become part of a path: its fields, and OpenSSL's object for checking signatures.
///
/// `@unchecked Sendable`, because the compiler cannot see into the pointer. The object is owned by an atomic reference
/// count, and only read: OpenSSL has decoded the key while it parsed the certificate, and verifying a signature changes
/// neither of the two certificates.
final class PathCertificate: @unchecked Sendable {
    let certificate: Certificate
    let facts: CertificateFacts
    /// True if OpenSSL could make a key of the certificate's data: a point lies on its curve, the algorithm is known.
    let hasUsableKey: Bool
    private let pointer: OpaquePointer

    /// The longest certificate that is read, in bytes; the certificates of a whole handshake have a tenth of it.
    private static let longest = 1 << 20

    /// Takes a certificate that OpenSSL has parsed.
    ///
    /// - Returns: nil if dates, key or outer structure cannot be read, or if it is longer than 1 MiB.
    init?(_ view: X509View) {
        guard let certificate = Certificate(view), certificate.der.count <= PathCertificate.longest,
            let facts = try? CertificateFacts(der: certificate.der)
        else {
            return nil
        }
        self.certificate = certificate
        self.facts = facts
        // The key was decoded with the certificate. If that failed, this call tries again, and leaves an error in the
        // queue.
        self.hasUsableKey = X509_get0_pubkey(view.pointer) != nil
        if !self.hasUsableKey { OpenSSLErrors.clear() }
        self.pointer = view.pointer
        X509_up_ref(view.pointer)
    }

    /// - Throws: `.unreadableCertificate` if the bytes are no certificate.
    convenience init(_ certificate: Certificate) throws(TrustError) {
        try self.init(der: certificate.der, source: certificate.label)
    }

    /// - Parameter source: the origin of the bytes, for messages.
    convenience init(der: [UInt8], source: String) throws(TrustError) {
        guard der.count <= PathCertificate.longest else {
            throw TrustError(
                code: .unreadableCertificate,
                message: "\(source): a certificate of more than 1 MiB, which no handshake could carry")
        }
        let handle = try X509Handle(der: der, source: source)
        guard let made = handle.read({ PathCertificate($0) }) else {
            throw TrustError(
                code: .unreadableCertificate,
                message: "\(source): the certificate's dates, its key or its encoding cannot be read; "
                    + "ask its issuer for a valid one")
        }
        self.init(copying: made)
    }

    private init(copying other: PathCertificate) {
        self.certificate = other.certificate
        self.facts = other.facts
        self.hasUsableKey = other.hasUsableKey
        self.pointer = other.pointer
        X509_up_ref(other.pointer)
    }

    deinit {
        X509_free(self.pointer)
    }

    /// Lends OpenSSL's object to `body`, which must not change it or keep it.
    func read<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try body(self.pointer) }
    }

    /// True if the other certificate's key made the signature; names are not compared.
    func isSigned(by issuer: PathCertificate) -> Bool {
        guard let key = X509_get0_pubkey(issuer.pointer) else { return false }
        let isSigned = X509_verify(self.pointer, key) == 1
        if !isSigned { OpenSSLErrors.clear() }
        return isSigned
    }

    /// True if this authority signed a revocation list, with a key that may sign lists.
    func signed(_ list: ParsedRevocationList, budget: inout SearchBudget) -> Bool {
        let key = self.facts.key
        guard self.facts.extensions.keyUsage?.signsRevocationLists != false, key.mayCheckSignatures else {
            return false
        }
        if list.isKnownToBeSigned(with: self.facts.keyPin) { return true }
        // Other certificates with the issuer's name may have other keys, and each check reads the whole list.
        guard budget.signatures > 0, let pointer = X509_get0_pubkey(self.pointer) else { return false }
        budget.signatures -= key.cost + min(list.size >> 17, 8)
        return list.isSigned(with: pointer, pin: self.facts.keyPin)
    }

    func isRevoked(by list: ParsedRevocationList) -> Bool {
        list.revokes(self.pointer)
    }

    /// True if a certificate stands for the same authority: it has the same name and the same key.
    func isSameEntity(as other: PathCertificate) -> Bool {
        self.facts.keyPin == other.facts.keyPin && self.facts.subject.name == other.facts.subject.name
    }

    func isValid(at moment: UnixTime) -> Bool {
        self.certificate.notBefore <= moment && moment <= self.certificate.notAfter
    }
}
