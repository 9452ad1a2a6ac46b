// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import PintleActivity
internal import PintlePolicy
internal import PintleProxy

/// Replaces the configuration of a running proxy with the current one of its file, which is read, checked and compiled as a
/// whole, and then swapped in one step. After any error the running one stays.
actor Reloader {
    /// The options of a reload.
    struct Options: Sendable {
        /// True if the configuration takes effect even if it would break hosts that work.
        var force = false
        /// True if hosts are asked for their current chains, in addition to those seen last.
        var live = false
    }

    private let server: ServingProxy
    private let manager: ServiceManager?
    private let threshold: LogThreshold
    private let load: Serve.Loading
    private var policy: Policy
    /// The time that exchanges have to end, from the current configuration.
    var drainTimeout: Duration { self.policy.configuration.limits.drainTimeout }
    /// The last reload. Only one runs at a time; the next one waits for it.
    private var last: Task<ControlAnswer, Never>?
    private var whenRead: [@Sendable (ReadFiles, _ isInForce: Bool) -> Void] = []

    /// - Parameters:
    ///   - policy: the policy in force.
    ///   - manager: notified of each reload; nil if there is none.
    ///   - threshold: the level of the log, which a reload may change.
    init(
        _ server: ServingProxy, policy: Policy, manager: ServiceManager?, threshold: LogThreshold,
        load: @escaping Serve.Loading
    ) {
        (self.server, self.policy, self.manager, self.load) = (server, policy, manager, load)
        self.threshold = threshold
    }

    /// Calls a closure after each attempt, successful or not, with the files that it has read.
    func tellOfFiles(_ whenRead: @escaping @Sendable (ReadFiles, _ isInForce: Bool) -> Void) {
        self.whenRead.append(whenRead)
    }

    /// Reloads the configuration. If that fails, returns and logs the reason. The exchange log is reopened in any case.
    func reload(_ options: Options) async -> ControlAnswer {
        let previous = self.last
        let task = Task {
            _ = await previous?.value
            return await self.reloadNow(options)
        }
        self.last = task
        return await task.value
    }

    private func reloadNow(_ options: Options) async -> ControlAnswer {
        self.manager?.reloading()
        let logProblem = await self.reopenLog()
        let files = ReadFiles()
        var answer: ControlAnswer
        do throws(CommandFailure) {
            answer = try await self.attempt(options, files)
        } catch {
            answer = ControlAnswer(code: error.code.rawValue, lines: error.lines)
        }
        let isInForce = answer.code == ProcessExit.success.rawValue
        for tell in self.whenRead { tell(files, isInForce) }
        if isInForce {
            for line in answer.lines { self.server.logger.notice("\(line)") }
            if logProblem != nil { answer.code = ProcessExit.incomplete.rawValue }
        } else {
            for line in answer.lines { self.server.logger.error("\(line)") }
            self.server.logger.error("the configuration was not reloaded; the running one stays")
        }
        let failure = isInForce ? "" : "; the last reload was refused: \(answer.lines.first ?? "")"
        self.manager?.ready(self.server.status + failure)
        answer.lines = (logProblem.map { [$0] } ?? []) + answer.lines
        return answer
    }

    /// Reopens the exchange log by its path, because the old file may have been moved away.
    private func reopenLog() async -> String? {
        do throws(LogFileError) {
            try self.server.sinks.log?.reopen()
            // The client may compress the old file as soon as it has the answer.
            await self.server.sinks.log?.isWritten(within: .seconds(1))
            return nil
        } catch {
            let problem = "log.exchanges: \(error); lines go on into the file that was open"
            self.server.logger.error("\(problem)")
            return problem
        }
    }

    private func attempt(_ options: Options, _ files: ReadFiles) async throws(CommandFailure) -> ControlAnswer {
        let (policy, origin) = try await self.load(files)
        try Self.checkChanges(from: self.policy.configuration, to: policy.configuration)
        let counters = Counters(
            routes: policy.routes.routes.map(\.name), continuing: self.server.activity.counters)
        let next = try self.server.prepare(
            policy, revision: ConfigurationRevision.of(files, origin), counters)
        let breakages = await self.breakages(of: next, live: options.live)
        guard breakages.isEmpty || options.force else {
            throw CommandFailure(
                .found,
                lines: Self.told(breakages) + [
                    "\(origin): \(breakages.count == 1 ? "1 host that works" : "\(breakages.count) hosts that work") "
                        + "now would be refused; correct the pins, or reload with --force"
                ])
        }
        self.server.logger.warn(ofShadowedPinsIn: policy, origin)
        self.server.activity.reload(settings: ActivitySettings(policy.configuration.activity), counters: counters)
        await self.server.replace(active: next)
        self.threshold.level = Logger.Level(policy.configuration.log.level)
        self.policy = policy
        return ControlAnswer(code: ProcessExit.success.rawValue, lines: Self.told(breakages) + ["reloaded \(origin)"])
    }

    /// The most hosts that a reload names: a wrong pin for all hosts would name each that was recently asked for.
    static let mostTold = 100

    /// The first lines, and a last one with the number of the others.
    static func told(_ breakages: [String]) -> [String] {
        let more = breakages.count - Self.mostTold
        return more > 0 ? Array(breakages.prefix(Self.mostTold)) + ["and \(more) more"] : breakages
    }

    private func breakages(of next: ActiveConfiguration, live: Bool) async -> [String] {
        let preflight = await Preflight(from: self.server.active, to: next)
        var breakages = preflight.breakages()
        if live {
            breakages += await preflight.liveBreakages(on: self.server.engine).filter { !breakages.contains($0) }
        }
        return breakages.map { "\($0)" }
    }

    /// - Throws: an error if a setting changes that cannot change while the proxy runs.
    private static func checkChanges(from old: Configuration, to new: Configuration) throws(CommandFailure) {
        var fixed: [String] = []
        if old.listen != new.listen { fixed.append("listen") }
        if old.admin != new.admin { fixed.append("admin") }
        if old.engine.threads != new.engine.threads { fixed.append("engine.threads") }
        if old.log.format != new.log.format { fixed.append("log.format") }
        if old.log.exchanges != new.log.exchanges { fixed.append("log.exchanges") }
        if old.log.redact != new.log.redact { fixed.append("log.redact") }
        if old.tracing?.receiver != new.tracing?.receiver { fixed.append("tracing.otlp") }
        guard fixed.isEmpty else {
            throw CommandFailure(
                .configuration,
                "\(fixed.joined(separator: ", ")) cannot change while Pintle runs; restart it, or put the old value back"
            )
        }
    }
}

extension ActivitySettings {
    init(_ configuration: ActivityConfiguration) {
        self.init(
            activationDelay: configuration.activationDelay, completionDelay: configuration.completionDelay,
            logInterval: configuration.logInterval)
    }
}
