// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleSystem

/// What the connections of one loop share. Used on the loop's thread only.
final class Lane: @unchecked Sendable {
    // Why @unchecked holds: `loop` is constant, and everything else is touched on its thread only.
    let loop: Loop
    /// What is in force for what begins now; exchanges keep the one that they began with.
    private(set) var active: ActiveConfiguration
    let census: ConnectionCensus
    /// What is held for others, on all loops.
    let memory: MemoryBudget
    /// Does on other threads what would hold this one up.
    let pool: WorkPool
    /// Asks origins.
    let origins: any OriginOpener
    private(set) var connections: [ObjectIdentifier: any ServedConnection] = [:]
    private(set) var tunnels: [ObjectIdentifier: Tunnel] = [:]
    private(set) var isDraining = false
    /// Exchanges that wait for work on another thread. Only their number leaves this one.
    private var waiting: [UInt64: Exchange] = [:]
    /// Has the destinations of tunnels prove themselves.
    private(set) lazy var verifier = TunnelVerifier(lane: self)
    private var whenEmpty: EventLoopPromise<Void>?
    private var output = ByteBuffer()
    private let answerTurns: AnswerTurns
    /// Those that are known under the configuration in force.
    var recurrent = RecurrentRequests()
    private var sequence: UInt64
    private let instance: UInt64
    /// Fires each second while something is under way.
    private var progress: LoopTimer?
    private static let progressInterval = TimeAmount.seconds(1)
    private var idleHolder: DescriptorReserve.Registration?
    /// A client that sends its next request as soon as it has an answer does so in less.
    private static let moment = TimeAmount.milliseconds(100)

    init(
        loop: Loop, active: ActiveConfiguration, census: ConnectionCensus, pool: WorkPool,
        origins: (any OriginOpener)? = nil
    ) {
        (self.loop, self.answerTurns) = (loop, AnswerTurns(loop: loop))
        self.origins = origins ?? SessionOrigins(loop: loop)
        self.active = active
        self.census = census
        self.memory = active.counters.memory
        self.pool = pool
        self.instance = UInt64.random(in: 0...0xFFFF_FFFF)
        self.sequence = 0
        self.progress = LoopTimer { [weak self] in self?.tellProgress() }
        self.idleHolder = DescriptorReserve.register { [weak self] in
            guard let self else { return }
            self.loop.execute { self.closeIdle() }
        }
    }

    /// Puts another configuration in force.
    func replace(active: ActiveConfiguration) {
        self.active = active
        self.recurrent = RecurrentRequests()
    }

    /// An exchange's id: unlike that of any other exchange, here or in another process.
    func nextID() -> ExchangeID {
        self.sequence += 1
        return ExchangeID(instance: self.instance, sequence: self.sequence)
    }

    /// Opens the stream to an origin, or to what is kept of it, which answers also where the origin is out of reach.
    func open(
        _ request: consuming TransferRequest, in session: Session, for exchange: Exchange, _ question: CacheQuestion?
    ) -> any OriginStream {
        guard let question else { return self.connect(consume request, in: session, for: exchange) }
        let (loop, origins, precheck) = (self.loop, self.origins, self.active.precheck)
        return CachedOrigin(request, question, self.answerTurns, loop: loop, for: exchange) { request, delegate in
            Self.open(request, in: session, for: delegate, on: loop, origins, precheck)
        }
    }

    /// Opens the stream to an origin itself.
    func connect(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate
    ) -> any OriginStream {
        Self.open(
            consume request, in: session, for: delegate, on: self.loop, self.origins, self.active.precheck)
    }

    private static func open(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate, on loop: Loop,
        _ origins: any OriginOpener, _ precheck: NetworkPrecheck
    ) -> any OriginStream {
        if let error = precheck.refusal(of: &request) { return UnreachableOrigin(error, on: loop, for: delegate) }
        return origins.open(consume request, in: session, for: delegate)
    }

    // MARK: Work on other threads

    /// Keeps an exchange until its work is done.
    func wait(for exchange: Exchange) -> UInt64 {
        self.waiting[exchange.sequence] = exchange
        return exchange.sequence
    }

    /// The exchange that waited.
    func resume(_ ticket: UInt64) -> Exchange? { self.waiting.removeValue(forKey: ticket) }

