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

/// `pintle serve`: everything is put together here, started in order, and stopped in reverse.
struct Service {
    let policy: Policy
    let origin: ConfigurationOrigin
    let portFile: String?
    /// Reads the configuration anew.
    let load: Serve.Loading
    /// What the configuration was made of, where it is to be reloaded when that changes.
    let watched: ReadFiles?
    /// Whoever started this process and wants to hear how it fares.
    let manager: ServiceManager?
    /// Sockets that listen already, one for each place of the configuration; empty where none do.
    let given: [Int32]

    func run() async throws(CommandFailure) {
        let output = LogWriter(borrowing: STDERR_FILENO)
        // Every line that somebody reads is there before the process ends; nobody else is waited for.
        defer { output.flush(within: Self.logPatience) }
        let logger = self.makeLogger(output)
        let exchangeLog = try self.openExchangeLog(logger)
        if let shortage = OpenFiles.shortage(OpenFiles.raiseLimit(), self.policy.configuration.limits) {
            logger.warning("\(shortage)")
        }
        if !PublicSuffixes.areKnown { logger.warning("\(PublicSuffixes.missing)") }
        ServingParts.warnOfShadowedPins(self.policy, self.origin, logger)
        let limit = try StallWatch.limit(in: Inherited.environment)
        let engine = try ServingParts.engine(
            self.policy.configuration, guardian: StallWatch.guardian(limit, logger))
        let counters = Counters(routes: self.policy.routes.routes.map(\.name))
        let activity = ServingParts.activity(self.policy.configuration, counters, engine, logger)
        let reachability = ServingParts.reachability(engine, logger)
        let active: ActiveConfiguration
        let proxy: Proxy
        do {
            active = try ActiveConfiguration(
                policy: self.policy, engine: engine, activity: activity, counters: counters, exchangeLog: exchangeLog,
                logger: logger, reachability: reachability, authority: DataFolder.authority(for:))
        } catch {
            throw CommandFailure(.incomplete, error.message)
        }
        // Signals are caught before the address is announced: who reads it may send one at once.
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
            ControlDesk(reloader: reloader, activity: activity, place: Self.status(of: proxy)), logger)
        defer { control?.stop() }
        await ServingParts.openCache(active, logger)
        do {
            try self.announce(proxy, logger)
        } catch {
            // Sockets that are files go with it.
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

    /// How long the end waits for somebody who reads a log.
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

    /// Lets `pintle reload` find this process.
    private func openControl(_ desk: ControlDesk, _ logger: Logger) -> ControlSocket? {
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

    /// Reloads when files change. Nobody can be asked back, and nobody has asked: what would refuse hosts that work is not put
    /// in force.
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

    /// What a service manager shows of a proxy that serves.
    private static func status(of proxy: Proxy) -> String {
        "listening on \(proxy.places.map(\.description).joined(separator: " "))"
    }

    /// Says where clients may connect. The line is written whatever the log level is.
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

    /// Does what signals ask for, for as long as the process lives: the sequence can be read only once.
    private func obey(
        _ signals: UnixSignalsSequence, _ stop: AsyncStream<Void>.Continuation, _ reloader: Reloader,
        _ report: @Sendable () -> Void
    ) async {
        var isStopping = false
        for await signal in signals {
            switch signal {
            case .sigusr1: report()
            // Who sends a signal cannot be asked back: hosts that would be refused are told of, and no reason against it.
            case .sighup: Task { await reloader.reload(Reloader.Options(force: true)) }
            default:
                // The second one is from somebody who does not want to wait.
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
