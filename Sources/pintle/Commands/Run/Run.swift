// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CPintleProcess
internal import Glibc
internal import PintleActivity
internal import PintlePolicy
internal import PintleProxy
internal import PintleSystem
internal import PintleTrust

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a command with a private proxy, and say afterwards what it did.",
        usage:
            "pintle run [-c <file>] [--report <format[@filter]=file>]… [--fail-on <what>] [--isolate[=<how>]] [--learn <file>] [--record <folder>] [--replay <folder> [--miss <what>]] [--faults <name>]… [--devtools] [--sign <key>] -- <command> [<argument>…]",
        discussion: """
            The proxy is in this process, on a free port of 127.0.0.1, and keeps the configuration; its `listen`, `clients` \
            and `log` count for nothing. The command gets the variables that pintle env prints, and nothing is exempt: \
            requests to localhost go through the proxy, too. Nothing but questions (destinations.ask) is written between the lines of the \
            command; a summary follows on standard error.

            Exit code: the command's own when it is not 0, or 128 and the number of the signal that it died of; 1 when it \
            succeeded, but there is what --fail-on names; 125 when pintle failed; 126 when the command cannot \
            be executed; 127 when there is no such command.
            """)

    @OptionGroup var configuration: ConfigurationOptions

    @Option(
        help: ArgumentHelp(
            "Write a report to a file: json, junit, sarif, markdown, har or intoto, as in junit=report.xml, or of some exchanges, as in "
                + "har@'~c 5xx'=errors.har (docs/filters.md); repeatable.", valueName: "format[@filter]=file"))
    var report: [String] = []

    @Option(
        help: ArgumentHelp(
            "Make the exit code 1 when something was denied or violated (violation), had no answer (failure) or went past "
                + "the proxy (bypass); several with commas, as in violation,bypass; never for none. Default: violation; with "
                + "--replay also failure, which a missing recording is.",
            valueName: "what"))
    var failOn: String?

    @Flag(help: "Leave no_proxy to the command as it is, instead of having nothing exempt.")
    var inheritNoProxy = false

    @Option(
        help: ArgumentHelp(
            "Intercept tunnels to these hosts, as in '*.example.com' or '*'; repeatable. The command trusts the proxy's "
                + "certificates.", valueName: "host"))
    var intercept: [String] = []

    @Option(
        defaultAsFlag: Isolation.configured, parsing: .next,
        help: ArgumentHelp(
            "Run the command in a network of its own, whose only way out is the proxy: what ignores the proxy variables is "
                + "captured, or refused with closed. Without a value isolate.capture of the configuration decides.",
            valueName: "how"))
    var isolate: Isolation? = nil

    /// The treatment of connections in a network of the command's own that do not ask the proxy.
    enum Isolation: String, ExpressibleByArgument {
        case capture, closed
        /// As the configuration says.
        case configured

        static var allValueStrings: [String] { [Self.capture, .closed].map(\.rawValue) }

        init?(argument: String) {
            guard Self.allValueStrings.contains(argument) else { return nil }
            self.init(rawValue: argument)
        }
    }

    @Option(
        help: ArgumentHelp(
            "Write a configuration to this new file that allows what the command did, for you to read; tunnels are "
                + "intercepted for it, all of them unless --intercept names some.", valueName: "file"),
        completion: .file())
    var learn: String?

    @Option(
        help: ArgumentHelp(
            "Record every exchange with an origin into a folder. Tunnels are intercepted for it, all of them unless "
                + "--intercept names some.", valueName: "folder"), completion: .directory)
    var record: String?

    @Option(
        help: ArgumentHelp(
            "Answer every request with its recording in a folder, or in a HAR file. Tunnels are intercepted for it, all of them "
                + "unless --intercept names some.", valueName: "folder"), completion: .file())
    var replay: String?

    @Option(
        help: ArgumentHelp(
            "The treatment of requests without a recording: fail (without a connection or a look-up), forward, or record.",
            valueName: "what"))
    var miss: Miss?

    /// The treatment of requests without a recording.
    enum Miss: String, ExpressibleByArgument, CaseIterable {
        case fail, forward, record
    }

    @Option(
        help: ArgumentHelp(
            "Show a set of faults of the configuration on every route; repeatable. Tunnels are intercepted for it, all of them "
                + "unless --intercept names some.", valueName: "name"))
    var faults: [String] = []

    @Flag(
        help:
            "Print links under which a browser shows the traffic while the command runs: its developer tools, and a page."
    )
    var devtools = false

    @Option(
        help: ArgumentHelp(
            "Sign reports of the format intoto with this private key for Ed25519, in PEM (docs/signed-reports.md).",
            valueName: "key"), completion: .file())
    var sign: String?

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("The command and its arguments, after --.", valueName: "command"),
        completion: .file())
    var command: [String] = []

    func run() async throws {
        let outcome: RunOutcome
        do throws(CommandFailure) {
            outcome = try await self.outcome()
        } catch {
            // Other exit codes could be mistaken for the child's.
            let code = [.cannotExecute, .notFound].contains(error.code) ? error.code : .runFailed
            throw CommandFailure(code, lines: error.lines)
        }
        let code = outcome.tell()
        // A shell stops its script or loop only if the program that it waits for was killed by Ctrl-C.
        if outcome.isInterrupted { pintle_raise_default(SIGINT) }
        Glibc.exit(code)
    }

    private func outcome() async throws(CommandFailure) -> RunOutcome {
        let descriptors = OwnDescriptors()
        let reports = try self.reports()
        let key = try self.signingKey(for: reports)
        let failOn = try self.concerns()
        let inherited = Inherited.environment
        let program = try self.program(search: inherited["PATH"])
        if let learn { try RunLearning.check(learn) }
        if let obstacle = BuildServer(environment: inherited)?.obstacle { throw self.refusal(obstacle) }
        let files = ReadFiles()
        let (policy, origin) = try await PrivatePolicy.load(
            self.configuration.file, isIsolated: self.isolate != nil, intercepting: try self.hosts(),
            faults: self.faults, tape: try self.tape(), isLearning: self.learn != nil,
            telling: key == nil ? nil : files)
        let signing = try key.map { key throws(CommandFailure) in
            try RunSigning(key, by: policy, origin, files, options: self.meaningfulOptions)
        }
        let captures = self.captures(policy)
        var learning: RunLearning?
        if let learn { learning = try RunLearning(learn, policy, origin) }
        let trust = try RunTrust.prepare(policy, inherited)
        defer { trust?.remove() }
        let copies = try CredentialFiles.prepare(
            policy.configuration.credentials, isIsolated: self.isolate != nil, inherited)
        defer { copies.remove() }
        let redaction: Redaction = policy.configuration.log.redact ? .on : .off
        let collector = RunCollector(RunStatistics(redaction: redaction))
        let watching = Watching(policy)
        let isKept = reports.contains { $0.format == .har }
        let filtered = FilteredStatistics(reports, redaction: redaction)
        let ledgers = try RunLedgers(reports, redaction: redaction)
        let log = BufferedLog()
        log.logger.warn(ofShadowedPinsIn: policy, origin)
        let start = (moment: Timestamp.now(), clock: ContinuousClock.now)
        let launch = ChildLaunch(
            policy: policy, trust: trust, program: program, words: self.command.map(\.systemBytes),
            exempt: self.inheritNoProxy ? inherited["no_proxy"] ?? inherited["NO_PROXY"] ?? "" : "",
            javaOptions: inherited[ProxyEnvironment.javaName] ?? "",
            isolation: self.isolate == nil ? .none : captures ? .captured(collector.deny) : .closed,
            descriptors: descriptors,
            sinks: ExchangeSinks(
                observer: learning?.observer,
                [RecordSink(collector.take)] + [filtered.neededSink, ledgers.neededSink].compactMap(\.self),
                keeper: self.devtools || isKept ? watching.recent : nil),
            credentialFiles: copies, keyFiles: [self.sign].compactMap(\.self),
            window: self.devtools ? RunWindow(watching: watching, origin: origin) : nil)
        let ended = try await launch.run(logger: log.logger)
        let report = RunReport(
            version: Version.number, file: origin.path, program: self.command[0], startedAt: start.moment,
            duration: ContinuousClock.now - start.clock, end: ended.end, exitCode: ended.end.code,
            statistics: collector.statistics,
            archive: isKept ? RunArchive(recent: watching.recent, redaction: redaction) : nil, past: ended.past,
            refusedPast: ended.refusedPast, failOn: failOn,
            grants: ended.questions?.grants.stored ?? [], otherGrants: ended.questions?.grants.others ?? 0,
            seed: policy.configuration.simulation.seed, isCaptured: captures)
        let (chosen, signed) = await ThreadPool.shared.result { (filtered.finish(), ledgers.finish()) }
        return RunOutcome(
            report: report,
            reports: reports.indices.map { index in
                (file: reports[index], statistics: chosen.statistics[index], ledger: signed.ledgers[index])
            },
            missed: chosen.missed, missedBySigned: signed.missed, signing: signing, logged: log.lines,
            learnt: await learning?.finish(report),
            isInterrupted: ended.isInterrupted, environment: inherited)
    }

    // MARK: Options

    /// True if connections in the command's network that do not ask the proxy are captured.
    private func captures(_ policy: Policy) -> Bool {
        switch self.isolate {
        case nil, .closed: false
        case .capture: true
        case .configured: policy.configuration.isolation.captures
        }
    }

    private func reports() throws(CommandFailure) -> [RunReportFile] {
        var reports: [RunReportFile] = []
        for text in self.report {
            do throws(Malformed) {
                reports.append(try RunReportFile(text))
            } catch {
                throw self.refusal("--report \(text): \(error.reason)")
            }
        }
        for file in reports {
            if let obstacle = OutputPlace.obstacle(to: file.path) {
                throw self.refusal("--report \(file.path): \(obstacle)")
            }
        }
        return reports
    }

    private func signingKey(for reports: [RunReportFile]) throws(CommandFailure) -> SigningKey? {
        let unsigned = reports.first { $0.format == .intoto }
        guard let sign else {
            guard let unsigned else { return nil }
            throw self.refusal(
                "--report intoto=\(unsigned.path): such a report is signed; name the key with --sign KEY "
                    + "(openssl genpkey -algorithm ed25519 -out KEY)")
        }
        guard unsigned != nil else {
            throw self.refusal("--sign signs reports of the format intoto; add --report intoto=FILE")
        }
        do throws(TrustError) { return try SigningKey(file: sign) } catch {
            throw self.refusal("--sign \(error)")
        }
    }

    /// The options that change what the configuration means, for a signed report; without paths, which may be secrets.
    private var meaningfulOptions: [String] {
        var options: [String] = []
        if let isolate { options.append(isolate == .configured ? "--isolate" : "--isolate=\(isolate.rawValue)") }
        if self.inheritNoProxy { options.append("--inherit-no-proxy") }
        for host in self.intercept { options += ["--intercept", host] }
        if self.learn != nil { options.append("--learn") }
        if self.record != nil { options.append("--record") }
        if self.replay != nil { options.append("--replay") }
        if let miss { options += ["--miss", miss.rawValue] }
        for name in self.faults { options += ["--faults", name] }
        return options
    }

    private func concerns() throws(CommandFailure) -> Set<RunConcern> {
        // A suite that is played is meant to be whole: a missing recording must not pass unseen.
        let words = self.failOn ?? (self.replay == nil ? "violation" : "violation,failure")
        do throws(Malformed) {
            return try RunConcern.list(words)
        } catch {
            throw self.refusal("--fail-on \(words): \(error.reason)")
        }
    }

    private func tape() throws(CommandFailure) -> RunTape? {
        if self.miss != nil, self.replay == nil { throw self.refusal("--miss belongs to --replay") }
        switch (self.record, self.replay) {
        case (nil, nil): return nil
        case (.some, .some):
            throw self.refusal("--record and --replay: take one; --replay with --miss record records what is missing")
        case (.some(let folder), nil):
            if folder.hasSuffix(".har") {
                throw self.refusal("--record \(folder): an archive is only played; name a folder")
            }
            if let obstacle = OutputPlace.obstacle(toFilling: folder) {
                throw self.refusal("--record \(folder): \(obstacle)")
            }
            return RunTape(path: folder, mode: .record)
        case (nil, .some(let path)):
            let miss = ReplayRules.Miss(rawValue: (self.miss ?? .fail).rawValue) ?? .fail
            if miss == .record, path.hasSuffix(".har") {
                throw self.refusal("--replay \(path): an archive is only played; name a folder, or --miss forward")
            }
            // A folder for recordings may be new.
            if miss == .record {
                if let obstacle = OutputPlace.obstacle(toFilling: path) {
                    throw self.refusal("--replay \(path): \(obstacle)")
                }
            } else if access(path, R_OK) != 0 {
                throw self.refusal("--replay \(path): it cannot be read: \(SystemError.last)")
            }
            return RunTape(path: path, mode: .replay, miss: miss)
        }
    }

    private func hosts() throws(CommandFailure) -> [HostPattern] {
        var hosts: [HostPattern] = []
        // Rules cannot reach the requests in a tunnel that is only relayed.
        let needsAll =
            self.intercept.isEmpty
            && (self.learn != nil || self.record != nil || self.replay != nil || !self.faults.isEmpty)
        for text in needsAll ? ["*"] : self.intercept {
            do throws(Malformed) {
                hosts.append(try HostPattern(text))
            } catch {
                throw self.refusal("--intercept \(text): \(error.reason)")
            }
        }
        return hosts
    }

    private func program(search: String?) throws(CommandFailure) -> String {
        guard let name = self.command.first else {
            throw self.refusal("there is no command; write it after --, as in: pintle run -- curl https://example.com/")
        }
        do throws(ProgramPath.Failure) {
            return try ProgramPath.find(name, search: search)
        } catch {
            switch error {
            case .notFound:
                let isLine = name.contains(" ") && self.command.count == 1
                let hint = isLine ? "; write its words apart, or give the line to a shell: sh -c '…'" : ""
                throw CommandFailure(.notFound, "pintle run: \(name): there is no such command\(hint)")
            case .notExecutable(let cause):
                throw CommandFailure(.cannotExecute, "pintle run: \(name) cannot be executed: \(cause)")
            }
        }
    }

    private func refusal(_ message: String) -> CommandFailure { CommandFailure(.usage, "pintle run: \(message)") }
}

/// Collects the records of exchanges from the engine's threads.
final class RunCollector: Sendable {
    private let state: Locked<RunStatistics>

    init(_ statistics: RunStatistics) { self.state = Locked(statistics) }

    var statistics: RunStatistics { self.state.withLock { $0 } }

    @Sendable func take(_ record: ExchangeRecord) { self.state.withLock { $0.add(record) } }

    /// Counts a name that may not be looked up.
    func deny(_ name: String, because reason: String) {
        self.state.withLock { $0.add(deniedName: name, because: reason, at: .now()) }
    }
}
