// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleTrust

/// The findings about the CAA records of one server's names.
struct CAAFindings {
    let report: TargetReport

    var findings: [AuditFinding] { self.report.caa.compactMap(self.finding) }

    private func finding(_ caa: CAAReport) -> AuditFinding? {
        switch caa.permission {
        case nil:
            return self.finding(.caaUnknown, "the CAA records of \(caa.subject) are not known: \(caa.failure ?? "")")
        case .ofAnyAuthority:
            guard let place = caa.place else {
                return self.finding(
                    .caaMissing, "neither \(caa.name) nor a name above it has CAA records: any authority may certify it"
                )
            }
            return self.finding(
                .caaMissing, "the CAA records at \(place) name no authority for \(caa.subject): any may certify it")
        // Private authorities do not ask for records, and a zone may want no others.
        case .ofNoAuthority:
            guard self.hasPublicCertificate else { return nil }
            return self.finding(
                .caaForbids,
                "the CAA records at \(caa.place ?? caa.name) let no authority certify \(caa.subject), whose certificate is "
                    + "from a public one: it cannot be renewed")
        case .ofAuthorities: return nil
        }
    }

    private var hasPublicCertificate: Bool {
        self.report.addresses.contains { address in
            address.chains.contains { $0.presented.first?.claimsBaselineRequirements ?? false }
        }
    }

    private func finding(_ rule: FindingRule, _ message: String) -> AuditFinding {
        let target = self.report.target
        return AuditFinding(
            rule, policy: target.policy, authority: target.authority, at: target.position, source: target.source,
            message: "\(target.authority): \(message)")
    }
}
