// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The folder in which a user keeps an authority: `ca.pem`, which everybody may have, and `ca.key`, which nobody else may read.
package struct AuthorityFolder: Sendable, Hashable {
    package let path: String
    package var certificateFile: String { self.path + "/ca.pem" }
    package var keyFile: String { self.path + "/ca.key" }

    package init(_ path: String) { self.path = path }

    /// True where there is an authority.
    package var isFilled: Bool { access(self.certificateFile, F_OK) == 0 || access(self.keyFile, F_OK) == 0 }

    /// Reads the authority.
    ///
    /// - Throws: `.unreadableIdentity`, naming the file: there is none, or others than its owner could read the key.
    package func read() throws(TrustError) -> CertificateAuthority {
        guard self.isFilled else {
            throw TrustError.identity(self.path, "no authority there; make one with `pintle ca init`")
        }
        try self.check(self.path, "the folder")
        try self.check(self.keyFile, "the key")
        return try CertificateAuthority(certificateFile: self.certificateFile, keyFile: self.keyFile)
    }

    /// Whoever reads the key can stand in for every server to those who trust the authority.
    private func check(_ path: String, _ thing: String) throws(TrustError) {
        var status = stat()
        guard pathStat(path, &status) == 0 else { throw TrustError.identity(path, "\(SystemError.last)") }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw TrustError.identity(path, "\(thing) belongs to another user; make an authority of your own")
        }
        guard status.st_mode & 0o077 == 0 else {
            let mode = String(status.st_mode & 0o777, radix: 8)
            let wanted = status.st_mode & S_IFMT == S_IFDIR ? "700" : "600"
            throw TrustError.identity(
                path,
                "others may read \(thing) (mode \(mode)), and with it stand in for every server; `chmod \(wanted) \(path)`, or "
                    + "make a new authority where somebody may have read it")
        }
    }

    /// Puts a new authority there, where none is.
    ///
    /// - Throws: `.unreadableIdentity` where one is there already, or the files cannot be written.
    package func keep(_ authority: CertificateAuthority) throws(TrustError) {
        let key = Array(try authority.keyPEM().utf8)
        let certificate = Array(authority.certificatePEM.utf8)
        var file = self.path
        do throws(SystemError) {
            try FileWriting.makeFolder(self.path, mode: 0o700)
            file = self.keyFile
            try FileWriting.create(self.keyFile, with: key, mode: 0o600)
            file = self.certificateFile
            try FileWriting.create(self.certificateFile, with: certificate)
        } catch {
            guard error.code == EEXIST else { throw TrustError.identity(file, "cannot be written: \(error)") }
            throw TrustError.identity(
                file, "is there already; take it away first, where nobody should trust that authority any more")
        }
    }
}
