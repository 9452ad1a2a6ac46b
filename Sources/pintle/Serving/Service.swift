// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
internal import PintleProxy
internal import PintleSession
internal import PintleStorage
internal import PintleSystem
internal import PintleTrust
internal import PintleWatch
internal import UnixSignals

/// The command `pintle serve`: starts a proxy with the parts of a service, and stops it after a signal.
struct Service {
    let policy: Policy
    let origin: ConfigurationOrigin
    let portFile: String?
    /// Loads the configuration again.
    let load: Serve.Loading
    /// The files of the configuration.
    let files: ReadFiles
    /// True if the configuration is reloaded after changes to them.
    let isWatching: Bool
    /// The service manager that started this process, if it wants notifications.
    let manager: ServiceManager?
    /// Sockets that already listen, one for each address of the configuration; empty if there are none.
    let given: [Int32]
    /// False if the admin endpoint is a default that was not asked for: the proxy then serves without it if it cannot listen.
    let needsAdmin: Bool

    /// The signals that are caught.
    static let signals: [UnixSignal] = [.sighup, .sigterm, .sigint, .sigusr1]
    /// The time that the end of the process waits for the reader of a log.
    private static let logPatience = Duration.seconds(1)

    func run() async throws(CommandFailure) {
        let output = LogWriter(borrowing: STDERR_FILENO)
        // Gives the log's reader time to receive every line before the process ends, but does not wait for ever.
        defer { output.flush(within: Self.logPatience) }
        let threshold = LogThreshold(Logger.Level(self.policy.configuration.log.level))
        let logger = self.makeLogger(output, threshold)
        let lifecycle = Lifecycle(logger: logger)
        let (server, reloader): (ServingProxy, Reloader)
        do throws(CommandFailure) {
            (server, reloader) = try await self.start(in: lifecycle, logger, threshold)
        } catch {
            // A fixed port may have clients before it is announced.
            let isAsked = lifecycle.state == .stopRequested
            await lifecycle.stop(within: isAsked ? self.policy.configuration.limits.drainTimeout : .zero)
            throw error
        }
        await lifecycle.waitForStopRequest()
        let (connections, patience) = (server.proxy.connections, await reloader.drainTimeout)
        self.manager?.stopping("waiting for \(connections) connections to end, for \(patience.spelled) at most")
        logger.log(.notice, .draining(connections: connections, atMost: patience.spelled))
        let clean = await lifecycle.stop(within: patience)
        server.report()
        logger.log(.notice, .stopped(isClean: clean))
    }

    // MARK: Start

    /// Starts all parts in their order, and then announces the addresses.
    private func start(
        in lifecycle: Lifecycle, _ logger: Logger, _ threshold: LogThreshold
    ) async throws(CommandFailure) -> (ServingProxy, Reloader) {
        let requests = try await self.catchSignals(in: lifecycle)
        let exchangeLog = try self.openExchangeLog(logger)
        try lifecycle.started(.exchangeLog) { await exchangeLog.isWritten(within: Self.logPatience) }
        let traces = try self.startTraces(logger)
        if let traces { try lifecycle.started(.traces) { await traces.stop() } }
        if let shortage = OpenFiles.shortage(OpenFiles.raiseLimit(), self.policy.configuration.limits) {
            logger.warning("\(shortage)")
        }
        if !PublicSuffixes.areKnown { logger.warning("\(PublicSuffixes.missing)") }
        logger.warn(ofShadowedPinsIn: self.policy, self.origin)
        let feed = ExchangeFeed()
        let watching = self.policy.configuration.admin.place.map { _ in Watching(self.policy) }
        if watching == nil, self.policy.configuration.capture != nil {
            throw CommandFailure(
                .configuration,
                "\(self.origin): capture: nothing shows the bodies without an admin endpoint; name one with `admin` or "
                    + "--admin, or leave `capture` out")
        }
        let sinks = ExchangeSinks(
            log: exchangeLog, [feed] + (traces.map { [$0] } ?? []), keeper: watching?.recent)
        let server = try ServingProxy(
            self.policy, revision: ConfigurationRevision.of(self.files, self.origin), sinks: sinks, sockets: self.given,
            stallDetector: try StallWatch.detector(logger),
            logger: logger, in: lifecycle, authority: DataFolder.authority(for:))
        let reloader = Reloader(
            server, policy: self.policy, manager: self.manager, threshold: threshold, load: self.load)
        let handling = Task { await Self.handle(requests, server, reloader) }
        try lifecycle.started(.signalRequests) { handling.cancel() }
        let refresh = await self.refreshLists(reloader, server)
        try lifecycle.started(.listRefresh) { refresh.stop() }
        if self.isWatching {
            let watch = try await self.watch(self.files, reloader, server)
            try lifecycle.started(.fileWatch) { watch.stop() }
        }
        var admin: AdminServer?
        if let watching { admin = try await self.admin(watching, server, reloader, lifecycle, logger) }
        let handler = ControlHandler(reloader: reloader, server: server, feed: feed, admin: admin)
        if let control = ControlSocket.open(handler, logger) {
            try lifecycle.started(.controlSocket) { control.stop() }
        }
        await server.openCache()
        try lifecycle.started(.diskCache) { await server.active.answers?.closeDisk() }
        if let manager, let interval = manager.watchdog {
            let watchdog = Watchdog(server.engine.loops, interval: interval) { manager.isAlive() }
            watchdog.start()
            try lifecycle.started(.watchdog) { watchdog.stop() }
        }
        try lifecycle.serve()
        ProgramPages.release()
        try self.announce(server.proxy, admin, logger)
        self.manager?.ready(server.status)
        return (server, reloader)
    }

