// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The folder in which a user keeps an authority: `ca.pem`, which may be given to all, and `ca.key`, which only its owner
/// may read.
package struct AuthorityFolder: Sendable, Hashable {
    package let path: String
    package var certificateFile: String { "\(self.path)/\(UserFile.certificate.name)" }
    package var keyFile: String { "\(self.path)/\(UserFile.key.name)" }

    package init(_ path: String) { self.path = path }

    /// True if the folder has an authority, or a part of one.
    package var isFilled: Bool { access(self.certificateFile, F_OK) == 0 || access(self.keyFile, F_OK) == 0 }

    /// Reads the authority.
    ///
    /// - Throws: `.unreadableIdentity`, naming the file: there is no authority, or users other than its owner could read
    ///   the key.
    package func read() throws(TrustError) -> CertificateAuthority {
        guard self.isFilled else {
            throw TrustError.identity(self.path, "no authority there; make one with `pintle ca init`")
        }
        let (folder, keyMode) = try self.trustedFolder()
        try self.check(folder.permissions, of: self.path, "the folder", wanted: "700")
        if let keyMode { try self.check(keyMode, of: self.keyFile, "the key", wanted: "600") }
        return try CertificateAuthority(certificateFile: self.certificateFile, keyFile: self.keyFile)
    }

    /// Opens the folder, if no other user may change anything in it, and reads the permissions of the key.
    private func trustedFolder() throws(TrustError) -> (TrustedFolder, keyMode: UInt32?) {
        do throws(UntrustedPlace) {
            let folder = try TrustedFolder(self.path)
            try folder.check(UserFile.certificate.name)
            return (folder, try folder.check(UserFile.key.name))
        } catch {
            throw TrustError.identity(error.path, error.reason)
        }
    }

    /// Refuses a mode that lets other users read: a reader of the key can stand in for every server to clients that trust
    /// the authority.
    private func check(_ mode: UInt32, of path: String, _ thing: String, wanted: String) throws(TrustError) {
        guard mode & 0o077 != 0 else { return }
        throw TrustError.identity(
            path,
            "others may read \(thing) (mode \(String(mode & 0o777, radix: 8))), and with it stand in for every server; "
                + "`chmod \(wanted) \(path)`, or make a new authority where somebody may have read it")
    }

    /// Writes a new authority into the folder, which must not have one yet.
    ///
    /// - Throws: `.unreadableIdentity` if the folder has one already, or the files cannot be written.
    package func keep(_ authority: CertificateAuthority) throws(TrustError) {
        let key = Array(try authority.keyPEM().utf8)
        let certificate = Array(authority.certificatePEM.utf8)
        do throws(UntrustedPlace) {
            _ = try TrustedFolder(self.path, making: 0o700)
        } catch {
            throw TrustError.identity(error.path, error.system.map { "cannot be written: \($0)" } ?? error.reason)
        }
        var file = self.keyFile
        do throws(SystemError) {
            try FileWriting.create(self.keyFile, with: key, mode: 0o600)
            file = self.certificateFile
            try FileWriting.create(self.certificateFile, with: certificate)
        } catch {
            guard error.code == EEXIST else { throw TrustError.identity(file, "cannot be written: \(error)") }
            throw TrustError.identity(
                file,
                "is there already; to make another authority take it away first, and have programs trust the new one")
        }
    }
}
