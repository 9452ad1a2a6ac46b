// SPDX-License-Identifier: Apache-2.0

/// The PEM files of a certificate and its private key.
package struct IdentityFiles: Sendable, Equatable {
    /// The file with the certificate and those of its issuers.
    package var certificate: Located<String>
    /// The file of the private key; nil for the same file.
    package var key: Located<String>?
    /// The password of an encrypted key. A secret.
    package var password: String?
}

extension IdentityFiles {
    /// Reads the files that `map` names; reports a missing certificate.
    static func read(_ map: StrictMap) -> IdentityFiles? {
        guard let node = map["certificate"] else {
            map.node.report("the key \"certificate\" is missing; name the file of the certificate and its signers")
            return nil
        }
        guard let certificate = node.nonEmptyString() else { return nil }
        var result = IdentityFiles(certificate: Located(node.resolve(certificate), at: node.position))
        map.read("key", into: &result.key) { node in
            node.nonEmptyString().map { .some(Located(node.resolve($0), at: node.position)) }
        }
        map.read("password", into: &result.password) { node in node.nonEmptyString().map { .some($0) } }
        return result
    }
}
