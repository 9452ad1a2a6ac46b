// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintleCacheStore
internal import PintleLoop
internal import PintlePins
internal import PintlePolicy
internal import PintleProxy
internal import PintleReachability
internal import PintleSession
internal import PintleSystem
internal import PintleTrust

/// The parts of a proxy that every command with clients starts: `serve`, `run` and `doctor`.
final class ServingProxy: Sendable {
    /// Returns the issuer of the certificates of intercepted tunnels.
    typealias Authority = @Sendable (InterceptionConfiguration) throws(TrustError) -> CertificateAuthority

    let engine: Engine
    let activity: Activity
    let reachability: Reachability
    let sinks: ExchangeSinks
    let proxy: Proxy
    let logger: Logger
    private let current: Locked<ActiveConfiguration>
    private let askWebhook: AskWebhook
    /// The times of the lists that other machines keep.
    let lists: ListTimes

    /// The current configuration.
    var active: ActiveConfiguration { self.current.withLock { $0 } }
    /// The addresses in words, as status for a service manager and for `pintle status`.
    var status: String { "listening on \(self.proxy.places.map(\.description).joined(separator: " "))" }
    /// The address of a private proxy, which listens on no Unix socket.
    var address: ProxyAddress {
        guard let address = self.proxy.places.first.flatMap(ProxyAddress.init) else {
            preconditionFailure("BUG: a private proxy listens on an address")
        }
        return address
    }

    /// Starts the parts, and accepts clients.
    ///
    /// - Parameters:
    ///   - revision: the revision of the configuration, for logs and metrics; nil if neither shows it.
    ///   - sinks: told of each exchange.
    ///   - sockets: sockets that already listen, one for each address of the configuration; empty if there are none.
    ///   - captured: the sockets of a command's network.
    ///   - stallDetector: reports turns of an engine thread that take too long; nil if they are not watched.
    ///   - lifecycle: stops the parts that have started, also if a later one fails.
    ///   - authority: called only if the policy intercepts tunnels.
    init(
        _ policy: Policy, revision: String? = nil, sinks: ExchangeSinks, sockets: [Int32] = [],
        captured: CapturedSockets = .none, stallDetector: LoopStallDetector? = nil, logger: Logger,
        in lifecycle: Lifecycle, authority: Authority
    ) throws(CommandFailure) {
        let configuration = policy.configuration
        let engine = try Self.startEngine(configuration, stallDetector)
        try lifecycle.started(.engine) { await engine.stopped() }
        let counters = Counters(routes: policy.routes.routes.map(\.name))
        let activity = Self.startActivity(configuration, counters, engine, logger)
        try lifecycle.started(.activity) { activity.stop() }
        let reachability = Self.startReachability(engine, logger)
        try lifecycle.started(.reachability) { reachability.stop() }
        do {
            let active = try ActiveConfiguration(
                policy: policy, revision: revision, engine: engine, activity: activity, counters: counters,
                sinks: sinks, logger: logger, reachability: reachability, authority: authority)
            self.current = Locked(active)
        } catch {
            throw CommandFailure(.incomplete, error.message)
        }
        try lifecycle.started(.sessions) { [current] in await current.withLock { $0 }.close() }
        let board = self.current.withLock { $0 }.questions
        self.askWebhook = try AskWebhook(board, by: policy, on: engine, logger: logger)
        try lifecycle.started(.askWebhook) { [askWebhook] in await askWebhook.stop() }
        do {
            self.proxy = try Proxy(
                active: self.current.withLock { $0 }, engine: engine, given: sockets, captured: captured)
        } catch {
            throw CommandFailure(.incomplete, "\(error)")
        }
        (self.engine, self.activity, self.reachability) = (engine, activity, reachability)
        (self.sinks, self.logger, self.lists) = (sinks, logger, ListTimes(policy))
        // The drain also removes the files of Unix sockets.
        try lifecycle.started(
            .listeners, drain: { [proxy] in await proxy.drain(patience: .nanoseconds($0.wholeNanoseconds)) })
    }

    // MARK: Configuration

    /// Makes a configuration ready that continues the current one.
    ///
    /// - Throws: an error if roots or the authority cannot be loaded.
    func prepare(
        _ policy: Policy, revision: String, _ counters: Counters
    ) throws(CommandFailure) -> ActiveConfiguration {
        do {
            return try ActiveConfiguration(
                policy: policy, revision: revision, engine: self.engine, activity: self.activity, counters: counters,
                sinks: self.sinks, logger: self.logger, reachability: self.reachability,
                continuing: self.active, authority: DataFolder.authority(for:))
        } catch {
            throw CommandFailure(.incomplete, error.message)
        }
    }

