// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
internal import PintleProxy
internal import PintleSession
internal import PintleTrust
internal import UnixSignals

/// `pintle serve`: everything is put together here, started in order, and stopped in reverse.
struct Service {
    let policy: Policy
    let origin: ConfigurationOrigin
    let portFile: String?
    /// Reads the configuration anew.
    let load: Serve.Loading

    func run() async throws(CommandFailure) {
        let logger = self.makeLogger()
        let exchangeLog = try self.openExchangeLog(logger)
        if let shortage = OpenFiles.shortage(OpenFiles.raiseLimit(), self.policy.configuration.limits) {
            logger.warning("\(shortage)")
        }
        let engine = try self.startEngine()
        let counters = Counters(routes: self.policy.routes.routes.map(\.name))
        let activity = self.makeActivity(counters, engine, logger)
        let reachability = self.watchNetwork(engine, logger)
        let gate: Gate
        let proxy: Proxy
        do {
            gate = try Gate(
                policy: self.policy, engine: engine, activity: activity, counters: counters, exchangeLog: exchangeLog,
                logger: logger, reachability: reachability)
        } catch {
            throw CommandFailure(.incomplete, error.message)
        }
        // Signals are caught before the address is announced: who reads it may send one at once.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sigusr1, .sighup)
        do {
            proxy = try Proxy(gate: gate, engine: engine)
        } catch {
            throw CommandFailure(.incomplete, "\(error)")
        }
        let reloader = Reloader(
            Reloader.Parts(
                proxy: proxy, engine: engine, activity: activity, exchangeLog: exchangeLog, reachability: reachability,
                logger: logger), policy: self.policy, gate: gate, load: self.load)
        let (stop, requestStop) = AsyncStream.makeStream(of: Void.self)
        let obedience = Task { await self.obey(signals, requestStop, activity, reloader) }
        defer { obedience.cancel() }
        let control = self.openControl(reloader, logger)
        defer { control?.stop() }
        try self.announce(proxy, logger)
        activity.start()
        for await _ in stop { break }
        logger.notice("draining", metadata: ["connections": "\(proxy.connections)"])
        let patience = self.policy.configuration.limits.drainTimeout
        let clean = await proxy.drain(patience: .nanoseconds(patience.wholeNanoseconds))
        await reloader.gate.close()
        reachability.stop()
        activity.stop()
        activity.dump()
        logger.notice("stopped", metadata: ["clean": "\(clean)"])
        engine.stop()
    }

    // MARK: Parts

    private func makeLogger() -> Logger {
        let log = self.policy.configuration.log
        let level = Logger.Level(configuration: log.level.rawValue) ?? .info
        let handler = LineLogHandler(format: log.format == .json ? .json : .text, level: level)
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

    private func startEngine() throws(CommandFailure) -> Engine {
        let threads: Int =
            switch self.policy.configuration.engine.threads {
            case .auto: Engine.availableProcessors
            case .exactly(let count): count
            }
        do throws(SessionError) {
            return try Engine(threads: threads)
        } catch {
            throw CommandFailure(.incomplete, error.message)
        }
    }

    private func makeActivity(_ counters: Counters, _ engine: Engine, _ logger: Logger) -> Activity {
        let configuration = self.policy.configuration.activity
        let loop = engine.loops[0]
        let scheduler = Scheduler { delay, work in
            let task = loop.scheduleTask(in: .nanoseconds(delay.wholeNanoseconds), work)
            return { task.cancel() }
        }
        return Activity(
            counters: counters, settings: ActivitySettings(configuration), scheduler: scheduler, logger: logger)
    }

    /// Follows the system's reachability and logs each change of it.
    private func watchNetwork(_ engine: Engine, _ logger: Logger) -> Reachability {
        let reachability = Reachability(.system, engine: engine)
        reachability.onChange { status in
            logger.info(LogKeys.reachabilityChanged, metadata: [LogKeys.reachability: "\(status)"])
        }
        do throws(SessionError) {
            try reachability.start()
        } catch {
            // It explains failures, and is not needed for serving.
            logger.warning("\(error.message)", metadata: [LogKeys.reason: "\(error.cause ?? "")"])
        }
        return reachability
    }

    /// Lets `pintle reload` find this process.
    private func openControl(_ reloader: Reloader, _ logger: Logger) -> ControlSocket? {
        guard let folder = StateFolder.sockets, StateFolder.make(folder) else {
            logger.warning("no folder for a control socket can be written, so `pintle reload` finds no proxy here")
            return nil
        }
        do throws(ControlSocket.Failure) {
            return try ControlSocket(path: "\(folder)/\(getpid()).sock") { request in
                switch request.command {
                case .reload: await reloader.reload(Reloader.Wish(force: request.force, live: request.live))
                }
            }
        } catch {
            logger.warning("`pintle reload` finds no proxy here: \(error)")
            return nil
        }
    }

    // MARK: Life

    /// Says where clients may connect. The line is written whatever the log level is.
    private func announce(_ proxy: Proxy, _ logger: Logger) throws(CommandFailure) {
        if let portFile {
            let ports = proxy.addresses.map { "\($0.port ?? 0)\n" }.joined()
            do {
                try Data(ports.utf8).write(to: URL(fileURLWithPath: portFile), options: .atomic)
            } catch {
                throw CommandFailure(
                    .incomplete, "--port-file \(portFile) cannot be written: \(error.localizedDescription)")
            }
        }
        var logger = logger
        logger.logLevel = .notice
        let addresses = proxy.addresses.map { "\($0.ipAddress ?? ""):\($0.port ?? 0)" }.joined(separator: " ")
        logger.notice("ready", metadata: ["listening": "\(addresses)", "configuration": "\(self.origin)"])
    }

    /// Does what signals ask for, for as long as the process lives: the sequence can be read only once.
    private func obey(
        _ signals: UnixSignalsSequence, _ stop: AsyncStream<Void>.Continuation, _ activity: Activity,
        _ reloader: Reloader
    ) async {
        var isStopping = false
        for await signal in signals {
            switch signal {
            case .sigusr1: activity.dump()
            // Who sends a signal cannot be asked back: hosts that would be refused are told of, and no reason against it.
            case .sighup: Task { await reloader.reload(Reloader.Wish(force: true)) }
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

extension Duration {
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = self.components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
