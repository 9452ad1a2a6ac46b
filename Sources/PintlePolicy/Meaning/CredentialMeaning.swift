// SPDX-License-Identifier: Apache-2.0

/// The requests that a credential may go with, to be compared with those of another configuration.
package struct CredentialMeaning: Sendable, Equatable {
    package let grants: [CredentialConfiguration.Grant]
    private let trust: String

    init(_ credential: CredentialConfiguration) {
        (self.grants, self.trust) = (credential.grants, credential.trust.value)
    }
}

extension Configuration {
    /// The meaning of each credential, by its name.
    package var credentialMeanings: [String: CredentialMeaning] {
        self.credentials.reduce(into: [:]) { $0[$1.name] = CredentialMeaning($1) }
    }
}