    private func makeLogger(_ output: LogWriter, _ threshold: LogThreshold) -> Logger {
        let format: LogFormat = self.policy.configuration.log.format == .json ? .json : .text
        let style = Terminal.style(of: STDERR_FILENO, environment: Inherited.environment)
        let handler = LineLogHandler(format: format, onTerminal: style, threshold: threshold, writer: output)
        return Logger(label: "pintle", factory: { _ in handler })
    }

    private func openExchangeLog(_ logger: Logger) throws(CommandFailure) -> ExchangeLog {
        let log = self.policy.configuration.log
        do throws(LogFileError) {
            // A path may lead to a terminal, too.
            let style = Terminal.style(environment: Inherited.environment)
            return try ExchangeLog(
                ExchangeLog.Destination(log.exchanges), format: log.format == .json ? .json : .text, onTerminals: style,
                redaction: log.redact ? .on : .off, logger: logger)
        } catch {
            throw CommandFailure(.incomplete, "log.exchanges: \(error)")
        }
    }

    /// - Returns: nil if traces are off.
    private func startTraces(_ logger: Logger) throws(CommandFailure) -> TraceExporter? {
        let configuration = self.policy.configuration
        guard let tracing = configuration.tracing else { return nil }
        return try TraceExporter(tracing, redaction: configuration.log.redact ? .on : .off, logger: logger)
    }

    /// Starts the admin endpoint.
    private func admin(
        _ watching: Watching, _ server: ServingProxy, _ reloader: Reloader, _ lifecycle: Lifecycle,
        _ logger: Logger
    ) async throws(CommandFailure) -> AdminServer? {
        let configuration = self.policy.configuration.admin
        guard let place = configuration.place else { return nil }
        let program = RunningProgram(server, reloader, lifecycle, self.origin, watching)
        let admin: AdminServer
        do throws(CommandFailure) {
            admin = try AdminServer(
                program, at: place, hosts: configuration.hosts, showing: watching.recent, logger: logger)
        } catch {
            if self.needsAdmin { throw error }
            logger.warning(
                "there is no admin endpoint: \(error.lines.first ?? ""); --admin ADDR:PORT names another place")
            return nil
        }
        try lifecycle.started(.admin) { await admin.stop() }
        await reloader.tellOfFiles { program.reloaded(isInForce: $1) }
        return admin
    }

    /// Asks the servers of lists again, and reloads the configuration if a list changes. As after a change to a file, a
    /// configuration that would refuse hosts that work does not take effect.
    private func refreshLists(_ reloader: Reloader, _ server: ServingProxy) async -> ListRefresh {
        let refresh = ListRefresh(
            ListSource(store: .ofUser), server.lists, Scheduler(server.engine.loops[0]), logger: server.logger
        ) {
            _ = await reloader.reload(Reloader.Options())
        }
        await reloader.tellOfFiles { if $1 { refresh.follow(server.active.policy) } }
        refresh.follow(self.policy)
        return refresh
    }

