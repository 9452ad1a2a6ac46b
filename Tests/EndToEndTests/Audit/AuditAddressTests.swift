// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Names with several addresses.
@Suite(.enabled(if: NetworkNamespace.isAvailable, Comment(rawValue: NetworkNamespace.requirement)))
struct AuditAddressTests {
    private let stage: AuditStage
    private let network: NetworkNamespace

    init() throws {
        self.stage = try AuditStage()
        self.network = try NetworkNamespace()
    }

    private func leaf(signedBy signer: TestIdentity? = nil) throws -> TestIdentity {
        try self.stage.pki.leaf(dns: ["site.test"], signedBy: signer ?? self.stage.intermediate)
    }

    private func audit(port: Int) throws -> JSONObject {
        let file = try self.stage.configure(hosts: ["site.test:\(port)"])
        let process = try ChildProcess(
            PintleProcess.binary, ["audit", "--history", "off", "--format", "json", "-c", file], in: self.network)
        try process.waitForExit()
        return try jsonObject(process.output.joined(separator: "\n"))
    }

    @Test func `every address is examined, of either family`() throws {
        try self.network.setHosts([("site.test", ["127.0.0.1", "127.0.0.2", "::1"])])
        let identity = try self.leaf()
        let first = try OpenSSLServer([identity], in: self.network)
        let second = try OpenSSLServer([identity], address: "127.0.0.2", port: first.port, in: self.network)
        let third = try OpenSSLServer([identity], address: "[::1]", port: first.port, in: self.network)
        let report = try withExtendedLifetime((second, third)) { try self.audit(port: first.port) }
        #expect(report.found == ["unused-pin "])
        let addresses = report.objects("servers").first?.objects("addresses").map { $0.text("address") }
        #expect(addresses?.sorted() == ["127.0.0.1", "127.0.0.2", "::1"])
    }

    @Test func `addresses that show different keys disagree`() throws {
        try self.network.setHosts([("site.test", ["127.0.0.1", "127.0.0.2"])])
        let first = try OpenSSLServer([self.leaf()], in: self.network)
        let second = try OpenSSLServer([self.leaf()], address: "127.0.0.2", port: first.port, in: self.network)
        let report = try withExtendedLifetime(second) { try self.audit(port: first.port) }
        let finding = try #require(report.objects("findings").first)
        #expect(finding.text("name") == "address-disagreement" && finding.text("severity") == "warn")
        #expect(finding["addresses"] as? [String] == ["127.0.0.1", "127.0.0.2"])
        #expect(finding["keys"] as? [String] == ["ecdsa"])
        #expect(
            finding.text("message").hasPrefix("site.test:\(first.port): the addresses show different ECDSA keys:\n"))
    }

    @Test func `one that this machine has no way to is a note beside one that was judged`() throws {
        try self.network.setHosts([("site.test", ["127.0.0.1", "2001:db8::1"])])
        let server = try OpenSSLServer([self.leaf()], in: self.network)
        let report = try self.audit(port: server.port)
        let finding = try #require(report.objects("findings").first)
        #expect(finding.text("name") == "unreachable" && finding.text("severity") == "note")
        #expect(finding["addresses"] as? [String] == ["2001:db8::1"])
    }
}
