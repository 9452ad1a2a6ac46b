// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import FoundationEssentials
internal import PintleActivity
internal import PintleMessage
internal import PintlePins
internal import PintlePolicy
internal import PintleRehearsal
internal import PintleTape

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load, compile and lint a configuration, without network: what serve would run.",
        discussion: """
            Exit code 0 without findings or with warnings only, 3 when the configuration is invalid. Lists of hosts at URLs are \
            fetched if their copies are old, as by every command; nothing else is connected to.
            With --sample the request goes to standard output as it would go upstream; exit code 1 when it would be \
            answered with a problem instead. What is only reported goes to standard error. Its Proxy-Authorization says who the \
            client is, with a user's password where the configuration has users; without the field the client has no name. \
            Query values, credentials and what the route puts into the request are shown as ***; with log.redact: off in the \
            configuration everything is shown.
            With --against the differences in meaning from an earlier configuration go to standard output, each with a \
            request and the rule that decides on each side; exit code 1 if there are any. With --traffic, too, the recorded \
            exchanges are told that would be decided otherwise.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @Argument(help: "The configuration file, as with -c.", completion: .file())
    var file: String?

    @OptionGroup var configuration: ConfigurationOptions

    @Option(
        help: ArgumentHelp(
            "A saved request, as a client sends it to the proxy: print what would go upstream.", valueName: "file"),
        completion: .file())
    var sample: String?

    @Option(
        help: ArgumentHelp(
            "An earlier configuration: print what this one decides otherwise.", valueName: "file"), completion: .file())
    var against: String?

    @Option(
        help: ArgumentHelp(
            "Recorded traffic, as lines of Pintle's log or a HAR file: print which exchanges would be decided otherwise.",
            valueName: "file"), completion: .file())
    var traffic: String?

    @Flag(help: "Print the lists of destinations that come with the program, for include: [\"preset:NAME\"].")
    var presets = false

    @Option(help: "The form of differences.")
    var format = Format.text

    func validate() throws {
        guard self.file == nil || self.configuration.file == nil else {
            throw ValidationError("Name one configuration: FILE or -c FILE.")
        }
        guard self.traffic == nil || self.against != nil else {
            throw ValidationError("--traffic needs --against: the earlier configuration to compare with.")
        }
        guard self.sample == nil || self.against == nil else {
            throw ValidationError("--sample and --against are two questions; ask them one after the other.")
        }
        guard self.format == .text || self.against != nil else {
            throw ValidationError("--format is for differences; it needs --against.")
        }
    }

    func run() async throws {
        if self.presets { return try Self.tellPresets() }
        let (policy, origin) = try await ConfigurationOptions.load(self.file ?? self.configuration.file)
        Output.error("configuration: \(origin)")
        for file in policy.configuration.includedFiles { Output.error("included: \(file)") }
        if let sample { return try self.run(sample: sample, policy) }
        if let against {
            let (old, oldOrigin) = try await ConfigurationOptions.load(against)
            let comparison = CheckAgainst((old, oldOrigin.path), (policy, origin.path), format: self.format)
            guard let traffic else { return try comparison.compareTables() }
            return try comparison.compareTraffic(traffic)
        }
        let lint = Lint(policy)
        let file = origin.path ?? "embedded default"
        for finding in lint.findings {
            let place = finding.position.description(inMain: file)
            try Output.prose("\(place): \(finding.severity): \(finding.path): \(finding.message)")
        }
        for finding in PinLint.shadowedPins(policy) {
            let place = finding.position.description(inMain: file)
            try Output.prose("\(place): warning: \(finding.path): \(finding.message)".plainLine)
        }
        try self.tellOldRecordings(policy, file)
        try self.tellUntestedRoutes(policy, file)
    }

    private static func tellPresets() throws {
        for (index, preset) in Preset.all.enumerated() {
            try Output.data("\(index > 0 ? "\n" : "")preset:\(preset.name): \(preset.summary)")
            for host in preset.allow { try Output.data("  \(host)") }
        }
    }

    /// Tells the routes whose recordings are older than `recordings.max_age`, as `pintle tapes lint` does for each recording.
    private func tellOldRecordings(_ policy: Policy, _ file: String) throws {
        let recordings = policy.configuration.recordings
        guard let age = recordings.maxAge, let oldest = recordings.oldest(at: .now()) else { return }
        for (index, route) in policy.configuration.routes.enumerated() {
            // A tape that is not there yet has no old recordings.
            guard let replay = route.simulation.replay, replay.mode != .record,
                let old = try? TapeFinding.old(in: replay.tape, before: oldest), let first = old.first
            else { continue }
            let place = route.position.description(inMain: file)
            let count = old.count == 1 ? "a recording" : "\(old.count) recordings"
            try Output.prose(
                "\(place): warning: routes[\(index)].replay: \(count) in \(replay.tape) \(old.count == 1 ? "is" : "are") older than recordings.max_age (\(age.spelled)): \(first.file) was \(first.message)"
                    .plainLine)
        }
    }

    /// Names the routes that no test in the folder `tests` reaches.
    private func tellUntestedRoutes(_ policy: Policy, _ file: String) throws {
        guard let folder = policy.configuration.tests?.value else { return }
        let surroundings = LoaderEnvironment.system(environment: Inherited.environment)
        let run = try TestRun(try TestFiles([folder], surroundings, for: "pintle check"), by: policy, surroundings)
        for part in run.coverage.unreached where part.kind == .routes {
            let place = part.position.description(inMain: file)
            try Output.prose("\(place): warning: \(part.name): no test in \(folder) reaches this route".plainLine)
        }
    }

    // MARK: A sample

    /// The maximum size of a sample: more than the longest head with the longest body that is buffered.
    private static let sampleLimit = 64 << 20

    private func run(sample path: String, _ policy: Policy) throws(CommandFailure) {
        let bytes: [UInt8]
        do throws(LoaderEnvironment.ReadingError) {
            bytes = try LoaderEnvironment.system(environment: [:]).read(path, Self.sampleLimit)
        } catch {
            throw CommandFailure(
                .incomplete, "pintle check: --sample: \(error.words(for: path, limit: Self.sampleLimit))")
        }
        let sent: [UInt8]
        do throws(Problem) {
            let run = try DryRun(bytes, policy: policy)
            let route = run.decision.route?.description ?? "no route"
            Output.error("sent to \(run.decision.scheme.rawValue)://\(run.decision.authority) by \(route)")
            if run.identity != ProxyIdentity() { Output.error("the client is \(run.identity)") }
            if let breach = run.decision.reportedBreach { Output.error("reported: \(breach)") }
            for breach in run.breaches { Output.error("reported: the request breaks its contract: \(breach)") }
            sent = try Self.sent(run, policy.configuration.log.redact ? .on : .off)
        } catch {
            throw CommandFailure(
                .found, "pintle check: \(path): answered with \(error.status) \(error.name.rawValue): \(error.detail)")
        }
        try Output.bytes(sent)
    }

    /// Returns the bytes of the request as it is sent upstream.
    private static func sent(_ run: DryRun, _ redaction: Redaction) throws(Problem) -> [UInt8] {
        var (head, body) = (run.head, run.body)
        if redaction == .on { (head, body) = try run.masked(by: Redaction.mask) }
        var lines = ["\(head.method) \(redaction.url(head.target.path ?? "*")) HTTP/1.1"]
        for (name, value) in head.fields.pairs { lines.append("\(name): \(redaction.field(name: name, value: value))") }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }
}
