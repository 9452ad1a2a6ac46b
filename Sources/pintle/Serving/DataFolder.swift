// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSystem
internal import PintleTrust

/// The folder for data of a user that must not be lost: `$XDG_DATA_HOME/pintle`, else `~/.local/share/pintle`.
enum DataFolder {
    /// The path of the folder, which may not exist; nil if the environment names none.
    static var path: String? { UserFolder.path("XDG_DATA_HOME", else: ".local/share") }

    /// The folder of the certificate authority.
    static var authority: AuthorityFolder? { self.path.map { AuthorityFolder($0 + "/ca") } }

    /// The folder of the files with which programs trust the authority; `pintle env` writes them.
    static var trustFiles: String? { self.path.map { $0 + "/trust" } }

    /// Reads the authority that a configuration names.
    ///
    /// - Throws: `.unreadableIdentity` if there is none, or if other users can read its key or change its files.
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
