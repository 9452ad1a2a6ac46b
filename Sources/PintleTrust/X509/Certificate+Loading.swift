// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc

extension Certificate {
    /// Reads certificates from a file, or from the files of a folder.
    ///
    /// A file has PEM (one certificate or many) or one DER certificate. In a folder, the files ending in `.cer`, `.crt`,
    /// `.der` or `.pem` are read, in the order of their names, but no hidden files or sub-folders.
    ///
    /// - Returns: at least one certificate, each once.
    /// - Throws: `.unreadableCertificate`, naming the file: it cannot be read, is not a certificate, or has other blocks
    ///   besides certificates (for instance a private key). Nothing is skipped silently.
    public static func load(path: String) throws(TrustError) -> [Certificate] {
        guard try CertificateFiles.isFolder(path) else {
            return try self.load(bytes: CertificateFiles.read(path), file: path)
        }
        let files = try CertificateFiles.certificateFiles(inFolder: path)
        guard !files.isEmpty else {
            throw TrustError(
                code: .unreadableCertificate,
                message: "\(path): the folder holds no .cer, .crt, .der or .pem file; add one or name another folder")
        }
        var certificates: [Certificate] = []
        for file in files {
            certificates += try self.load(bytes: CertificateFiles.read(file), file: file)
        }
        return certificates.withoutDuplicates()
    }

    /// Reads the certificates of a PEM text; text between the blocks is ignored.
    ///
    /// - Parameter file: the origin of the text, for messages.
    /// - Returns: at least one certificate, each once.
    /// - Throws: `.unreadableCertificate` if there is none, a block is cut short, or a block is no certificate.
    public static func load(pem: [UInt8], file: String) throws(TrustError) -> [Certificate] {
        var certificates: [Certificate] = []
        try self.readBlocks(of: pem, file: file) { (der, source) throws(TrustError) in
            certificates.append(try Certificate(der: der, source: source))
        }
        return certificates.withoutDuplicates()
    }

    /// Calls `read` with the bytes of each certificate of a PEM text and its name in messages.
    static func readBlocks(
        of pem: [UInt8], file: String, _ read: (_ der: [UInt8], _ source: String) throws(TrustError) -> Void
    ) throws(TrustError) {
        var blocks = try PEMBlocks(pem, file: file)
        var number = 0
        while let block = try blocks.next() {
            guard block.label == "CERTIFICATE" || block.label == "X509 CERTIFICATE" else {
                throw self.wrongContent(block.label, file)
            }
            number += 1
            try read(block.bytes, "\(file): certificate \(number)")
        }
    }

    private static func load(bytes: [UInt8], file: String) throws(TrustError) -> [Certificate] {
        if PEMBlocks.count(in: bytes) > 0 {
            return try self.load(pem: bytes, file: file)
        }
        do {
            return [try Certificate(der: bytes, source: file)]
        } catch {
            throw self.isPrivateKey(der: bytes) ? self.wrongContent("PRIVATE KEY", file) : error
        }
    }

    private static func wrongContent(_ label: String, _ file: String) -> TrustError {
        let found = label.hasSuffix("PRIVATE KEY") ? "a private key" : "\"\(label)\""
        return TrustError(
            code: .unreadableCertificate,
            message: "\(file): holds \(found) where a certificate belongs; give a file of certificates only")
    }

    private static func isPrivateKey(der: [UInt8]) -> Bool {
        OpenSSLErrors.clear()
        defer { OpenSSLErrors.clear() }
        return der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            guard let key = d2i_AutoPrivateKey(nil, &cursor, bytes.count) else { return false }
            EVP_PKEY_free(key)
            return true
        }
    }
}

extension Array where Element: Hashable {
    /// Returns each element once, at its first place.
    func withoutDuplicates() -> [Element] {
        var seen: Set<Element> = []
        return self.filter { seen.insert($0).inserted }
    }
}
