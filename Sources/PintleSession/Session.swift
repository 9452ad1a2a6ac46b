// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
package import PintleActivity
package import PintleLoop
package import PintleMessage
package import PintleSystem
public import PintleTrust

/// Connections to origins under one security policy, and the tasks that use them.
///
/// As in AFNetworking, a session has exactly one policy. It shares no connections, TLS sessions or verdicts with
/// another session, so nothing that was verified under one policy is used under another.
///
/// Invalidate a session that is no longer needed; one that is simply released ends its tasks and connections at once.
public final class Session: Sendable {
    /// Settings of connections, and those that all requests have in common.
    public let configuration: SessionConfiguration
    /// The conditions that servers' certificates must satisfy.
    public let policy: SecurityPolicy
    /// True if a valid chain that matches no pin is accepted and reported.
    public let reportsOnly: Bool
    /// Callbacks with which the program decides, or is notified.
    public let hooks: SessionHooks
    /// Carries out ``policy``.
    package let evaluator: TrustEvaluator
    let registry: TaskRegistry
    package let events = EventBroadcast<SessionEvent>(.bufferingNewest(4096))
    let engine: Engine
    private let pools: [TransferPool]
    /// The jar that ``configuration`` names, or the session's own; nil if the session keeps no cookies.
    public let cookieJar: CookieJar?

    /// Makes a session on every loop of `engine`.
    ///
    /// - Parameters:
    ///   - reportsOnly: true if a valid chain that matches no pin is accepted and reported.
    ///   - judge: asked for each address before it is dialled; nil allows all.
    /// - Throws: `TrustError` when the policy's roots, or those of the proxy's policy, cannot be loaded.
    public convenience init(
        engine: Engine, configuration: SessionConfiguration = SessionConfiguration(),
        policy: SecurityPolicy = .default, reportsOnly: Bool = false, hooks: SessionHooks = SessionHooks(),
        judge: (any AddressJudge)? = nil
    ) throws(TrustError) {
        try self.init(
            engine: engine, configuration: configuration, policy: policy, reportsOnly: reportsOnly, hooks: hooks,
            judge: judge, memory: nil)
    }

    /// Makes a session that counts in `memory` the bytes that origins have sent and no reader has taken yet.
    package init(
        engine: Engine, configuration: SessionConfiguration, policy: SecurityPolicy, reportsOnly: Bool = false,
        hooks: SessionHooks = SessionHooks(), judge: (any AddressJudge)?, memory: MemoryBudget?
    ) throws(TrustError) {
        let evaluator = try TrustEvaluator(policy: policy, reportsOnly: reportsOnly)
        self.engine = engine
        self.registry = TaskRegistry(loops: engine.loops.count)
        self.evaluator = evaluator
        self.configuration = configuration
        self.policy = policy
        self.reportsOnly = reportsOnly
        self.hooks = hooks
        var proxy: ProxyLink?
        if let server = configuration.proxy {
            proxy = ProxyLink(server, evaluator: try TrustEvaluator(policy: server.policy))
        }
        self.cookieJar = if case .jar(let jar) = configuration.cookies { jar ?? CookieJar() } else { nil }
        let handshake = HandshakeQuestions(hooks: hooks, identity: configuration.clientIdentity)
        self.pools = engine.loops.map { [proxy] in
            TransferPool(
                loop: $0, configuration: configuration, evaluator: evaluator, handshake: handshake, judge: judge,
                proxy: proxy, names: engine.names, memory: memory)
        }
        handshake?.belong(to: self)
    }

    /// Makes a session on the engine that the program's sessions share.
    ///
    /// - Throws: ``SessionError`` with `invalidPolicy` if the policy's roots, or those of the proxy's policy, cannot be
    ///   loaded; with `internalError` if the engine cannot be started.
    public convenience init(
        configuration: SessionConfiguration = SessionConfiguration(), policy: SecurityPolicy = .default,
        reportsOnly: Bool = false, hooks: SessionHooks = SessionHooks()
    ) throws(SessionError) {
        let engine = try Engine.shared.get()
        do throws(TrustError) {
            try self.init(
                engine: engine, configuration: configuration, policy: policy, reportsOnly: reportsOnly, hooks: hooks)
        } catch {
            throw SessionError(.invalidPolicy, "the security policy cannot be carried out: \(error)", underlying: error)
        }
    }

    deinit {
        // A running task holds its session, so the tasks that are left were never resumed.
        for task in self.registry.all {
            task.finish(.failure(SessionError(.invalidated, "the session of the task is gone")))
        }
        for pool in self.pools { pool.loop.execute { pool.closeAll() } }
        self.events.finish()
    }

    // MARK: Transfers

    /// Starts a transfer on `loop`, one of the engine's, from that loop's thread.
    ///
    /// The delegate is held until it has heard of the end. All its calls come on the same thread.
    package func start(
        _ request: consuming TransferRequest, on loop: Loop, delegate: any TransferDelegate
    ) -> Transfer {
        let pool = self.pools[loop.index]
        precondition(pool.loop === loop, "BUG: the loop is not one of the session's engine")
        return pool.start(consume request, delegate: delegate)
    }

    /// Cancels all transfers and closes all connections, and blocks the thread until that is done. Must not be called
    /// from a loop, nor from a task.
    package func close() {
        for pool in self.pools {
            try? pool.loop.submit { pool.closeAll() }.wait()
        }
    }

    /// Cancels all transfers and closes all connections. Returns when that is done.
    package func closed() async {
        // A loop that has ended has released its connections, which closes them.
        for pool in self.pools { try? await pool.loop.submit { pool.closeAll() }.get() }
    }

