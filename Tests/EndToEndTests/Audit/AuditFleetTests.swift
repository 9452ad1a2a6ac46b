// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Two hundred servers, some of them with a defect that was put there.
@Suite struct AuditFleetTests {
    /// A defect of a server; an audit must report each.
    private enum Defect: CaseIterable {
        case none, mismatch, expired, selfSigned, wrongName, incomplete, oldOnly, oldToo, expiring, untrusted, weak
        case closed, plainText, notYet

        var findings: [String] {
            switch self {
            case .none: []
            case .mismatch: ["pin-mismatch"]
            case .expired: ["expired"]
            case .selfSigned: ["self-signed"]
            case .wrongName: ["name-mismatch"]
            case .incomplete: ["chain-incomplete"]
            case .oldOnly, .oldToo: ["old-protocol"]
            // One for each kind of key.
            case .expiring: ["certificate-expiring"]
            case .untrusted: ["untrusted-chain"]
            case .weak: ["weak-key"]
            case .closed: ["unreachable"]
            case .plainText: ["handshake-failed"]
            case .notYet: ["not-yet-valid"]
            }
        }
    }

    private let stage: AuditStage
    private let otherIntermediate: TestIdentity
    private let strangeIntermediate: TestIdentity
    private let weakKey: TestIdentity

    init() throws {
        let stage = try AuditStage()
        self.stage = stage
        self.otherIntermediate = try stage.pki.intermediate("Other Intermediate", signedBy: stage.root)
        let strangeRoot = try stage.pki.root("Strange Root")
        self.strangeIntermediate = try stage.pki.intermediate("Strange Intermediate", signedBy: strangeRoot)
        self.weakKey = try stage.pki.selfSigned("weak", key: .rsa(bits: 1024))
    }

    private func site(_ address: String, _ defect: Defect) throws -> NginxFleet.Site? {
        var site = NginxFleet.Site(address, [])
        switch defect {
        case .none: site.identities = try self.stage.leaves(address)
        case .mismatch: site.identities = try self.stage.leaves(address, signedBy: self.otherIntermediate)
        case .expired: site.identities = try self.stage.leaves(address, validity: .expired)
        case .notYet: site.identities = try self.stage.leaves(address, validity: .notYet)
        case .selfSigned:
            site.identities = [try self.stage.pki.selfSigned(ip: [address], reusing: self.stage.ec)]
        case .wrongName: site.identities = try self.stage.leaves("127.0.0.1")
        case .incomplete:
            site.identities = try self.stage.leaves(address)
            site.sendsSigners = false
        case .oldOnly, .oldToo:
            site.identities = try self.stage.leaves(address)
            site.protocols = defect == .oldOnly ? "TLSv1 TLSv1.1" : "TLSv1.1 TLSv1.2 TLSv1.3"
        case .expiring:
            let validity = TestPKI.Validity.window(.seconds(-80 * 86_400), .seconds(10 * 86_400))
            site.identities = try self.stage.leaves(address, validity: validity)
        case .untrusted: site.identities = try self.stage.leaves(address, signedBy: self.strangeIntermediate)
        case .weak:
            site.identities = [
                try self.stage.pki.leaf(ip: [address], signedBy: self.stage.intermediate, reusing: self.weakKey)
            ]
        case .closed: return nil
        case .plainText: break
        }
        return site
    }

    @Test func `of 200 servers exactly the defects are found that were put there`() throws {
        let defects = Defect.allCases
        var sites: [NginxFleet.Site] = []
        var planted: [(address: String, findings: [String])] = []
        for number in 0..<200 {
            // Every third server has a defect; all kinds are about equally frequent.
            let defect = number % 3 == 0 ? defects[number / 3 % defects.count] : .none
            let address = "127.0.\(1 + number / 100).\(1 + number % 100)"
            if let site = try self.site(address, defect) { sites.append(site) }
            planted.append((address, defect.findings))
        }
        let fleet = try NginxFleet(sites)
        let hosts = planted.map { "\($0.address):\(fleet.port)" }
        try self.stage.configure(hosts: hosts)
        let report = try self.stage.report(["--fail-on", "never"])
        let expected = zip(hosts, planted).flatMap { host, plant in plant.findings.map { "\($0) \(host)" } }
        let found = Set(report.found)
        #expect(found.subtracting(expected).sorted() == [])
        #expect(Set(expected).subtracting(found).sorted() == [])
        #expect(report.objects("servers").count == 200)
        // For readers of the log only; the speed depends on the machine.
        let duration = report.number("duration_ms")
        #expect(duration > 0)
        Issue.record("the audit of 200 servers took \(duration) ms", severity: .warning)
    }
}
