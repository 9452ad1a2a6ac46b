// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Servers that `fetch` trusts.
struct FetchTrustTests {
    private let site: PrivateSite
    private let url: String
    private let roots: String

    init() throws {
        self.site = try PrivateSite()
        self.url = "https://localhost:\(self.site.origin.httpsPort)/hello"
        self.roots = "\(self.site.folder.path)/root.pem"
    }

    @Test func `roots of one's own take the place of the system's`() throws {
        let process = try fetch(self.url, "--roots", self.roots, "--metrics")
        #expect(process.exitCode == 0 && process.output == ["hello"], "\(process.lines)")
        let request = (metrics(process.errors).first?["requests"] as? [[String: Any]])?.first
        #expect((request?["tls_version"] as? String)?.hasPrefix("TLSv1.") == true)
    }

    @Test func `a chain that leads to no root is shown, and the exit code is 1`() throws {
        let process = try fetch(self.url)
        #expect(process.exitCode == 1 && process.output.isEmpty)
        #expect(process.errors.contains { $0.contains("\(self.site.leaf.pin) leaf") }, "\(process.lines)")
        #expect(process.errors.contains { $0.contains("\(self.site.intermediate.pin) intermediate") })
    }

    @Test func `a pinned key is enough when the chain is valid`() throws {
        for pin in [self.site.leaf.pin, self.site.intermediate.pin, self.site.root.pin] {
            let process = try fetch(
                self.url, "--roots", self.roots, "--pin", "\(self.site.backup.pin)", "--pin", "\(pin)")
            #expect(process.exitCode == 0 && process.output == ["hello"], "\(process.lines)")
        }
    }

    @Test func `another key is refused with 1, and both sides are shown`() throws {
        let folder = try TemporaryFolder()
        for arguments in [[], ["-o", "\(folder.path)/out"]] {
            let process = try PintleProcess.run(
                ["fetch", self.url, "--roots", self.roots, "--pin", "\(self.site.backup.pin)"] + arguments)
            #expect(process.exitCode == 1 && process.output.isEmpty)
            #expect(process.errors.first?.contains("localhost: the chain does not contain a pinned key") == true)
            for identity in [self.site.leaf, self.site.intermediate, self.site.root, self.site.backup] {
                #expect(process.errors.contains { $0.contains("\(identity.pin)") }, "\(process.lines)")
            }
        }
        #expect(contents("\(folder.path)/out") == nil)
    }

    @Test func `what is wrong with a certificate is said`() throws {
        let expired = try PrivateSite { pki, signer in
            try pki.leaf(dns: ["localhost"], signedBy: signer, validity: .expired)
        }
        let process = try fetch(
            "https://localhost:\(expired.origin.httpsPort)/hello", "--roots", "\(expired.folder.path)/root.pem")
        #expect(process.exitCode == 1 && process.errors.first?.contains("expired on") == true, "\(process.lines)")
    }

    @Test func `nothing pinned goes in clear text, not even by a redirect`() throws {
        let plain = "http://127.0.0.1:\(self.site.origin.httpPort)/hello"
        let direct = try fetch(plain, "--pin", "\(self.site.leaf.pin)")
        #expect(direct.exitCode == 1 && direct.errors.first?.contains("clear text") == true, "\(direct.lines)")
        let origin = try NginxOrigin(
            https: [self.site.leaf], locations: "location = /away { return 302 \(plain); }")
        let redirected = try fetch(
            "https://localhost:\(origin.httpsPort)/away", "--roots", self.roots, "--pin", "\(self.site.leaf.pin)")
        #expect(redirected.exitCode == 1 && redirected.output.isEmpty, "\(redirected.lines)")
        #expect(redirected.errors.first?.contains("clear text") == true, "\(redirected.lines)")
    }

    @Test func `roots that are no certificates are refused`() throws {
        let file = try self.site.folder.write("nothing", to: "nothing.pem")
        let process = try fetch(self.url, "--roots", file)
        #expect(process.exitCode == 4 && process.errors.first?.contains("nothing.pem") == true, "\(process.lines)")
    }
}
