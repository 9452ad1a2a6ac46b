// SPDX-License-Identifier: Apache-2.0

extension Configuration {
    /// The files and folders of certificates, keys and revocation lists that the configuration names. The loader itself does
    /// not read these.
    var identityAndTrustFiles: [String] {
        self.trust.flatMap(\.files) + (self.listenTLS?.files ?? [])
    }
}

extension TrustConfiguration {
    fileprivate var files: [String] {
        let roots: [Located<String>] = if case .files(let files) = self.roots { files } else { [] }
        let located = self.certificates + roots + self.extraRoots + self.revocationLists
        return located.map(\.value) + (self.clientCertificate?.files ?? [])
    }
}

extension IdentityFiles {
    fileprivate var files: [String] { [self.certificate.value] + (self.key.map { [$0.value] } ?? []) }
}
