// SPDX-License-Identifier: Apache-2.0

package import NIOCore
internal import PintleLoop
internal import PintleMessage
package import PintlePolicy
internal import PintleSession
package import PintleTrust

/// Runs an audit.
package struct Auditor: Sendable {
    /// Called with the number of finished addresses and the number of all.
    package typealias Progress = @Sendable (_ done: Int, _ total: Int) -> Void

    /// The settings of an audit.
    package struct Settings: Sendable {
        /// The number of addresses to examine at a time, 1…1024. Default 16.
        package var concurrency = 16
        /// The time limit for the resolution of a name, and for all handshakes with one address. Default 10 s.
        package var timeLimit = Duration.seconds(10)
        /// The time at which certificates must be valid; nil for now.
        package var moment: UnixTime?
        /// The name servers that are asked for CAA records; nil asks for none. Default nil.
        package var nameServers: [SocketAddress]?
        /// The options that narrow the audit, repeated in the report.
        package var scope: [String] = []

        package init() {}
    }

    private let policy: Policy
    private let list: TargetList
    private let settings: Settings
    /// One evaluator for each policy of the configuration, and at the end one for the system's roots.
    private let evaluators: [TrustEvaluator]
    private let pins: [PinPlaces]

    /// - Throws: an error if a policy cannot be applied.
    package init(_ policy: Policy, _ list: TargetList, _ settings: Settings) throws(TrustError) {
        var evaluators: [TrustEvaluator] = []
        for (trust, compiled) in zip(policy.configuration.trust, policy.securityPolicies) {
            let reportsOnly = (trust.enforcement ?? policy.configuration.enforcement) == .report
            evaluators.append(try TrustEvaluator(policy: compiled, reportsOnly: reportsOnly))
        }
        evaluators.append(try TrustEvaluator(policy: .default))
        self.policy = policy
        self.list = list
        self.settings = settings
        self.evaluators = evaluators
        self.pins = policy.configuration.trust.map { PinPlaces($0) } + [PinPlaces()]
    }

    /// Resolves the servers' names, connects to them, and judges their chains.
    ///
    /// - Parameters:
    ///   - file: the path of the configuration, for the report.
    ///   - version: the version of Pintle, for the report.
    ///   - progress: called from several threads.
    /// - Throws: the system's error if no thread can be started.
    package func run(file: String?, version: String, progress: @escaping Progress) async throws -> AuditReport {
        let (began, startedAt) = (ContinuousClock.now, UnixTime.now)
        let loops = try (0..<min(Engine.availableProcessors, 4)).map { try Loop(name: "audit-\($0)", index: $0) }
        defer { for loop in loops { loop.stop() } }
        let (targets, findings) = await self.examine(on: loops, progress)
        return AuditReport(
            file: file, version: version, startedAt: startedAt, moment: self.settings.moment ?? startedAt,
            duration: .now - began, scope: self.settings.scope, targets: targets,
            findings: findings + self.judge(targets, at: self.settings.moment ?? startedAt) + self.notes)
    }

    // MARK: Examining

    /// One address to examine.
    private struct Job: Sendable {
        let targetIndex: Int
        let address: SocketAddress
    }

    private func examine(on loops: [Loop], _ progress: @escaping Progress) async -> ([TargetReport], [AuditFinding]) {
        let width = self.settings.concurrency
        let found = await concurrentMap(Array(self.list.targets.enumerated()), width: width) { index, target in
            await self.resolve(target, on: loops[index % loops.count])
        }
        var jobs: [Job] = []
        var findings: [AuditFinding] = []
        for (index, result) in found.enumerated() {
            switch result {
            case .success(let addresses): jobs += addresses.map { Job(targetIndex: index, address: $0) }
            case .failure(let failure):
                findings.append(self.unreachable(self.list.targets[index], [], failure.description))
            }
        }
        let tally = Tally(total: jobs.count, progress)
        let outcomes = await concurrentMap(Array(jobs.enumerated()), width: width) { number, job in
            let target = self.list.targets[job.targetIndex]
            let examination = AddressExamination(
                target: target, address: job.address, evaluator: self.evaluators[self.place(of: target)],
                timeLimit: self.settings.timeLimit, moment: self.settings.moment)
            let outcome = await examination.run(on: loops[number % loops.count])
            tally.count()
            return outcome
        }
        var reports = self.list.targets.map { TargetReport(target: $0, addresses: []) }
        for (job, outcome) in zip(jobs, outcomes) { reports[job.targetIndex].addresses.append(outcome.report) }
        await self.lookUpCAA(for: &reports, on: loops)
        for (job, outcome) in zip(jobs, outcomes) {
            guard let failure = outcome.failure else { continue }
            findings.append(self.failed(reports[job.targetIndex], outcome.report.address, failure))
        }
        return (reports, findings)
    }

    private func lookUpCAA(for reports: inout [TargetReport], on loops: [Loop]) async {
        // CAA records are looked up only if they are asked for.
        guard let servers = self.settings.nameServers else { return }
        let lookup = CAALookup(client: NameServerClient(servers: servers), timeLimit: self.settings.timeLimit)
        let subjects = reports.map { report in
            CAALookup.subjects(
                of: report.target.authority.host,
                certifiedBy: report.addresses.flatMap { $0.chains.compactMap { $0.presented.first?.names } })
        }
        let found = await concurrentMap(Array(subjects.enumerated()), width: self.settings.concurrency) {
            index, names in
            var reports: [CAAReport] = []
            for name in names { reports.append(await lookup.report(on: name, loops[index % loops.count])) }
            return reports
        }
        for (index, caa) in found.enumerated() { reports[index].caa = caa }
    }

    private func resolve(_ target: AuditTarget, on loop: Loop) async -> Result<[SocketAddress], HostResolver.Failure> {
        do throws(HostResolver.Failure) {
            return .success(
                try await HostResolver.addresses(
                    of: target.authority.host, port: target.authority.port, within: self.settings.timeLimit, on: loop))
        } catch {
            return .failure(error)
        }
    }

    private func failed(_ report: TargetReport, _ address: String, _ failure: ProbeFailure) -> AuditFinding {
        let target = report.target
        switch failure {
        case .unreachable where report.addresses.contains { !$0.chains.isEmpty }:
            // Mostly the machine has no IPv6; the host was seen at another address.
            return self.unreachable(target, [address], failure.description, severity: .note)
        case .refused, .unreachable, .timedOut(.connecting), .local, .cancelled:
            return self.unreachable(target, [address], failure.description)
        case .timedOut(.handshaking), .reset, .handshake:
            return AuditFinding(
                .handshakeFailed, policy: target.policy, authority: target.authority, addresses: [address],
                at: target.position, source: target.source,
                message: "\(target.authority): \(failure)\(Self.hint(failure, target))")
        }
    }

    /// A server may need the name to find its certificate, and an address is none (RFC 6066 §3).
    private static func hint(_ failure: ProbeFailure, _ target: AuditTarget) -> String {
        guard case .handshake(.alert) = failure, IPAddress(target.authority.host) != nil else { return "" }
        return "; no name was sent (SNI), as the host is an address: if the server needs one, name it by that"
    }

    private func unreachable(
        _ target: AuditTarget, _ addresses: [String], _ reason: String, severity: Severity? = nil
    ) -> AuditFinding {
        AuditFinding(
            .unreachable, severity: severity, policy: target.policy, authority: target.authority,
            addresses: addresses, at: target.position, source: target.source,
            message: "\(target.authority): \(reason)")
    }

    // MARK: Judging

    /// Returns the index of a target's policy in `evaluators`.
    private func place(of target: AuditTarget) -> Int { target.policyIndex ?? self.evaluators.count - 1 }

    private func judge(_ reports: [TargetReport], at moment: UnixTime) -> [AuditFinding] {
        var findings: [AuditFinding] = []
        for report in reports {
            let place = self.place(of: report.target)
            for address in report.addresses {
                for chain in address.chains {
                    let isMisnamed = chain.verdict.error?.problem == .wrongName
                    let unnamed =
                        isMisnamed
                        ? self.evaluators[place].evaluate(chain: chain.presented, host: nil, at: moment) : nil
                    findings +=
                        ChainFindings(
                            target: report.target, address: address.address, chain: chain, pins: self.pins[place],
                            moment: moment, refusesByExpiry: self.refusesByExpiry(report.target, at: moment),
                            unnamedVerdict: unnamed
                        ).findings
                    findings +=
                        ComingFindings(
                            target: report.target, address: address.address, chain: chain, moment: moment
                        ).findings
                }
            }
            findings +=
                TargetFindings(
                    report: report, minimumTLS: self.evaluators[place].policy.minimumTLS
                ).findings
            findings += CAAFindings(report: report).findings
        }
        for (index, trust) in self.policy.configuration.trust.enumerated() {
            findings +=
                PolicyFindings(
                    trust: trust, policy: self.policy.securityPolicies[index], pins: self.pins[index],
                    targets: reports.filter { $0.target.policyIndex == index }, moment: moment,
                    isWhole: self.settings.scope.isEmpty && !self.list.unnamed.contains { $0.policy == trust.name }
                ).findings
        }
        return findings
    }

    private func refusesByExpiry(_ target: AuditTarget, at moment: UnixTime) -> Bool {
        let expiry = self.evaluators[self.place(of: target)].policy.pinExpiry
        return expiry.map { $0.moment <= moment && $0.action == .fail } ?? false
    }

    private var notes: [AuditFinding] {
        self.list.unnamed.map { unnamed in
            AuditFinding(
                .notAudited, policy: unnamed.policy, at: unnamed.position, source: unnamed.source,
                message:
                    "\(unnamed.source) \"\(unnamed.pattern)\" stands for servers that cannot be told from it; audit "
                    + "one with --host HOST")
        }
    }
}
