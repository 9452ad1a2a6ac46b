// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The functions of the file system that certificates need.
enum CertificateFiles {
    /// The size limit of a file in bytes: far above any bundle of roots (about 220 KiB), and far below sizes that do harm.
    private static let largestFile = 8 << 20

    private static let endings = [".cer", ".crt", ".der", ".pem"]

    static func isFolder(_ path: String) throws(TrustError) -> Bool {
        try self.mode(of: path) & S_IFMT == S_IFDIR
    }

    /// Returns the certificate files directly in a folder, sorted by name.
    static func certificateFiles(inFolder path: String) throws(TrustError) -> [String] {
        let wanted = try self.names(inFolder: path).filter { name in
            !name.hasPrefix(".") && self.endings.contains { name.lowercased().hasSuffix($0) }
        }
        var files: [String] = []
        for name in wanted.sorted() {
            let file = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
            if try !self.isFolder(file) { files.append(file) }
        }
        return files
    }

    /// Returns the names in a folder, in no order.
    static func names(inFolder path: String) throws(TrustError) -> [String] {
        guard let folder = opendir(path) else { throw self.unreadable(path) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(String(nameIn: entry))
        }
        return names
    }

    /// Returns the bytes of a regular file of at most 8 MiB.
    static func read(_ path: String) throws(TrustError) -> [UInt8] {
        // Checked before opening: to open a named pipe would block until another process writes to it.
        guard try self.mode(of: path) & S_IFMT == S_IFREG else {
            throw TrustError(
                code: .unreadableCertificate, message: "\(path): not a regular file; name a certificate file")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw self.unreadable(path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw self.unreadable(path) }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= self.largestFile else {
                throw TrustError(
                    code: .unreadableCertificate,
                    message: "\(path): larger than 8 MiB, which no certificate file is; name another file")
            }
        }
    }

    private static func mode(of path: String) throws(TrustError) -> mode_t {
        var status = stat()
        guard pathStat(path, &status) == 0 else { throw self.unreadable(path) }
        return status.st_mode
    }

    private static func unreadable(_ path: String) -> TrustError {
        let reason = SystemError.last.description
        return TrustError(
            code: .unreadableCertificate,
            message: "\(path): cannot be read; check the path and its permissions",
            cause: reason)
    }
}