    /// Puts another configuration into use for every request that is received from now on.
    func replace(active next: ActiveConfiguration) async {
        let previous = self.active
        do throws(CommandFailure) {
            try self.askWebhook.use(next.policy)
        } catch {
            // The sessions of the configuration have loaded the same roots before.
            self.logger.warning("\(error.lines.joined(separator: "; "))")
        }
        await self.proxy.replace(active: next)
        self.current.withLock { $0 = next }
        self.lists.use(next.policy)
        if next.answers !== previous.answers { await previous.answers?.closeDisk() }
        // Also with unchanged settings: a folder that could not be opened before may be usable by now.
        await self.openCache()
    }

    /// Opens the cache folder on disk, if a route uses it. If this fails, responses are cached in memory only, and the log
    /// says why.
    func openCache() async {
        let active = self.active
        guard let answers = active.answers, active.keepsAnswers, active.cacheConfiguration.disk > 0 else { return }
        guard let folder = active.cacheConfiguration.folder ?? UserFile.cache.path else {
            return self.logger.warning(
                "answers are kept in memory alone: neither XDG_STATE_HOME nor HOME says where else; set cache.path")
        }
        do throws(DiskCacheError) {
            try await answers.openDisk(folder, capacity: active.cacheConfiguration.disk) { [logger] event in
                logger.warning("\(event)")
            }
        } catch {
            self.logger.warning("answers are kept in memory alone: \(error)")
        }
    }

    // MARK: Parts

    private static func startEngine(
        _ configuration: Configuration, _ stallDetector: LoopStallDetector?
    ) throws(CommandFailure) -> Engine {
        let threads: Int =
            switch configuration.engine.threads {
            case .auto: Engine.availableProcessors
            case .exactly(let count): count
            }
        do throws(SessionError) {
            return try Engine(threads: threads, turnGuard: stallDetector)
        } catch {
            throw CommandFailure(.incomplete, error.message)
        }
    }

    private static func startActivity(
        _ configuration: Configuration, _ counters: Counters, _ engine: Engine, _ logger: Logger
    ) -> Activity {
        let activity = Activity(
            counters: counters, settings: ActivitySettings(configuration.activity),
            scheduler: Scheduler(engine.loops[0]), logger: logger)
        activity.start()
        return activity
    }

    /// Watches the system's reachability, and logs each change.
    private static func startReachability(_ engine: Engine, _ logger: Logger) -> Reachability {
        let reachability = Reachability(.system, engine: engine)
        let wasMissing = Locked(false)
        reachability.onChange { status in
            // Operators are only told that there is a network if there was none before.
            let isMissing = status == .notReachable
            let isNews = wasMissing.withLock { was in
                defer { was = isMissing }
                return was
            }
            logger.log(
                isMissing ? .warning : isNews ? .notice : .debug, .reachabilityChanged(to: status.words))
        }
        do throws(SessionError) {
            try reachability.start()
        } catch {
            // Reachability explains failures, but is not needed to serve.
            logger.warning("\(error.message)", metadata: [LogKeys.reason: "\(error.cause ?? "")"])
        }
        return reachability
    }
}

extension Scheduler {
    /// The timers of a loop.
    init(_ loop: Loop) {
        self.init { delay, work in
            let task = loop.scheduleTask(in: .nanoseconds(delay.wholeNanoseconds), work)
            return { task.cancel() }
        }
    }
}

extension ReachabilityStatus {
    /// The status for operators. AFNetworking's text says WiFi for every link that is not mobile, even for Ethernet.
    fileprivate var words: String {
        switch self {
        case .unknown: "unknown"
        case .notReachable: "not reachable"
        case .reachableViaWWAN: "reachable over a mobile link"
        case .reachableViaWiFi: "reachable"
        }
    }
}

extension Logger {
    /// Warns of pins that never match, in the words of `pintle pins lint`.
    func warn(ofShadowedPinsIn policy: Policy, _ origin: ConfigurationOrigin) {
        for finding in PinLint.shadowedPins(policy) {
            self.warning("\(finding.line(file: origin.path ?? "embedded default"))")
        }
    }
}
