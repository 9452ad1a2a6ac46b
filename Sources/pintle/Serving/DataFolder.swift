// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSystem
internal import PintleTrust

/// Where a user keeps what is not to be lost: `$XDG_DATA_HOME/pintle`, else `~/.local/share/pintle`.
enum DataFolder {
    /// The folder, which may not be there; nil where the environment names none.
    static var path: String? { UserFolder.path("XDG_DATA_HOME", else: ".local/share") }

    /// The certificate authority.
    static var authority: AuthorityFolder? { self.path.map { AuthorityFolder($0 + "/ca") } }

    /// The files that let programs trust it, which `pintle env` writes.
    static var trustFiles: String? { self.path.map { $0 + "/trust" } }

    /// Reads the authority that a configuration names.
    ///
    /// - Throws: `.unreadableIdentity` where there is none, or others may read its key or change its files.
    static func authority(for interception: InterceptionConfiguration) throws(TrustError) -> CertificateAuthority {
        switch interception.authority {
        case .files(let files):
            do throws(UntrustedPlace) {
                for file in [files.certificate.value, files.key?.value].compactMap(\.self) {
                    try TrustedFile.check(file)
                }
            } catch {
                throw TrustError(code: .unreadableIdentity, message: "\(error)")
            }
            return try CertificateAuthority(
                certificateFile: files.certificate.value, keyFile: files.key?.value, password: files.password)
        case .ofUser:
            guard let folder = self.authority else {
                throw TrustError(
                    code: .unreadableIdentity, message: "neither XDG_DATA_HOME nor HOME says where the authority is")
            }
            return try folder.read()
        }
    }
}
