// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// An X.509 certificate: its DER bytes, parsed once by OpenSSL.
///
/// Two certificates are equal if their bytes are.
public struct Certificate: Sendable {
    /// The encoding, byte for byte as given if that is DER. BER around the signed part, for instance a signature with
    /// unused bits, is converted to DER.
    public let der: [UInt8]
    /// The subject on one line, most specific part first, for example `CN=api.example,O=Example` (RFC 4514); empty if there
    /// is none.
    public let subject: String
    /// The issuer, in the form of `subject`.
    public let issuer: String
    /// First moment of validity.
    public let notBefore: UnixTime
    /// Last moment of validity.
    public let notAfter: UnixTime
    /// The serial number in upper-case hexadecimal, two digits per byte.
    public let serial: String
    /// The DNS names and IP addresses of the subjectAltName; bytes that cannot be printed are shown as `?`.
    public let names: [String]
    /// The pin of its public key.
    public let spkiPin: Pin
    /// The algorithm and size of the key, for example `EC P-256`, `RSA 2048` or `Ed25519`.
    public let keyType: String
    /// True if subject and issuer are equal, as in a root.
    public let isSelfIssued: Bool

    /// Parses one certificate.
    ///
    /// - Throws: `.unreadableCertificate` if the bytes are not exactly one certificate; bytes after it are an error, since
    ///   their meaning is unknown.
    public init(der: [UInt8]) throws(TrustError) {
        try self.init(der: der, source: "the DER bytes")
    }

    /// - Parameter source: the origin of the bytes, for messages.
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

    /// Copies the fields of a parsed certificate; nil if its dates or its key cannot be read.
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
    /// The subject in quotation marks, for messages. It is cut short, since a peer may choose it, at any length.
    var label: String {
        self.subject.count > 200 ? "\"\(self.subject.prefix(200))…\"" : "\"\(self.subject)\""
    }
}

extension Certificate: Hashable {
    /// True if the encodings are equal, byte for byte.
    public static func == (left: Certificate, right: Certificate) -> Bool {
        left.der == right.der
    }

    /// Hashes the encoding.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.der)
    }
}

/// One owned `X509 *`, freed with the handle.
struct X509Handle: ~Copyable {
    private let pointer: OpaquePointer

    /// Takes a further reference to a certificate that has another owner.
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

    /// Lends the certificate to `body`.
    func read<Result>(_ body: (X509View) -> Result) -> Result {
        body(X509View(pointer: self.pointer))
    }
}
