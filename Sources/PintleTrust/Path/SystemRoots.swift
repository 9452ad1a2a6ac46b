// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc
internal import PintleSystem

/// The roots that the operating system trusts, found in the places where OpenSSL looks for them.
///
/// `SSL_CERT_FILE` and `SSL_CERT_DIR` are honoured, and replace the system's files. On a machine without roots every chain
/// is refused. Entries of a store that are no readable certificates are skipped: other programs maintain the store, and one
/// odd entry must not block all connections.
struct SystemRoots: Sendable {
    private let index: [DistinguishedName: [Anchor]]
    /// Each certificate once, in the order of the files.
    let certificates: [Certificate]

    /// The places of the bundle in common distributions, for an OpenSSL that was not built to look there.
    private static let commonBundles = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    private static let cache = SystemRootCache()

    /// Returns the roots of that name.
    func roots(named name: DistinguishedName) -> [Anchor] {
        self.index[name] ?? []
    }

    /// Returns the roots in the files at this moment. Files that did not change are not parsed again.
    static func current() -> SystemRoots {
        var files: [String] = []
        let environment = (getenv("SSL_CERT_FILE"), getenv("SSL_CERT_DIR"))
        let file = environment.0 ?? UnsafeMutablePointer(mutating: X509_get_default_cert_file())
        if let file { files.append(String(systemText: file)) }
        let folders = environment.1 ?? UnsafeMutablePointer(mutating: X509_get_default_cert_dir())
        let isReplaced = environment.0 != nil || environment.1 != nil
        let bundle = isReplaced ? nil : self.commonBundles.first { access($0, R_OK) == 0 }
        if let bundle {
            files.append(bundle)
        } else if let folders {
            // The folder has one file for each root; a bundle beside it has the same roots.
            for folder in String(systemText: folders).split(separator: ":") {
                files += self.hashedFiles(in: String(folder))
            }
        }
        return self.cache.roots(of: SystemRootCache.Sources(files))
    }

    /// Returns the files with names in the form of `c_rehash`: eight digits of the subject's hash, a dot, a number.
    private static func hashedFiles(in folder: String) -> [String] {
        guard let names = try? CertificateFiles.names(inFolder: folder) else { return [] }
        return names.filter { name in
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 2 && parts[0].count == 8 && parts[0].allSatisfy(\.isHexDigit)
                && !parts[1].isEmpty && parts[1].allSatisfy(\.isNumber)
        }.sorted().map { "\(folder)/\($0)" }
    }

    fileprivate init(_ sources: SystemRootCache.Sources) {
        var index: [DistinguishedName: [Anchor]] = [:]
        var seen: Set<Certificate> = []
        var certificates: [Certificate] = []
        for der in sources.files.flatMap({ PEMBlocks.certificates(in: $0) }) {
            guard let root = try? PathCertificate(der: der, source: "system root"),
                seen.insert(root.certificate).inserted
            else { continue }
            index[root.facts.subject.name, default: []].append(Anchor(certificate: root))
            certificates.append(root.certificate)
        }
        self.index = index
        self.certificates = certificates
    }
}

/// The roots that were read last, and the bytes that they were read from.
fileprivate final class SystemRootCache: Sendable {
    private let last = Locked<(sources: Sources, roots: SystemRoots)?>(nil)

    /// The bytes that roots are read from.
    struct Sources: Equatable {
        let files: [[UInt8]]

        init(_ files: [String]) {
            self.files = files.compactMap { try? CertificateFiles.read($0) }
        }
    }

    func roots(of sources: Sources) -> SystemRoots {
        self.last.withLock { last in
            if let last, last.sources == sources { return last.roots }
            let roots = SystemRoots(sources)
            last = (sources, roots)
            return roots
        }
    }
}