    /// Reloads the configuration if its files change. No user has asked for it or can be asked back, so a configuration
    /// that would refuse hosts that work does not take effect.
    private func watch(
        _ files: ReadFiles, _ reloader: Reloader, _ server: ServingProxy
    ) async throws(CommandFailure) -> ConfigurationWatch {
        let watch = try ConfigurationWatch(loop: server.engine.loops[0], logger: server.logger) {
            Task { await reloader.reload(Reloader.Options()) }
        }
        await reloader.tellOfFiles { watch.follow($0, isInForce: $1) }
        watch.follow(files, isInForce: true)
        return watch
    }

    /// Announces the addresses for clients. The line is written at every log level.
    private func announce(_ proxy: Proxy, _ admin: AdminServer?, _ logger: Logger) throws(CommandFailure) {
        if let portFile {
            let ports = proxy.places.map { place in
                switch place.place {
                case .address(_, let port): "\(port)\n"
                case .unix(let path): "\(path)\n"
                }
            }.joined()
            do throws(SystemError) {
                try FileWriting.replace(portFile, with: Array(ports.utf8))
            } catch {
                throw CommandFailure(.incomplete, "--port-file \(portFile) cannot be written: \(error)")
            }
        }
        var logger = logger
        logger.logLevel = .notice
        let places = proxy.places.map(\.description).joined(separator: " ")
        // The token is for the person at the terminal, and not for the collectors of logs.
        let shown = admin.map { isatty(STDERR_FILENO) == 1 ? $0.link : $0.address }
        logger.log(.notice, .ready(listening: places, configuration: "\(self.origin)", admin: shown))
    }

    // MARK: Signals

    /// Catches signals for the life of the process. Those to stop are handled at once.
    ///
    /// - Returns: the other signals, which wait until they are handled.
    private func catchSignals(in lifecycle: Lifecycle) async throws(CommandFailure) -> AsyncStream<UnixSignal> {
        let signals = await UnixSignalsSequence(trapping: Self.signals)
        let (requests, request) = AsyncStream.makeStream(of: UnixSignal.self)
        let catching = Task {
            for await signal in signals {
                switch signal {
                case .sigusr1, .sighup: request.yield(signal)
                default:
                    // A second signal means that the sender does not want to wait.
                    if !lifecycle.requestStop() { exit(ProcessExit.success.rawValue) }
                }
            }
        }
        try lifecycle.started(.signals) { catching.cancel() }
        return requests
    }

    private static func handle(
        _ requests: AsyncStream<UnixSignal>, _ server: ServingProxy, _ reloader: Reloader
    ) async {
        for await signal in requests {
            switch signal {
            // The sender of a signal cannot be asked back, so hosts that would be refused are reported but do not prevent
            // the reload.
            case .sighup: Task { await reloader.reload(Reloader.Options(force: true)) }
            default: server.report()
            }
        }
    }
}

extension ServingProxy {
    /// Logs the counters, the times of the engine's turns, and the losses of the exchange log.
    fileprivate func report() {
        self.activity.dump()
        self.logger.log(turns: self.engine.turnTimes)
        if let log = self.sinks.log { self.logger.log(lossesOf: log) }
    }
}

extension ControlSocket {
    /// Opens the socket through which commands reach this process.
    ///
    /// - Returns: nil if that is impossible, after a warning: the proxy serves clients without it.
    fileprivate static func open(_ handler: ControlHandler, _ logger: Logger) -> ControlSocket? {
        let reason: String
        if let folder = UserFile.socket.folder, let path = UserFile.socket.path {
            do throws(UntrustedPlace) {
                _ = try TrustedFolder(folder, making: 0o700)
                do throws(ControlConnection.Failure) {
                    return try ControlSocket(path: path, handler: handler.serve)
                } catch {
                    reason = error.description
                }
            } catch {
                reason = error.description
            }
        } else {
            reason = "neither XDG_STATE_HOME nor HOME says where sockets may be"
        }
        logger.warning(
            """
            there is no control socket, so `pintle reload`, `status`, `purge`, `tail`, `top` and `wait` do not reach this proxy: \(reason). \
            Correct that, or set XDG_STATE_HOME to another folder, and restart; SIGHUP still reloads
            """)
        return nil
    }
}

extension Logger.Level {
    init(_ level: LogConfiguration.Level) { self = Logger.Level(configuration: level.rawValue) ?? .info }
}

extension ExchangeLog.Destination {
    init(_ configuration: LogConfiguration.Exchanges) {
        switch configuration {
        case .standardOutput: self = .standardOutput
        case .off: self = .off
        case .file(let path): self = .file(path)
        }
    }
}
