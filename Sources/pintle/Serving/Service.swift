// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
internal import PintleProxy
internal import PintleReachability
internal import PintleSession
internal import PintleSystem
internal import PintleTrust
internal import UnixSignals

/// The command `pintle serve`: assembles all parts, starts them in order, and stops them in reverse.
struct Service {
    let policy: Policy
    let origin: ConfigurationOrigin
    let portFile: String?
    /// Loads the configuration again.
    let load: Serve.Loading
    /// The files of the configuration; nil if it is not reloaded after changes to them.
    let watched: ReadFiles?
    /// The service manager that started this process, if it wants notifications.
    let manager: ServiceManager?
    /// Sockets that already listen, one for each address of the configuration; empty if there are none.
    let given: [Int32]

    func run() async throws(CommandFailure) {
        let output = LogWriter(borrowing: STDERR_FILENO)
        // Gives the log's reader time to receive every line before the process ends, but does not wait for ever.
        defer { output.flush(within: Self.logPatience) }
        let logger = self.makeLogger(output)
        let exchangeLog = try self.openExchangeLog(logger)
        if let shortage = OpenFiles.shortage(OpenFiles.raiseLimit(), self.policy.configuration.limits) {
            logger.warning("\(shortage)")
        }
        if !PublicSuffixes.areKnown { logger.warning("\(PublicSuffixes.missing)") }
        ServerFactory.warnOfShadowedPins(self.policy, self.origin, logger)
        let limit = try StallWatch.limit(in: Inherited.environment)
        let engine = try ServerFactory.engine(
            self.policy.configuration, guardian: StallWatch.guardian(limit, logger))
        let counters = Counters(routes: self.policy.routes.routes.map(\.name))
        let activity = ServerFactory.activity(self.policy.configuration, counters, engine, logger)
        let reachability = ServerFactory.reachability(engine, logger)
        let active: ActiveConfiguration
        let proxy: Proxy
        do {
            active = try ActiveConfiguration(
                policy: self.policy, engine: engine, activity: activity, counters: counters, exchangeLog: exchangeLog,
                logger: logger, reachability: reachability, authority: DataFolder.authority(for:))
        } catch {
            throw CommandFailure(.incomplete, error.message)
        }
        // Signals are caught before the address is announced, because a reader of the address may send one at once.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sigusr1, .sighup)
        do {
            proxy = try Proxy(active: active, engine: engine, given: self.given)
        } catch {
            throw CommandFailure(.incomplete, "\(error)")
        }
        let reloader = Reloader(
            Reloader.Parts(
                proxy: proxy, engine: engine, activity: activity, exchangeLog: exchangeLog, reachability: reachability,
                logger: logger, manager: self.manager, status: Self.status(of: proxy)), policy: self.policy,
            active: active,
            load: self.load)
        let (stop, requestStop) = AsyncStream.makeStream(of: Void.self)
        let report: @Sendable () -> Void = {
            activity.dump()
            logger.log(turns: engine.turnTimes)
            logger.log(lossesOf: exchangeLog)
        }
        let obedience = Task { await self.obey(signals, requestStop, reloader, report) }
        defer { obedience.cancel() }
        let watch = try await self.watchFiles(reloader, engine, logger)
        defer { watch?.stop() }
        let control = self.openControl(
            ControlHandler(reloader: reloader, activity: activity, place: Self.status(of: proxy)), logger)
        defer { control?.stop() }
        await ServerFactory.openCache(active, logger)
        do {
            try self.announce(proxy, logger)
        } catch {
            // The drain also removes the files of Unix sockets.
            _ = await proxy.drain(patience: .zero)
            throw error
        }
        activity.start()
        self.manager?.ready(Self.status(of: proxy))
        let watchdog = self.manager?.watchdog.map { [manager] interval in
            Watchdog(engine.loops, interval: interval) { manager?.isAlive() }
        }
        watchdog?.start()
        defer { watchdog?.stop() }
        for await _ in stop { break }
        self.manager?.stopping("waiting for \(proxy.connections) connections to end")
        logger.notice("draining", metadata: ["connections": .stringConvertible(proxy.connections)])
        let patience = await reloader.drainTimeout
        let clean = await proxy.drain(patience: .nanoseconds(patience.wholeNanoseconds))
        await reloader.active.close()
        await reloader.active.answers?.closeDisk()
        reachability.stop()
        activity.stop()
        await exchangeLog.isWritten(within: Self.logPatience)
        report()
        logger.notice("stopped", metadata: ["clean": .stringConvertible(clean)])
        await engine.stopped()
    }

