// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

/// Findings of an audit about old versions of TLS.
struct AuditVersionTests {
    @Test func `LOOK-119 every old version that a server takes is named`() throws {
        let stage = try AuditStage()
        var site = NginxFleet.Site("127.0.0.1", try stage.leaves("127.0.0.1"))
        site.protocols = "TLSv1 TLSv1.1 TLSv1.2"
        let fleet = try NginxFleet([site])
        try stage.configure(hosts: ["127.0.0.1:\(fleet.port)"])
        let process = try stage.audit(["--fail-on", "never"])
        #expect(
            (process.output + process.errors).contains { $0.contains("the server accepts TLS 1.0 and TLS 1.1") },
            "\(process.lines)")
        let report = try stage.report(["--fail-on", "never"])
        #expect(report.found.contains("old-protocol 127.0.0.1:\(fleet.port)"), "\(report.found)")
    }
}
