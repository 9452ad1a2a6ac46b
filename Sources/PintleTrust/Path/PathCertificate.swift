// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// A certificate that may become part of a path: what it says, and OpenSSL's object for checking signatures.
///
/// `@unchecked Sendable`, because the compiler cannot see into the pointer. The object is owned by a reference count,
/// which is atomic, and only read: OpenSSL has decoded the key while it parsed the certificate, and verifying a
/// signature changes neither end.
final class PathCertificate: @unchecked Sendable {
    let certificate: Certificate
    let facts: CertificateFacts
    /// OpenSSL could make a key of what the certificate says: a point lies on its curve, the algorithm is known.
    let hasUsableKey: Bool
    private let pointer: OpaquePointer

    /// The longest certificate that is read, in bytes; a handshake carries a tenth of it.
    private static let longest = 1 << 20

    /// Takes a certificate that OpenSSL has parsed.
    ///
    /// - Returns: nil where dates, key or frame cannot be read, or there is more than 1 MiB of it.
    init?(_ view: X509View) {
        guard let certificate = Certificate(view), certificate.der.count <= PathCertificate.longest,
            let facts = try? CertificateFacts(der: certificate.der)
        else {
            return nil
        }
        self.certificate = certificate
        self.facts = facts
        // The key was decoded with the certificate. Where that failed this tries once more, and leaves its reason behind.
        self.hasUsableKey = X509_get0_pubkey(view.pointer) != nil
        if !self.hasUsableKey { OpenSSLErrors.clear() }
        self.pointer = view.pointer
        X509_up_ref(view.pointer)
    }

    /// - Throws: `.unreadableCertificate` if the bytes are no certificate.
    convenience init(_ certificate: Certificate) throws(TrustError) {
        try self.init(der: certificate.der, source: certificate.label)
    }

    /// - Parameter source: where the bytes come from, as a message names it.
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

    /// Lends OpenSSL's object for the time of `body`, which must not change it.
    func read<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try body(self.pointer) }
    }

    /// Whether the signature fits the other certificate's key; names are not looked at.
    func isSigned(by issuer: PathCertificate) -> Bool {
        guard let key = X509_get0_pubkey(issuer.pointer) else { return false }
        let isSigned = X509_verify(self.pointer, key) == 1
        if !isSigned { OpenSSLErrors.clear() }
        return isSigned
    }

    /// Whether a revocation list is this authority's: signed with its key, which may sign lists.
    func signed(_ list: ParsedRevocationList, budget: inout WorkBudget) -> Bool {
        let key = self.facts.key
        guard self.facts.extensions.keyUsage?.signsRevocationLists != false, key.mayCheckSignatures else {
            return false
        }
        if list.isKnownToBeSigned(with: self.facts.keyPin) { return true }
        // Others of the issuer's name may have other keys, and each is tried against the whole of the list.
        guard budget.signatures > 0, let pointer = X509_get0_pubkey(self.pointer) else { return false }
        budget.signatures -= key.cost + min(list.size >> 17, 8)
        return list.isSigned(with: pointer, pin: self.facts.keyPin)
    }

    func isRevoked(by list: ParsedRevocationList) -> Bool {
        list.revokes(self.pointer)
    }

    /// Whether a certificate stands for the same authority: the same name with the same key.
    func isSameEntity(as other: PathCertificate) -> Bool {
        self.facts.keyPin == other.facts.keyPin && self.facts.subject.name == other.facts.subject.name
    }

    func isValid(at moment: UnixTime) -> Bool {
        self.certificate.notBefore <= moment && moment <= self.certificate.notAfter
    }
}
