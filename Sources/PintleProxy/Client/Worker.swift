// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
package import PintleActivity
internal import PintleLoop
package import PintleMessage
internal import PintlePolicy
internal import PintleSerialization
internal import PintleSession
internal import PintleSystem

/// State shared by the connections of one event loop. Used on the loop's thread only.
final class Worker: @unchecked Sendable {
    // Why @unchecked holds: `loop` is constant, and everything else is used on its thread only.
    let loop: Loop
    /// The present configuration, for new exchanges; an exchange keeps the configuration with which it began.
    private(set) var active: ActiveConfiguration
    let limiter: ConnectionLimiter
    /// The budget for memory held for clients, shared by all event loops.
    let memory: MemoryBudget
    /// Runs work on other threads that would block this one.
    let pool: WorkPool
    /// Finds the processes of clients.
    let processes: ProcessSearch
    /// Opens the streams to origins.
    let origins: any OriginOpener
    private(set) var connections: [ObjectIdentifier: any ServedConnection] = [:]
    private(set) var tunnels: [ObjectIdentifier: any ServedTunnel] = [:]
    private(set) var isDraining = false
    /// The continuations of exchanges that wait for work on another thread, by the exchange's number.
    private var waiting: [UInt64: () -> Void] = [:]
    /// Verifies the destinations of tunnels.
    private(set) lazy var verifier = TunnelVerifier(loop: self.loop)
    private var whenEmpty: EventLoopPromise<Void>?
    private var output = ByteBuffer()
    /// Room for the heads that exchanges keep until their ends.
    let headBlocks = HeadBlock.Pool()
    /// The rule that has decided about the client of the last exchange; mostly the next one has the same client.
    private let readerTurns: ReaderTurns
    /// The recurrent requests under the present configuration.
    var recurrent = RecurrentRequests()
    private var sequence: UInt64
    private let instance: UInt64
    /// Fires each second while exchanges or tunnels are active.
    private var progress: LoopTimer?
    private static let progressInterval = TimeAmount.seconds(1)
    private var idleHolder: DescriptorReserve.Registration?
    /// An active client sends its next request within this time after a response.
    private static let moment = TimeAmount.milliseconds(100)

    init(
        loop: Loop, active: ActiveConfiguration, limiter: ConnectionLimiter, pool: WorkPool,
        processes: ProcessSearch = ProcessSearch(), origins: (any OriginOpener)? = nil
    ) {
        (self.loop, self.readerTurns) = (loop, ReaderTurns(loop: loop))
        self.origins = origins ?? SessionOrigins(loop: loop)
        self.active = active
        self.limiter = limiter
        self.memory = active.counters.memory
        (self.pool, self.processes) = (pool, processes)
        // Always eight digits: ids line up in logs, and problems of one kind have one length.
        self.instance = UInt64.random(in: 0x1000_0000...0xFFFF_FFFF)
        self.sequence = 0
        self.progress = LoopTimer { [weak self] in self?.tellProgress() }
        self.idleHolder = DescriptorReserve.register { [weak self] in
            // The registration ends with this object, but another thread may be within it.
            guard let self else { return }
            self.loop.execute { self.closeIdle() }
        }
    }

    /// Puts another configuration into use.
    func replace(active: ActiveConfiguration) {
        self.active = active
        self.recurrent = RecurrentRequests()
    }

    /// A new id for an exchange, unique in this process and among processes.
    func nextID() -> ExchangeID {
        self.sequence += 1
        return ExchangeID(instance: self.instance, sequence: self.sequence)
    }

    /// Opens the stream to an origin, to the cache, which may answer even if the origin is unreachable, or to a simulation.
    func open(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate,
        by detour: Detour?
    ) -> any OriginStream {
        let question: CacheLookup
        switch detour {
        case nil: return self.connect(consume request, in: session, for: delegate)
        case .simulation(let simulation): return self.open(consume request, in: session, for: delegate, by: simulation)
        case .cache(let lookup): question = lookup
        }
        let (loop, origins, active) = (self.loop, self.origins, self.active)
        return CachedOrigin(request, question, self.readerTurns, loop: loop, for: delegate) { request, delegate in
            Self.open(request, in: session, for: delegate, on: loop, origins, active)
        }
    }

    /// Opens the stream to an origin, without the cache.
    func connect(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate
    ) -> any OriginStream {
        Self.open(consume request, in: session, for: delegate, on: self.loop, self.origins, self.active)
    }

