// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc
internal import PintleSystem

/// The roots that the operating system trusts, found where OpenSSL looks for them.
///
/// `SSL_CERT_FILE` and `SSL_CERT_DIR` are honoured, and replace what the system has. A machine without roots has none,
/// and every chain is refused. What a store holds beside certificates that can be read is passed over: it is kept by
/// others, and one odd entry must not close all connections.
struct SystemRoots: Sendable {
    private let index: [DistinguishedName: [Anchor]]
    /// Each of them once, in the order of the files.
    let certificates: [Certificate]

    /// Where distributions keep their bundle when OpenSSL was not built to look there.
    private static let commonBundles = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    private static let cache = SystemRootCache()

    /// The roots of that name.
    func roots(named name: DistinguishedName) -> [Anchor] {
        self.index[name] ?? []
    }

    /// The roots as the files are now. Files that did not change are not parsed again.
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
            // The folder holds one file for each root; a bundle beside it has the same ones.
            for folder in String(systemText: folders).split(separator: ":") {
                files += self.hashedFiles(in: String(folder))
            }
        }
        return self.cache.roots(of: SystemRootCache.Sources(files))
    }

    /// Names as `c_rehash` gives them: eight digits of the subject's hash, a dot, a number.
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

/// The last roots that were read, and of which bytes.
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
