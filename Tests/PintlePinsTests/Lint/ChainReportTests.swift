// SPDX-License-Identifier: Apache-2.0

import PintlePins
import PintlePolicy
import PintleTesting
import PintleTrust
import Testing

struct ChainReportTests {
    private let pki = TestPKI()

    @Test func `a chain is told link by link, and its entry pins the server's key alone`() throws {
        let root = try self.pki.root()
        let authority = try self.pki.intermediate(signedBy: root, key: .rsa(bits: 2048))
        let leaf = try self.pki.leaf("site", dns: ["a.example", "*.a.example"], ip: ["10.0.0.1"], signedBy: authority)
        let report = ChainReport(leaf.fullChain)
        #expect(report.chain.map(\.role) == ["leaf", "intermediate", "root"])
        #expect(report.chain.map(\.key) == ["EC P-256", "RSA 2048", "EC P-256"])
        #expect(report.chain.map(\.pin) == [leaf, authority, root].map { "\($0.pin)" })
        let entry = try #require(report.trust["10.0.0.1"] ?? report.trust["a.example"])
        #expect(entry.hosts.map(Set.init) == ["a.example", "*.a.example", "10.0.0.1"])
        #expect(entry.pins == ["\(leaf.pin)"])

        let policy = try PolicyLoader.policy(yaml: Array(report.yaml.utf8), file: "shown", surroundings: nowhere)
        #expect(policy.securityPolicies.map(\.configuredPins) == [[leaf.pin]])
        #expect(policy.configuration.trust[0].hosts.count == 3)
        for pin in [authority.pin, root.pin] { #expect(report.yaml.contains("      # - \"\(pin)\"  # ")) }
        #expect(report.yaml.contains("# No backup yet:"))
        for line in report.yaml.split(separator: "\n") where line.hasPrefix("    ") || line.hasPrefix("version") {
            #expect(report.text.contains(line))
        }
    }

    @Test func `a certificate without names leaves the hosts to whoever takes the entry over`() throws {
        let report = ChainReport([try self.pki.selfSigned("nobody").certificate])
        #expect(report.chain[0].role == "leaf")
        let policy = try PolicyLoader.policy(yaml: Array(report.yaml.utf8), file: "shown", surroundings: nowhere)
        #expect(policy.configuration.trust.map(\.name) == ["pinned"] && policy.configuration.trust[0].hosts.isEmpty)
        #expect(report.yaml.contains("# The certificate names no host"))
    }

    @Test func `what a certificate says about itself cannot leave its line`() throws {
        let subject = "a\nversion: 2\u{1B}[2J\u{202E}\"\u{2028}#" + String(repeating: "x", count: 20)
        let leaf = try self.pki.selfSigned(subject, dns: ["a.example"])
        let report = ChainReport([leaf.certificate])
        for text in [report.yaml, report.text] {
            #expect(!text.unicodeScalars.contains { ["\u{1B}", "\u{202E}", "\u{2028}"].contains($0) })
            #expect(!text.contains("\nversion: 2"))
        }
        let policy = try PolicyLoader.policy(yaml: Array(report.yaml.utf8), file: "shown", surroundings: nowhere)
        #expect(policy.configuration.trust.map(\.name) == ["a.example"])
    }
}