    static func open(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate, on loop: Loop,
        _ origins: any OriginOpener, _ active: ActiveConfiguration
    ) -> any OriginStream {
        if let error = active.precheck.refusal(of: &request) {
            return UnreachableOrigin(error, on: loop, for: delegate)
        }
        guard let cache = active.answers, let key = ChangingOrigin.key(of: request) else {
            return Self.reach(consume request, in: session, for: delegate, on: loop, origins)
        }
        return ChangingOrigin(consume request, key, cache, for: delegate, on: loop) { request, delegate in
            Self.reach(consume request, in: session, for: delegate, on: loop, origins)
        }
    }

    private static func reach(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate, on loop: Loop,
        _ origins: any OriginOpener
    ) -> any OriginStream {
        if let release = request.attachment as? CredentialRelease {
            return CredentialOrigin(consume request, release, for: delegate, on: loop) { request, delegate in
                origins.open(consume request, in: session, for: delegate)
            }
        }
        return origins.open(consume request, in: session, for: delegate)
    }

    // MARK: Work on other threads

    /// Keeps `proceed`, and what it refers to, until the work of an exchange on another thread is done. That thread gets
    /// nothing that holds the exchange, which must be released on its loop.
    ///
    /// - Returns: called with the result, on any thread; `proceed` follows in a later turn, unless ``stopWaiting(as:)`` comes first.
    func wait<Value: Sendable>(
        as sequence: UInt64, then proceed: @escaping (Value) -> Void
    ) -> @Sendable (Value) -> Void {
        let result = Locked<Value?>(nil)
        self.waiting[sequence] = { if let value = result.withLock({ $0 }) { proceed(value) } }
        return { value in
            result.withLock { $0 = value }
            // An exchange that has ended meanwhile needs no result.
            self.loop.execute { self.waiting.removeValue(forKey: sequence)?() }
        }
    }

    /// Releases an exchange that needs no result any more.
    func stopWaiting(as sequence: UInt64) { self.waiting[sequence] = nil }

    /// Checks the password of a client (`clients.basic_auth`).
    ///
    /// - Parameters:
    ///   - sequence: the number of the exchange.
    ///   - admit: called with the client's names, or with the reason for a refusal: now, or in a later turn.
    func check(
        _ fields: Fields, of client: Client?, _ passwords: PasswordCheck, as sequence: UInt64,
        then admit: @escaping (Result<ProxyIdentity, Problem>) -> Void
    ) {
        let name = fields[.proxyAuthorization].flatMap(BasicCredentials.init)?.user
        let identity = name.map(passwords.configuration.users.identity) ?? ProxyIdentity()
        let checked: @Sendable (Bool) -> Void = self.wait(as: sequence) { isRight in
            admit(isRight ? .success(identity) : .failure(passwords.configuration.refusal(hasTried: true)))
        }
        let known = passwords.check(fields, of: client, completion: checked)
        if known == .pending { return }
        self.stopWaiting(as: sequence)
        switch known {
        case .right: admit(.success(identity))
        case .busy:
            let reason = "as many passwords wait to be checked as may, for this client or for all together"
            admit(.failure(Problem(.overloaded, reason)))
        case .wrong, .pending:
            let hasTried = fields.contains(.proxyAuthorization)
            admit(.failure(passwords.configuration.refusal(hasTried: hasTried)))
        }
    }

    /// Runs work for an exchange on the pool.
    ///
    /// - Parameters:
    ///   - sequence: the number of the exchange.
    ///   - work: runs on another thread; so it must not use the exchange.
    ///   - proceed: called on the event loop, in a later turn.
    /// - Throws: an error if too many jobs wait.
    func work<Value: Sendable>(
        as sequence: UInt64, of client: Client?, within limits: WorkPool.Limits,
        _ work: @escaping @Sendable (WorkBudget) -> Value,
        then proceed: @escaping (Value, WorkBudget.Interruption?) -> Void
    ) throws(WorkPool.Refusal) -> WorkPool.Ticket {
        let done: @Sendable ((Value, WorkBudget.Interruption?)) -> Void = self.wait(as: sequence) { proceed($0, $1) }
        do throws(WorkPool.Refusal) {
            return try self.pool.submit(for: client, limits) { budget in
                let value = work(budget)
                done((value, budget.interruption))
            }
        } catch {
            self.stopWaiting(as: sequence)
            throw error
        }
    }

