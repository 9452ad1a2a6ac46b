// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import PintleSystem

/// A certificate revocation list (RFC 5280 §5): its DER bytes, which a verifier still has to check.
public struct RevocationList: Sendable, Hashable {
    /// The encoding, byte for byte as it was given.
    public let der: [UInt8]

    /// Reads lists from a file of at most 8 MiB: PEM (one list or many) or one DER list.
    ///
    /// - Returns: at least one list, each once.
    /// - Throws: `.unreadableCertificate`, naming the file: it cannot be read, is no list, or has other blocks too.
    public static func load(path: String) throws(TrustError) -> [RevocationList] {
        let bytes = try CertificateFiles.read(path)
        guard PEMBlocks.count(in: bytes) > 0 else { return [try RevocationList(der: bytes, file: path)] }
        var blocks = try PEMBlocks(bytes, file: path)
        var lists: [RevocationList] = []
        while let block = try blocks.next() {
            guard block.label == "X509 CRL" else {
                throw TrustError(
                    code: .unreadableCertificate,
                    message: "\(path): holds \"\(block.label.prefix(100))\" where a revocation list belongs; "
                        + "give a file of revocation lists only (BEGIN X509 CRL)")
            }
            lists.append(try RevocationList(der: block.bytes, file: path))
        }
        return lists.withoutDuplicates()
    }

    /// - Parameter file: the origin of the bytes, for messages.
    /// - Throws: `.unreadableCertificate` for bytes that are no list, and for a delta list, which is useless without the
    ///   list that it changes.
    package init(der: [UInt8], file: String) throws(TrustError) {
        self.der = der
        let parsed = try ParsedRevocationList(self, source: file)
        guard !parsed.facts.isDelta else {
            throw TrustError(
                code: .unreadableCertificate,
                message: "\(file): a delta list, which has the changes since another list only; "
                    + "give the complete list of \"\(parsed.issuerText.prefix(200))\"")
        }
    }
}

/// A list that OpenSSL has parsed.
///
/// `@unchecked Sendable`, because the compiler cannot see into the pointer. The object is owned and only queried; if a
/// query makes OpenSSL sort the entries, it does so under the object's own lock.
final class ParsedRevocationList: @unchecked Sendable {
    let issuer: DistinguishedName
    /// The issuer on one line (RFC 4514).
    let issuerText: String
    /// Facts that OpenSSL's functions hide.
    let facts: RevocationListFacts
    /// The period from the list's making to the last moment at which it may be used; nil if it has no end, which makes it
    /// useless.
    let validity: ClosedRange<UnixTime>?
    /// True if the list is about all certificates of its issuer, in the form that every verifier understands: it has a
    /// number, and no critical extensions, which mark lists of deltas, of some certificates or of other issuers (§5.2). Its
    /// entries must not have critical extensions either, as their meaning would be unknown (§5.3).
    let isPlain: Bool
    /// Size in bytes.
    let size: Int
    private let pointer: OpaquePointer
    /// The keys that are known to have signed it, in practice one. Remembered because the list never changes and may have
    /// millions of bytes.
    private let signers = Locked<Set<Pin>>([])

    init(_ list: RevocationList, source: String) throws(TrustError) {
        OpenSSLErrors.clear()
        let (parsed, consumed) = list.der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            let parsed = d2i_X509_CRL(nil, &cursor, bytes.count)
            return (parsed, cursor.map { $0 - (bytes.baseAddress ?? $0) } ?? 0)
        }
        let cause = OpenSSLErrors.drain()
        guard let parsed, consumed == list.der.count, let facts = try? RevocationListFacts(der: list.der),
            let name = try? NameAttributes(X509View.encoding(of: X509_CRL_get_issuer(parsed))[...])
        else {
            X509_CRL_free(parsed)
            throw TrustError(
                code: .unreadableCertificate,
                message: "\(source): not a certificate revocation list; give it as PEM (BEGIN X509 CRL) or as DER",
                cause: cause)
        }
        self.pointer = parsed
        self.size = list.der.count
        self.issuer = name.name
        self.issuerText = X509View.text(of: X509_CRL_get_issuer(parsed))
        self.facts = facts
        let from = X509View.moment(X509_CRL_get0_lastUpdate(parsed))
        let to = X509View.moment(X509_CRL_get0_nextUpdate(parsed))
        if let from, let to, from <= to { self.validity = from...to } else { self.validity = nil }
        let extensions = (0..<max(0, X509_CRL_get_ext_count(parsed))).map { X509_CRL_get_ext(parsed, $0) }
        self.isPlain =
            X509_CRL_get_ext_by_NID(parsed, NID_crl_number, -1) >= 0 && !facts.hasCriticalEntries
            && extensions.allSatisfy { X509_EXTENSION_get_critical($0) == 0 }
    }

    deinit {
        X509_CRL_free(self.pointer)
    }

    /// True if an earlier check found that the list is signed with this key.
    func isKnownToBeSigned(with pin: Pin) -> Bool { self.signers.withLock { $0.contains(pin) } }

    /// - Parameter pin: the pin of the key.
    func isSigned(with key: OpaquePointer, pin: Pin) -> Bool {
        let isSigned = X509_CRL_verify(self.pointer, key) == 1
        if isSigned { self.signers.withLock { _ = $0.insert(pin) } } else { OpenSSLErrors.clear() }
        return isSigned
    }

    /// True if the list revokes a certificate; an entry that removes it from an earlier list does not count.
    func revokes(_ certificate: OpaquePointer) -> Bool {
        var entry: OpaquePointer?
        return X509_CRL_get0_by_cert(self.pointer, &entry, certificate) == 1
    }
}