    /// Has a client say who it is (`clients.basic_auth`), and tells the exchange: now, or in a later turn.
    func check(_ fields: Fields, of client: Client?, by passwords: PasswordCheck, for exchange: Exchange) {
        let user = fields[.proxyAuthorization].flatMap(BasicCredentials.init)?.user
        let ticket = self.wait(for: exchange)
        let known = passwords.check(fields, of: client) { isRight in
            self.loop.execute {
                self.resume(ticket)?.admitted(
                    isRight ? .success(user) : .failure(passwords.refusal(hasTried: true)))
            }
        }
        if known == .pending { return }
        _ = self.resume(ticket)
        switch known {
        case .right: exchange.admitted(.success(user))
        case .busy:
            let reason = "as many passwords wait to be checked as may, for this client or for all together"
            exchange.admitted(.failure(Problem(.overloaded, reason)))
        case .wrong, .pending:
            let hasTried = fields.contains(.proxyAuthorization)
            exchange.admitted(.failure(passwords.refusal(hasTried: hasTried)))
        }
    }

    /// Has work done for an exchange by the pool.
    ///
    /// - Parameters:
    ///   - work: done on another thread, so it must not know the exchange.
    ///   - proceed: called on the loop, in a later turn.
    /// - Throws: where as many jobs wait as may.
    func work<Value: Sendable>(
        for exchange: Exchange, of client: Client?, within limits: WorkPool.Limits,
        _ work: @escaping @Sendable (WorkBudget) -> Value,
        then proceed: @escaping @Sendable (Exchange, Value, WorkBudget.Interruption?) -> Void
    ) throws(WorkPool.Refusal) -> WorkPool.Ticket {
        let ticket = self.wait(for: exchange)
        do throws(WorkPool.Refusal) {
            return try self.pool.submit(for: client, limits) { budget in
                let value = work(budget)
                let interruption = budget.interruption
                self.loop.execute {
                    guard let exchange = self.resume(ticket) else { return }
                    proceed(exchange, value, interruption)
                }
            }
        } catch {
            _ = self.resume(ticket)
            throw error
        }
    }

    // MARK: Progress

    /// Tells the counters each second what moves in exchanges and tunnels: hours of a stream do not appear all at once.
    func watchProgress() {
        guard let progress, !progress.isArmed else { return }
        self.loop.arm(progress, at: self.loop.turnTime + Self.progressInterval)
    }

    private func tellProgress() {
        var isBusy = !self.tunnels.isEmpty
        for tunnel in self.tunnels.values { tunnel.tellProgress() }
        for connection in self.connections.values where connection.tellProgress() { isBusy = true }
        if isBusy { self.watchProgress() }
    }

    // MARK: Buffers

    /// A buffer to write a response into; most responses are sent at once, and then the next one uses it again.
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

    func add(_ tunnel: Tunnel) {
        self.tunnels[ObjectIdentifier(tunnel)] = tunnel
        self.watchProgress()
    }

    func remove(_ tunnel: Tunnel) {
        self.tunnels[ObjectIdentifier(tunnel)] = nil
        self.tellIfEmpty()
    }

    /// Lets exchanges finish, closes what is idle, and keeps the promise when nothing is left.
    func drain(_ done: EventLoopPromise<Void>) {
        self.isDraining = true
        self.whenEmpty = done
        for connection in self.connections.values { connection.drain() }
        self.tellIfEmpty()
    }

    /// Closes the connections of clients that have asked nothing for a moment, so that others get the descriptors.
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
        guard self.connections.isEmpty, self.tunnels.isEmpty, let done = self.whenEmpty else { return }
        self.whenEmpty = nil
        done.succeed()
    }
}

/// A connection of a client, whatever is spoken on it.
protocol ServedConnection: AnyObject {
    /// Finishes what is under way and closes.
    func drain()

    /// Breaks everything off.
    func abort()

    /// Closes if the client has asked nothing since `end` or longer, and has its answers.
    func closeIfIdle(since end: NIODeadline)

    /// Tells the counters what has moved.
    ///
    /// - Returns: whether something is under way.
    func tellProgress() -> Bool
}

/// Names one exchange in problems and logs; spelled only where it is shown.
struct ExchangeID: CustomStringConvertible {
    let instance: UInt64
    let sequence: UInt64

    var description: String { String(self.instance, radix: 16) + "-" + String(self.sequence, radix: 16) }
}

extension MemoryBudget: PendingWriteAccount {
    package func waitingBytes(changedBy change: Int) { self.change(by: change) }
}

extension Lane {
    /// Logs a handshake of a client that has failed.
    func noteHandshakeFailure(of client: Client?, _ reason: String) {
        self.active.logger.info(
            LogKeys.handshakeFailed,
            metadata: [LogKeys.client: "\(client?.description ?? "")", LogKeys.reason: "\(reason)"])
    }
}
