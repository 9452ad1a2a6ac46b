// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

extension TrustStore {
    /// Reads the certificates that Java trusts by themselves from a store, in PKCS#12 or in Java's own format. Certificates
    /// that belong to keys are left out.
    ///
    /// - Parameter password: the password of the store. Without it, encrypted parts are left out, as Java does.
    /// - Throws: `.unreadableCertificate`, naming the file: it cannot be read, is not such a store, or the password does
    ///   not open it.
    package static func certificates(inStore path: String, password: String?) throws(TrustError) -> [Certificate] {
        let bytes = try CertificateFiles.read(path)
        let encoded: [[UInt8]]
        if JavaKeyStore.begins(bytes) {
            guard let store = JavaKeyStore(bytes) else {
                throw self.unreadable(path, "it is cut short, or has entries that are neither keys nor certificates")
            }
            encoded = store.trusted
        } else {
            encoded = try self.trusted(inPKCS12: bytes, path, password)
        }
        var certificates: [Certificate] = []
        for der in encoded {
            let certificate = try Certificate(der: der, source: "\(path): certificate \(certificates.count + 1)")
            certificates.append(certificate)
        }
        return certificates.withoutDuplicates()
    }

    private static func trusted(
        inPKCS12 bytes: [UInt8], _ path: String, _ password: String?
    ) throws(TrustError) -> [[UInt8]] {
        OpenSSLErrors.clear()
        let store = bytes.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_PKCS12(nil, &cursor, bytes.count)
        }
        defer { PKCS12_free(store) }
        guard let store, let safes = PKCS12_unpack_authsafes(store) else {
            throw self.unreadable(path, "it is neither PKCS#12 nor of Java's own format", cause: OpenSSLErrors.drain())
        }
        defer { pintle_pkcs12_safes_free(safes) }
        if let password, PKCS12_mac_present(store) == 1, PKCS12_verify_mac(store, password, -1) != 1 {
            throw self.unreadable(path, "the password does not open it", cause: OpenSSLErrors.drain())
        }
        var trusted: [[UInt8]] = []
        for index in 0..<max(0, pintle_pkcs12_safes_count(safes)) {
            guard let safe = pintle_pkcs12_safes_value(safes, index) else { continue }
            let isClear = pintle_pkcs12_safe_is_clear(safe) == 1
            guard isClear || (password != nil && pintle_pkcs12_safe_is_encrypted(safe) == 1) else { continue }
            guard let bags = isClear ? PKCS12_unpack_p7data(safe) : PKCS12_unpack_p7encdata(safe, password, -1) else {
                throw self.unreadable(
                    path, "it may be damaged, or encrypted in a way that OpenSSL no longer supports, as RC2",
                    cause: OpenSSLErrors.drain())
            }
            defer { pintle_pkcs12_bags_free(bags) }
            for number in 0..<max(0, pintle_pkcs12_bags_count(bags)) {
                guard let bag = pintle_pkcs12_bags_value(bags, number), pintle_pkcs12_is_trusted(bag) == 1,
                    let certificate = PKCS12_SAFEBAG_get1_cert(bag)
                else { continue }
                defer { X509_free(certificate) }
                if let der = X509View(pointer: certificate).der { trusted.append(der) }
            }
        }
        return trusted
    }

    private static func unreadable(_ path: String, _ reason: String, cause: String? = nil) -> TrustError {
        TrustError(code: .unreadableCertificate, message: "\(path): the store cannot be read: \(reason)", cause: cause)
    }
}
