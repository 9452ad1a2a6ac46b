// SPDX-License-Identifier: Apache-2.0

internal import PintlePolicy
internal import PintleSystem
internal import PintleTrust

/// The user's data that must not be lost.
enum DataFolder {
    /// The folder of the certificate authority.
    static var authority: AuthorityFolder? { UserFile.certificate.folder.map { AuthorityFolder($0) } }

    /// The folder of the files with which programs trust the authority; `pintle env` writes them.
    static var trustFiles: String? { UserFile.trust.path }

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
