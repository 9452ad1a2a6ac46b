// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Servers that ask who the proxy is: `client_certificate`.
struct ClientCertificateTests {
    let folder: TemporaryFolder
    let site: PrivateSite

    init() throws {
        self.folder = try TemporaryFolder()
        let pki = TestPKI()
        let staff = try pki.root("Staff")
        let authorities = try self.folder.write(staff.certificatePEM, to: "staff.pem")
        self.site = try PrivateSite(
            locations: """
                ssl_verify_client on;
                ssl_client_certificate \(authorities);
                location = /who { return 200 $ssl_client_s_dn; }

                """)
        _ = try self.site.folder.write(pki.client("alice", signedBy: staff), as: "alice")
    }

    @Test func `the policy's certificate is shown, and without it the server refuses`() throws {
        let shown = try self.site.pintle(
            "roots: [root.pem], client_certificate: {certificate: alice.pem, key: alice.key}")
        let result = try self.site.fetch(shown, "/who")
        #expect(result.status == 200 && result.text == "CN=alice", "\(result)")
        let none = try self.site.pintle("roots: [root.pem]")
        #expect(try self.site.fetch(none, "/who").status == 400)
    }

    @Test(arguments: [
        ("{key: alice.key}", "the key \"certificate\" is missing"),
        ("{certificate: missing.pem}", "missing.pem"),
        ("{certificate: alice.pem}", "alice.pem"),
        ("{certificate: alice.pem, key: leaf.pem}", "leaf.pem"),
    ])
    func `one that cannot be used is refused with its place`(value: String, message: String) throws {
        let file = try self.site.folder.write(
            "version: 1\ntrust:\n  site:\n    client_certificate: \(value)\n", to: "bad.yaml")
        let check = try PintleProcess.run(["check", "-c", file])
        #expect(check.exitCode == 3, "\(check.lines)")
        #expect(check.errors.contains { $0.contains("bad.yaml:4:") && $0.contains(message) }, "\(check.lines)")
    }
}
