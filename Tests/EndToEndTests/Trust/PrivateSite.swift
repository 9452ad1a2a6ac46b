// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust

/// An https origin under a private authority, with every certificate that the trust tests need.
final class PrivateSite: Sendable {
    let pki = TestPKI()
    let root: TestIdentity
    let intermediate: TestIdentity
    /// The certificate for localhost and 127.0.0.1.
    let leaf: TestIdentity
    /// A key that the origin does not use.
    let backup: TestIdentity
    let origin: NginxOrigin
    let folder: TemporaryFolder

    /// - Parameters:
    ///   - shown: makes the origin's certificate, in place of ``leaf``, with the authority given.
    ///   - locations: more for nginx's servers.
    init(
        showing shown: ((TestPKI, TestIdentity) throws -> TestIdentity)? = nil, locations: String = ""
    ) throws {
        self.root = try self.pki.root("Private Root")
        self.intermediate = try self.pki.intermediate("Private Intermediate", signedBy: self.root)
        let usual = try self.pki.leaf(
            "private leaf", dns: ["localhost"], ip: ["127.0.0.1"], signedBy: self.intermediate)
        self.leaf = try shown?(self.pki, self.intermediate) ?? usual
        self.backup = try self.pki.leaf("backup", dns: ["localhost"], signedBy: self.intermediate)
        self.origin = try NginxOrigin(https: [self.leaf], locations: locations)
        self.folder = try TemporaryFolder()
        try self.folder.write(self.root.certificatePEM, to: "root.pem")
        try self.folder.write(self.leaf.certificatePEM, to: "leaf.pem")
        try self.folder.write(self.backup.certificatePEM, to: "backup.pem")
    }

    /// A proxy whose only trust policy applies to localhost; `root.pem`, `leaf.pem` and `backup.pem` are at hand.
    func pintle(_ policy: String, more: String = "") throws -> PintleProcess {
        try PintleProcess(
            "\(more)\ntrust: {site: {hosts: [localhost], \(policy)}}\n\(self.upgrade)", folder: self.folder)
    }

    /// A route that takes plain requests for site.test to the origin.
    var upgrade: String {
        "routes: [{name: up, match: {hosts: [site.test]}, upstream: \"https://localhost:\(self.origin.httpsPort)\"}]"
    }

    /// Asks for something through the upgrade.
    func fetch(_ pintle: PintleProcess, _ path: String = "/hello") throws -> Curl.Result {
        try Curl.run(proxy: pintle.port, "http://site.test\(path)")
    }
}
