// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// Parses a PEM text, one block at a time.
struct PEMBlocks: ~Copyable {
    struct Block {
        /// The label after `BEGIN`, for example `CERTIFICATE`.
        let label: String
        let bytes: [UInt8]
    }

    private let bio: OpaquePointer
    private let file: String
    private var remaining: Int

    /// - Throws: `.unreadableCertificate` if the text has no block.
    init(_ text: [UInt8], file: String) throws(TrustError) {
        let blocks = PEMBlocks.count(in: text)
        guard blocks > 0 else {
            throw TrustError(
                code: .unreadableCertificate,
                message: "\(file): no certificate found; PEM has a line \"-----BEGIN CERTIFICATE-----\"")
        }
        OpenSSLErrors.clear()
        // A memory BIO that copies, since the array's storage may move.
        guard let bio = BIO_new(BIO_s_mem()) else { throw OpenSSLErrors.failure(of: "BIO_new") }
        guard BIO_write(bio, text, CInt(clamping: text.count)) == text.count else {
            BIO_free(bio)
            throw OpenSSLErrors.failure(of: "BIO_write")
        }
        self.bio = bio
        self.file = file
        self.remaining = blocks
    }

    deinit {
        BIO_free(self.bio)
    }

    /// Returns the next block; nil after the last.
    ///
    /// - Throws: `.unreadableCertificate` if a block is damaged or never ends.
    mutating func next() throws(TrustError) -> Block? {
        guard self.remaining > 0 else { return nil }
        self.remaining -= 1

        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var length = 0
        OpenSSLErrors.clear()
        // Every BEGIN must yield a block: OpenSSL by itself would skip one with a damaged first line.
        guard PEM_read_bio(self.bio, &name, &header, &data, &length) == 1, let name, let data else {
            throw TrustError(
                code: .unreadableCertificate,
                message: "\(self.file): a PEM block is damaged or cut short; copy the file again, whole",
                cause: OpenSSLErrors.drain())
        }
        defer {
            pintle_openssl_free(name)
            pintle_openssl_free(header)
            pintle_openssl_free(data)
        }
        return Block(label: String(cString: name), bytes: Array(UnsafeBufferPointer(start: data, count: length)))
    }

    /// Returns the certificates of a text, which may have other blocks; damaged blocks are skipped.
    static func certificates(in text: [UInt8]) -> [[UInt8]] {
        guard var blocks = try? PEMBlocks(text, file: "") else { return [] }
        var certificates: [[UInt8]] = []
        while blocks.remaining > 0 {
            guard let block = try? blocks.next(), block.label.hasSuffix("CERTIFICATE") else { continue }
            certificates.append(block.bytes)
        }
        return certificates
    }

    /// Returns the number of blocks that begin in a text; 0 for DER.
    static func count(in text: [UInt8]) -> Int {
        let marker = Array("-----BEGIN".utf8)
        guard text.count >= marker.count else { return 0 }
        return (0...(text.count - marker.count)).count { start in
            // The first byte nearly always decides, without a slice.
            text[start] == marker[0] && text[start..<(start + marker.count)].elementsEqual(marker)
        }
    }
}
