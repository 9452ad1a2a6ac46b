// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// An X.509 certificate: its DER bytes, parsed once by OpenSSL.
///
/// Two certificates are equal when their bytes are.
public struct Certificate: Sendable {
    /// The encoding, byte for byte as it was given where that is DER; BER around the signed part, as in a signature with unused
    /// bits, is written as DER.
    public let der: [UInt8]
    /// On one line, most specific part first, as `CN=api.example,O=Example` (RFC 4514); empty when there is none.
    public let subject: String
    /// Who signed, written as `subject` is.
    public let issuer: String
    /// First moment of validity.
    public let notBefore: UnixTime
    /// Last moment of validity.
    public let notAfter: UnixTime
    /// Upper-case hexadecimal, two digits a byte.
    public let serial: String
    /// The DNS names and IP addresses of the subjectAltName; bytes that do not print are shown as `?`.
    public let names: [String]
    /// The pin of its public key.
    public let spkiPin: Pin
    /// Algorithm and size of the key, as `EC P-256`, `RSA 2048` or `Ed25519`.
    public let keyType: String
    /// Whether subject and issuer are the same name, as in a root.
    public let isSelfIssued: Bool

    /// Parses one certificate.
    ///
    /// - Throws: `.unreadableCertificate` if the bytes are not exactly one certificate; bytes after it count as an
    ///   error, since nobody can say what they were meant to be.
    public init(der: [UInt8]) throws(TrustError) {
        try self.init(der: der, source: "the DER bytes")
    }

    /// - Parameter source: where the bytes come from, as a message names it.
    init(der: [UInt8], source: String) throws(TrustError) {
        let handle = try X509Handle(der: der, source: source)
        guard let certificate = handle.read({ Certificate($0) }) else {
            throw TrustError(
                code: .unreadableCertificate,
                message: "\(source): the certificate's dates or its key cannot be read; ask its issuer for a valid one",
                cause: OpenSSLErrors.drain())
        }
        self = certificate
    }

    /// Copies what a parsed certificate says, or nil where its dates or its key cannot be read.
    init?(_ view: X509View) {
        guard let der = view.der, let notBefore = view.notBefore, let notAfter = view.notAfter,
            let spki = view.subjectPublicKeyInfo
        else { return nil }
        self.der = der
        self.subject = view.subject
        self.issuer = view.issuer
        self.notBefore = notBefore
        self.notAfter = notAfter
        self.serial = view.serial
        self.names = view.names
        self.spkiPin = Pin(spki: spki)
        self.keyType = (try? PublicKeyFacts(spki[...]))?.description ?? "unknown"
        self.isSelfIssued = view.isSelfIssued
    }
}

extension Certificate {
    /// The subject in quotation marks as messages name it, cut short: a peer may choose it, at any length.
    var label: String {
        self.subject.count > 200 ? "\"\(self.subject.prefix(200))…\"" : "\"\(self.subject)\""
    }
}

extension Certificate: Hashable {
    /// Whether the encodings are the same, byte for byte.
    public static func == (left: Certificate, right: Certificate) -> Bool {
        left.der == right.der
    }

    /// Hashes the encoding.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.der)
    }
}

/// One owned `X509 *`, freed when the handle goes.
struct X509Handle: ~Copyable {
    private let pointer: OpaquePointer

    /// Shares a certificate with whoever has it already.
    init(sharing pointer: OpaquePointer) {
        X509_up_ref(pointer)
        self.pointer = pointer
    }

    init(der: [UInt8], source: String) throws(TrustError) {
        OpenSSLErrors.clear()
        let (parsed, consumed) = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            let parsed = d2i_X509(nil, &cursor, bytes.count)
            return (parsed, cursor.map { $0 - (bytes.baseAddress ?? $0) } ?? 0)
        }
        guard let parsed else {
            throw TrustError(
                code: .unreadableCertificate,
                message: "\(source): not an X.509 certificate; give it as PEM (BEGIN CERTIFICATE) or as DER",
                cause: OpenSSLErrors.drain())
        }
        guard consumed == der.count else {
            X509_free(parsed)
            throw TrustError(
                code: .unreadableCertificate,
                message: "\(source): \(der.count - consumed) bytes follow the certificate; "
                    + "give one DER certificate per file, or several as PEM")
        }
        self.pointer = parsed
    }

    deinit {
        X509_free(self.pointer)
    }

    /// Lends the certificate for the time of `body`.
    func read<Result>(_ body: (X509View) -> Result) -> Result {
        body(X509View(pointer: self.pointer))
    }
}
