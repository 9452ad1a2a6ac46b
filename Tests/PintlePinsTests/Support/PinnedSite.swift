// SPDX-License-Identifier: Apache-2.0

import PintlePolicy
import PintleTesting
import PintleTrust

/// A folder with certificates, and configurations that name them.
struct PinnedSite {
    let folder: TemporaryFolder
    let pki: TestPKI
    let root: TestIdentity

    init() throws {
        self.folder = try TemporaryFolder()
        self.pki = TestPKI()
        self.root = try self.pki.root(validity: .window(.days(-1), .days(3000)))
    }

    /// A certificate for a server, valid for a number of days from now and already for a year.
    func leaf(_ name: String, days: Int, since: Int = -365, reusing: TestIdentity? = nil) throws -> TestIdentity {
        try self.pki.leaf(
            name, dns: [name], signedBy: self.root, validity: .window(.days(since), .days(days)), reusing: reusing)
    }

    /// Writes a certificate as `NAME.pem`.
    func add(_ identity: TestIdentity, _ name: String) throws {
        try self.folder.write(identity.certificatePEM, to: "\(name).pem")
    }

    /// A policy that `trust` spells out after `version: 1`.
    func policy(_ text: String) throws -> Policy {
        try PolicyLoader.policy(
            yaml: Array("version: 1\n\(text)".utf8), file: "\(self.folder.path)/pintle.yaml",
            surroundings: .system(environment: [:]))
    }
}

extension Duration {
    static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