    // MARK: Progress

    /// Updates the counters of exchanges and tunnels each second, so that hours of a stream do not appear all at once.
    func watchProgress() {
        if let progress, !progress.isArmed { self.loop.arm(progress, at: self.loop.turnTime + Self.progressInterval) }
    }

    private func tellProgress() {
        var isBusy = !self.tunnels.isEmpty
        for tunnel in self.tunnels.values { tunnel.running.tellProgress() }
        for connection in self.connections.values {
            for exchange in connection.running {
                exchange.tellProgress()
                isBusy = true
            }
        }
        if isBusy { self.watchProgress() }
    }

    /// The exchanges and tunnels that have begun and not ended, as far as they have come.
    var running: [RunningExchange] {
        self.connections.values.flatMap { $0.running.map(\.soFar) } + self.tunnels.values.map(\.running.soFar)
    }

    // MARK: Buffers

    /// Returns a buffer for a response. Most responses are sent at once, and the buffer is then reused for the next one.
    func takeOutput() -> ByteBuffer {
        var buffer = ByteBuffer()
        swap(&buffer, &self.output)
        buffer.clear(minimumCapacity: 4096)
        return buffer
    }

    func giveBack(_ buffer: ByteBuffer) {
        if buffer.capacity <= 128 * 1024 { self.output = buffer }
    }

    // MARK: Connections

    func add(_ connection: any ServedConnection) { self.connections[ObjectIdentifier(connection)] = connection }

    func remove(_ connection: any ServedConnection) {
        self.connections[ObjectIdentifier(connection)] = nil
        self.tellIfEmpty()
    }

    func add(_ tunnel: any ServedTunnel) {
        self.tunnels[ObjectIdentifier(tunnel)] = tunnel
        self.watchProgress()
    }

    func remove(_ tunnel: any ServedTunnel) {
        self.tunnels[ObjectIdentifier(tunnel)] = nil
        self.tellIfEmpty()
    }

    /// Lets exchanges finish, closes idle connections, and fulfils the promise when no connection is left.
    func drain(_ done: EventLoopPromise<Void>) {
        self.isDraining = true
        self.whenEmpty = done
        for connection in self.connections.values { connection.drain() }
        self.tellIfEmpty()
    }

    /// Closes the connections of clients that have been idle for a moment, so that others get the descriptors.
    private func closeIdle() {
        let end = self.loop.turnTime - Self.moment
        for connection in Array(self.connections.values) { connection.closeIfIdle(since: end) }
    }

    /// Closes everything.
    func closeAll() {
        for connection in self.connections.values { connection.abort() }
        for tunnel in self.tunnels.values { tunnel.abort() }
    }

    private func tellIfEmpty() {
        if self.connections.isEmpty, self.tunnels.isEmpty { self.whenEmpty.take()?.succeed() }
    }
}

/// A connection of a client, whatever its protocol is.
protocol ServedConnection: AnyObject {
    /// Finishes the current exchanges, and closes.
    func drain()

    /// Breaks off everything.
    func abort()

    /// Closes if the client has sent no request since `end` or earlier, and has its responses.
    func closeIfIdle(since end: NIODeadline)

    /// Its exchanges that have begun and not ended.
    var running: [any ExchangeProgress] { get }
}

/// A tunnel of a client.
protocol ServedTunnel: AnyObject {
    /// Breaks off everything.
    func abort()

    var running: any ExchangeProgress { get }
}

/// An exchange, or a tunnel, while it lasts.
protocol ExchangeProgress {
    /// Updates the counters.
    func tellProgress()
    var soFar: RunningExchange { get }
}

/// An exchange, or a tunnel, that has not ended.
package struct RunningExchange: Sendable {
    /// The record so far; its duration is the time since the beginning.
    package let record: ExchangeRecord
    /// The header fields of the request and of the response, if they are kept.
    package let requestFields: Fields
    package let responseFields: Fields
}

extension MemoryBudget: PendingWriteAccount {
    package func waitingBytes(changedBy change: Int) { self.change(by: change) }
}

extension Worker {
    /// Logs a failed handshake of a client.
    func noteHandshakeFailure(of client: Client?, _ reason: String) {
        self.active.logger.log(
            .info, .handshakeFailed(client: client?.description, authority: nil, reason: reason))
    }
}
