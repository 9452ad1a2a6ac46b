// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import Testing

@testable import PintleAudit

/// CAA records, and the permissions that they give.
@Suite struct CAARecordTests {
    private func permission(_ records: [CAARecord], wildcard: Bool = false) -> CAAReport.Permission? {
        CAAReport(name: "a.test", isWildcard: wildcard, place: "a.test", records: records).permission
    }

    private func record(_ tag: String, _ value: String, critical: Bool = false) -> CAARecord {
        CAARecord(isCritical: critical, tag: tag, value: value)
    }

    @Test func `the data of a record is a flag, a property and a value`() throws {
        let record = try #require(CAARecord(data: [128, 5] + Array("Issueca.test; x=1".utf8)))
        #expect(record == CAARecord(isCritical: true, tag: "issue", value: "ca.test; x=1"))
        #expect(record.description == "128 issue \"ca.test; x=1\"")
        // Other flags are reserved, and ignored (RFC 8659 §4.1).
        #expect(CAARecord(data: [127, 5] + Array("iodef".utf8)) == CAARecord(tag: "iodef", value: ""))
    }

    @Test(arguments: [[], [0], [0, 0], [0, 5, 105], [0, 1, 45, 65], [0, 2, 105, 0]] as [[UInt8]])
    func `data of another form is no record`(data: [UInt8]) {
        #expect(CAARecord(data: data[...]) == nil)
    }

    @Test func `issue names the authorities, without parameters`() {
        let records = [
            self.record("issue", " CA.test ; account=7"), self.record("issue", "b.test"), self.record("iodef", "x"),
        ]
        #expect(self.permission(records) == .ofAuthorities(["b.test", "ca.test"]))
        #expect(self.permission(records, wildcard: true) == .ofAuthorities(["b.test", "ca.test"]))
    }

    @Test func `issuewild stands in the place of issue for wildcards only`() {
        let records = [self.record("issue", "a.test"), self.record("issuewild", "w.test")]
        #expect(self.permission(records) == .ofAuthorities(["a.test"]))
        #expect(self.permission(records, wildcard: true) == .ofAuthorities(["w.test"]))
        #expect(self.permission([self.record("issuewild", ";")]) == .ofAnyAuthority)
        #expect(self.permission([self.record("issuewild", ";")], wildcard: true) == .ofNoAuthority)
    }

    @Test(arguments: [";", "", "  ", "; a=b", "%%%", "a b", "ca.test/x"])
    func `a value that names nobody lets nobody issue`(value: String) {
        #expect(self.permission([self.record("issue", value)]) == .ofNoAuthority)
        #expect(
            self.permission([self.record("issue", value), self.record("issue", "a.test")]) == .ofAuthorities(["a.test"])
        )
    }

    @Test func `no record, and none about issuing, allows every authority`() {
        #expect(self.permission([]) == .ofAnyAuthority)
        #expect(self.permission([self.record("iodef", "mailto:a@a.test")]) == .ofAnyAuthority)
        #expect(self.permission([self.record("later", "x")]) == .ofAnyAuthority)
    }

    @Test func `a critical property that is not known stops every authority`() {
        #expect(
            self.permission([self.record("issue", "a.test"), self.record("later", "x", critical: true)])
                == .ofNoAuthority)
        #expect(self.permission([self.record("issue", "a.test", critical: true)]) == .ofAuthorities(["a.test"]))
    }

    @Test func `records that are not known permit nothing and forbid nothing`() {
        let report = CAAReport(name: "a.test", isWildcard: true, failure: "no answer")
        #expect(report.permission == nil && report.summary == "*.a.test: unknown: no answer")
    }
}