    // MARK: Parts

    /// The time that the end of the process waits for the log's reader.
    private static let logPatience = Duration.seconds(1)

    private func makeLogger(_ output: LogWriter) -> Logger {
        let log = self.policy.configuration.log
        let level = Logger.Level(configuration: log.level.rawValue) ?? .info
        let handler = LineLogHandler(format: log.format == .json ? .json : .text, level: level, writer: output)
        return Logger(label: "pintle", factory: { _ in handler })
    }

    private func openExchangeLog(_ logger: Logger) throws(CommandFailure) -> ExchangeLog {
        let log = self.policy.configuration.log
        do throws(LogFileError) {
            return try ExchangeLog(
                ExchangeLog.Destination(log.exchanges), format: log.format == .json ? .json : .text,
                redaction: log.redact ? .on : .off, logger: logger)
        } catch {
            throw CommandFailure(.incomplete, "log.exchanges: \(error)")
        }
    }

    /// Opens the control socket, with which `pintle reload` finds this process.
    private func openControl(_ desk: ControlHandler, _ logger: Logger) -> ControlSocket? {
        guard let folder = StateFolder.sockets else {
            logger.warning(
                "`pintle reload` finds no proxy here: neither XDG_STATE_HOME nor HOME says where sockets may be")
            return nil
        }
        do throws(UntrustedPlace) {
            _ = try TrustedFolder(folder, making: 0o700)
        } catch {
            logger.warning("`pintle reload` finds no proxy here: \(error)")
            return nil
        }
        do throws(ControlSocket.Failure) {
            return try ControlSocket(path: "\(folder)/\(getpid()).sock") { await desk.answer($0) }
        } catch {
            logger.warning("`pintle reload` finds no proxy here: \(error)")
            return nil
        }
    }

    /// Reloads the configuration if its files change. No user has asked for it or can be asked back, so a configuration
    /// that would refuse hosts that work does not take effect.
    private func watchFiles(
        _ reloader: Reloader, _ engine: Engine, _ logger: Logger
    ) async throws(CommandFailure) -> ConfigurationWatch? {
        guard let watched else { return nil }
        let watch = try ConfigurationWatch(loop: engine.loops[0], logger: logger) {
            Task { await reloader.reload(Reloader.Options()) }
        }
        await reloader.tellOfFiles { watch.follow($0, isInForce: $1) }
        watch.follow(watched, isInForce: true)
        return watch
    }

    // MARK: Life

    /// Returns the status for the service manager while the proxy serves.
    private static func status(of proxy: Proxy) -> String {
        "listening on \(proxy.places.map(\.description).joined(separator: " "))"
    }

    /// Announces the addresses for clients. The line is written at every log level.
    private func announce(_ proxy: Proxy, _ logger: Logger) throws(CommandFailure) {
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
        logger.notice("ready", metadata: ["listening": "\(places)", "configuration": "\(self.origin)"])
    }

    /// Handles signals for the life of the process: the sequence can be read only once.
    private func obey(
        _ signals: UnixSignalsSequence, _ stop: AsyncStream<Void>.Continuation, _ reloader: Reloader,
        _ report: @Sendable () -> Void
    ) async {
        var isStopping = false
        for await signal in signals {
            switch signal {
            case .sigusr1: report()
            // The sender of a signal cannot be asked back, so hosts that would be refused are reported but do not prevent
            // the reload.
            case .sighup: Task { await reloader.reload(Reloader.Options(force: true)) }
            default:
                // A second signal means that the sender does not want to wait.
                if isStopping { exit(ProcessExit.success.rawValue) }
                isStopping = true
                stop.yield()
            }
        }
    }
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
