// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import NIOCore
internal import PintleAudit
internal import PintleMessage
internal import PintlePolicy
internal import PintleReachability
internal import PintleSystem
internal import PintleTrust

struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Connect to every pinned host of a configuration, judge what it shows, and report.",
        discussion: """
            Every address of every host is asked for RSA and for ECDSA keys, by TLS 1.2 and by TLS 1.3, and whether it \
            accepts older versions and post-quantum groups. Nothing is sent but handshakes, and nothing is tried twice. \
            With --caa, name servers are asked for CAA records, too.

            The hosts are the exact names of trust.*.hosts, those of routes that name a trust policy, and https \
            upstreams. A pattern such as *.example.com stands for hosts that only --host can name.

            Exit code 0 when nothing was found that --fail-on asks for; 1 when something was; 2 when the command line \
            is wrong; 3 when the configuration is; 4 when no host could be judged.
            """,
        subcommands: [AuditDiff.self])

    enum FailOn: String, ExpressibleByArgument, CaseIterable {
        case warn
        case error
        case never

        var severity: Severity? {
            switch self {
            case .warn: .warning
            case .error: .error
            case .never: nil
            }
        }
    }

    @OptionGroup var configuration: ConfigurationOptions

    @Option(help: "How the report is written. Default text.")
    var format: ReportFormat?

    @Option(
        help: ArgumentHelp("Write the report to this file instead of standard output.", valueName: "file"),
        completion: .file())
    var out: String?

    @Option(
        help: ArgumentHelp(
            "Audit this host; repeatable. A host that the configuration does not name is judged by the policy that "
                + "would apply.", valueName: "host[:port]"))
    var host: [String] = []

    @Option(
        help: ArgumentHelp(
            "Audit only what this trust policy judges; with --host, judge that host by it.", valueName: "name"))
    var policy: String?

    @Option(help: ArgumentHelp("How many addresses are examined at a time, 1 to 1024.", valueName: "n"))
    var concurrency: Int?

    @Option(
        help: ArgumentHelp(
            "How long looking up a host, and all handshakes with one address, may take. Default 10s.",
            valueName: "duration"))
    var timeout: String?

    @Option(
        help: ArgumentHelp(
            "Where audits are kept for audit diff. Default audit.sqlite in $XDG_STATE_HOME/pintle.",
            valueName: "file|off"), completion: .file())
    var history: String?

    @Option(
        help: ArgumentHelp(
            "Judge certificates as of this time: 2027-01-01, or 2027-01-01T12:00:00Z. Default now.", valueName: "time"))
    var at: String?

    @Flag(help: "Look up the CAA records of the names in the certificates, and of the names above them.")
    var caa = false

    @Option(
        help: ArgumentHelp(
            "With --caa: ask this name server in place of those of the system; repeatable. Default port 53.",
            valueName: "address[:port]"))
    var resolver: [String] = []

    @Option(help: "From which severity on a finding makes the exit code 1. Default error.")
    var failOn: FailOn?

    /// The lowest severity at which findings make the exit code 1; nil if none does.
    private var threshold: Severity? { (self.failOn ?? .error).severity }

    func run() async throws {
        let settings = try self.settings()
        let (policy, origin) = try await self.configuration.load()
        Output.error("configuration: \(origin)")
        let list = try self.targets(policy)
        guard !list.targets.isEmpty else {
            throw CommandFailure(
                .incomplete,
                "pintle audit: there is nothing to audit: the configuration names no host to connect to; give --host")
        }
        let limit = settings.timeLimit.spelled
        Output.error(
            "pintle audit: \(ReportText.count(list.targets.count, "server")): looking up a name may take \(limit), and so may "
                + "all handshakes with one address")
        let report = try await self.audit(policy, list, settings, origin)
        try self.write((self.format ?? .text).write(report, failingFrom: self.threshold))
        self.remember(report)
        try self.conclude(report)
    }

    /// The options that were given, except `--history` and `--format`: `audit diff` has no use for them.
    var optionsOfTheAuditAlone: [String] {
        let given = [
            ("--config", self.configuration.file != nil), ("--out", self.out != nil),
            ("--host", !self.host.isEmpty), ("--policy", self.policy != nil),
            ("--concurrency", self.concurrency != nil), ("--timeout", self.timeout != nil), ("--at", self.at != nil),
            ("--caa", self.caa), ("--resolver", !self.resolver.isEmpty), ("--fail-on", self.failOn != nil),
        ]
        return given.filter(\.1).map(\.0)
    }

    // MARK: Steps

    private func settings() throws(CommandFailure) -> Auditor.Settings {
        var settings = Auditor.Settings()
        do throws(Malformed) {
            if let timeout { settings.timeLimit = try Spelling.duration(timeout, .milliseconds(1) ... .seconds(3600)) }
        } catch {
            throw self.usage("--timeout: \(error.reason)")
        }
        if let concurrency {
            guard (1...1024).contains(concurrency) else {
                throw self.usage("--concurrency \(concurrency): must be a whole number from 1 to 1024")
            }
            settings.concurrency = concurrency
        }
        if let at {
            guard let moment = UnixTime(iso8601: at) else {
                throw self.usage("--at \(at.debugDescription): must be a date or a time, as in 2027-01-01T12:00:00Z")
            }
            settings.moment = moment
        }
        if self.caa { settings.nameServers = try self.nameServers() }
        guard self.caa || self.resolver.isEmpty else { throw self.usage("--resolver has no use without --caa") }
        settings.scope = self.host.sorted().map { "--host \($0)" } + (self.policy.map { ["--policy \($0)"] } ?? [])
        return settings
    }

    private func nameServers() throws(CommandFailure) -> [SocketAddress] {
        guard !self.resolver.isEmpty else {
            // The system's resolver asks as many.
            return NameServers.current().prefix(3).map { server in
                var server = server
                server.port = NameServers.port
                return server
            }
        }
        return try self.resolver.map { (text) throws(CommandFailure) in
            guard let authority = Authority(text, defaultPort: UInt16(NameServers.port)),
                let address = try? SocketAddress(ipAddress: authority.host, port: Int(authority.port))
            else {
                throw self.usage(
                    "--resolver \(text.debugDescription): must be an address, or ADDRESS:PORT, as in 192.0.2.1 or "
                        + "[2001:db8::1]:5353")
            }
            return address
        }
    }

    private func targets(_ policy: Policy) throws(CommandFailure) -> TargetList {
        var hosts: [RequestedHost] = []
        for text in self.host {
            do throws(Malformed) {
                hosts.append(try RequestedHost(text))
            } catch {
                throw self.usage("--host \(text.debugDescription): \(error.reason)")
            }
        }
        do throws(Malformed) {
            return try TargetList(policy, hosts: hosts, policyName: self.policy)
        } catch {
            throw self.usage("--policy \((self.policy ?? "").debugDescription): \(error.reason)")
        }
    }

    private func audit(
        _ policy: Policy, _ list: TargetList, _ settings: Auditor.Settings, _ origin: ConfigurationOrigin
    ) async throws(CommandFailure) -> AuditReport {
        let display = AuditProgress(terminal: Terminal(environment: Inherited.environment))
        defer { display.end() }
        do {
            let auditor = try Auditor(policy, list, settings)
            return try await auditor.run(file: origin.path, version: Version.number, progress: display.show)
        } catch {
            throw CommandFailure(.incomplete, "pintle audit: \(error)")
        }
    }

    private func write(_ text: String) throws(CommandFailure) {
        guard let out else {
            let isProse = (self.format ?? .text) == .text
            return try Output.bytes(Array((isProse ? Output.wrapped(text, for: STDOUT_FILENO) : text).utf8))
        }
        do throws(SystemError) {
            try FileWriting.replace(out, with: Array(text.utf8))
        } catch {
            throw CommandFailure(.incomplete, "pintle audit: --out \(out) cannot be written: \(error)")
        }
    }

    /// Stores the audit in the history. A failure is reported but does not change the exit code, because the audit itself
    /// succeeded.
    private func remember(_ report: AuditReport) {
        guard self.history != "off" else { return }
        guard let path = self.history ?? UserFile.history.path else {
            return Output.error("pintle audit: no history is kept: neither $XDG_STATE_HOME nor $HOME is set")
        }
        do throws(HistoryError) {
            let history = try AuditHistory.forWriting(path) { Output.error("pintle audit: \($0)") }
            try history.record(report)
        } catch {
            Output.error("pintle audit: this audit is not in the history: \(error)")
        }
    }

    private func conclude(_ report: AuditReport) throws(CommandFailure) {
        if self.out != nil || (self.format ?? .text) != .text { Output.error("pintle audit: \(report.conclusion)") }
        guard report.hasJudged else {
            throw CommandFailure(.incomplete, "pintle audit: no host could be judged; the report says why")
        }
        guard let severity = self.threshold, report.findings.contains(where: { $0.severity >= severity }) else {
            return
        }
        throw CommandFailure(.found, lines: [])
    }

    private func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, "pintle audit: \(message)") }
}

extension ReportFormat: ExpressibleByArgument {}