    /// Returns the number of running transfers; for shutting down and for tests. Must not be called from a loop.
    package func runningTransfers() -> Int {
        self.pools.reduce(0) { sum, pool in sum + ((try? pool.loop.submit { pool.runningCount }.wait()) ?? 0) }
    }

    /// Returns the numbers of open connections by their use.
    package func connectionUses() async -> ConnectionUses {
        var sum = ConnectionUses()
        for pool in self.pools { sum += (try? await pool.loop.submit { pool.uses }.get()) ?? ConnectionUses() }
        return sum
    }

    /// Returns the last verdict on each host that connections were made to; at most a few thousand hosts.
    package func verdicts() async -> [Authority: DatedVerdict] {
        var all: [Authority: DatedVerdict] = [:]
        for pool in self.pools {
            // A loop that has ended knows no verdicts.
            let known = (try? await pool.loop.submit { pool.verdicts }.get()) ?? [:]
            all.merge(known) { $1 }
        }
        return all
    }

    // MARK: Tasks

    /// Returns a stream of the session's events from now on. Each call makes a stream of its own, which keeps the
    /// newest 4,096 events for a slow reader.
    public func eventStream() -> AsyncStream<SessionEvent> { self.events.subscribe() }

    /// The tasks that have not ended: data tasks, then uploads, downloads and WebSockets, each in the order of their
    /// making.
    public var tasks: [SessionTask] {
        self.dataTasks + self.uploadTasks + self.downloadTasks + self.webSocketTasks
    }
    /// The data tasks that have not ended.
    public var dataTasks: [SessionTask] { self.registry.tasks(of: .data) }
    /// The uploads that have not ended.
    public var uploadTasks: [SessionTask] { self.registry.tasks(of: .upload) }
    /// The downloads that have not ended.
    public var downloadTasks: [SessionTask] { self.registry.tasks(of: .download) }

    /// The tasks of WebSockets that are not closed.
    public var webSocketTasks: [SessionTask] { self.registry.tasks(of: .webSocket) }

    /// Registers the WebSocket's connection, to be closed with the session's others on `loop`. Called on the loop's
    /// thread.
    func keep(_ link: WebSocketLink, on loop: Loop) { self.pools[loop.index].keep(link) }

    /// Drops the connection of a WebSocket, which is closed or which another owner closes. Called on the loop's thread.
    func forget(_ link: WebSocketLink, on loop: Loop) { self.pools[loop.index].forget(link) }

    /// Makes a suspended task.
    func makeTask(
        _ kind: SessionTask.Kind, _ request: SessionRequest, source: UploadSource? = nil, output: TaskRun.Output,
        interception: InterceptorChain? = nil
    ) throws(SessionError) -> SessionTask {
        let task = try self.registry.add { id, loop in
            let run = TaskRun(
                loop: self.engine.loops[loop], owner: self, source: source, output: output,
                interception: interception)
            return SessionTask(id: id, kind: kind, request: request, events: self.events, run: run)
        }
        for step in interception?.steps ?? [] { step.created?(task) }
        return task
    }

    /// Makes a suspended task whose response goes to `handoff`: an upload if there is a source, else a data task.
    package func makeTask(
        _ request: SessionRequest, from source: UploadSource?, handingTo handoff: ResponseHandoff,
        interception: InterceptorChain?
    ) throws(SessionError) -> SessionTask {
        try self.makeTask(
            source == nil ? .data : .upload, request, source: source, output: .stream(handoff),
            interception: interception)
    }

    // MARK: The end

    /// Takes no more tasks, lets the present ones finish, and then closes every connection.
    ///
    /// Returns when all is done. A task that is never resumed delays this for ever.
    public func finishTasksAndInvalidate() async { await self.invalidate(cancellingTasks: false, resetting: false) }

    /// Takes no more tasks, cancels the present ones, and closes every connection. Returns when all is done.
    public func invalidateAndCancel() async { await self.invalidate(cancellingTasks: true, resetting: false) }

    /// Ends the session's tasks and drops its state: connections, TLS sessions, verdicts, names, and the cookies of its
    /// own jar. A jar or cache that the configuration names keeps its content: another session may share it, and the
    /// program can empty it. The session takes no tasks while this lasts; afterwards it takes them as if it were new.
    public func reset(cancellingTasks: Bool = true) async {
        await self.invalidate(cancellingTasks: cancellingTasks, resetting: true)
    }

    private func invalidate(cancellingTasks: Bool, resetting: Bool) async {
        self.finish(self.registry.close(resetting: resetting))
        if cancellingTasks {
            for task in self.registry.all { task.cancel() }
        }
        await self.registry.waitUntilSettled()
    }

    /// Called when a task is over and every hook has heard of its end.
    func taskEnded() { self.finish(self.registry.taskEnded()) }

    private func finish(_ ending: TaskRegistry.Ending) {
        switch ending {
        case .none: break
        case .reset:
            Task {
                for pool in self.pools { try? await pool.loop.submit { pool.reset() }.get() }
                if self.configuration.cookies == .jar { self.cookieJar?.deleteAll() }
                self.finish(self.registry.settle(isOpen: true))
            }
        case .invalidate:
            Task {
                for pool in self.pools { try? await pool.loop.submit { pool.closeAll() }.get() }
                self.hooks.becameInvalid?(self)
                self.events.post(.sessionInvalidated)
                self.events.finish()
                self.finish(self.registry.settle(isOpen: false))
            }
        }
    }
}
