// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintleSystem
internal import PintleTrust

/// The connections and transfers of one session on one loop. ``PoolState`` decides about connections; the pool has the loop, and
/// does as it says.
///
/// Never shared between sessions: a connection is used only under the security policy under which it was made (invariant 1 of
/// the design).
final class TransferPool: @unchecked Sendable {
    // Why @unchecked holds: after `init` only the loop's thread uses the pool; `start` and `closeAll` assert it.

    typealias State = PoolState<ConnectionKey, Transfer, PooledConnection, ConnectionOwner>

    let loop: Loop
    let configuration: SessionConfiguration
    let evaluator: TrustEvaluator
    let handshake: (any HandshakeDelegate)?
    let dialler: CurlDialler
    /// The budget for bytes that origins have sent and no reader has taken; nil if they are not counted.
    let memory: MemoryBudget?
    /// The proxy of the session's configuration.
    private let proxy: ProxyLink?
    private(set) var state: State
    /// Running transfers, each at its ``Transfer/place``.
    private var running: [Transfer] = []
    /// The number of connections that are being made.
    var attempts = 0
    /// Finished transfers, for reuse by later requests.
    private var spare: [Transfer] = []
    private var expiry: LoopTimer?
    private var idleClock = IdleClock()
    private var sessions: [Authority: (session: TLSSession, verdict: Verdict?)] = [:]
    /// The last verdict on each stored host, and the time at which it was noted.
    private(set) var verdicts: [Authority: DatedVerdict] = [:]
    /// Hosts that have asked for HTTP/1.1 in place of HTTP/2.
    private var http1Hosts: Set<Authority> = []
    private var isClosed = false
    private var idleHolder: DescriptorReserve.Registration?
    /// The connections of WebSockets, which other transfers cannot use.
    private var links: [ObjectIdentifier: WebSocketLink] = [:]

    private static let mostSpare = 256
    /// The most hosts whose verdict, TLS session or wish for HTTP/1.1 is remembered.
    private static let rememberedHosts = 4096
    /// The idle time after which a connection may be closed for others. A client that sends its next request at once needs
    /// less.
    private static let moment = TimeAmount.milliseconds(100)

    init(
        loop: Loop, configuration: SessionConfiguration, evaluator: TrustEvaluator, handshake: (any HandshakeDelegate)?,
        judge: (any AddressJudge)?, proxy: ProxyLink?, names: NameLookups, memory: MemoryBudget?
    ) {
        self.loop = loop
        self.memory = memory
        self.configuration = configuration
        self.evaluator = evaluator
        self.handshake = handshake
        self.proxy = proxy
        self.state = State(
            State.Limits(
                perHost: configuration.connectionsPerHost, idle: configuration.idleConnections,
                idleTime: TimeAmount(limit: configuration.idleTimeout)))
        self.dialler = CurlDialler(loop: loop, configuration: configuration, judge: judge, names: names)
        // Why unowned holds: `closeAll` disarms the timer before the pool is released.
        self.expiry = LoopTimer { [unowned self] in self.closeExpired() }
        self.dialler.freeDescriptor = { [unowned self] in self.closeOldest() }
        self.idleHolder = DescriptorReserve.register { [weak self] in
            if let self { self.loop.execute { self.closeIdle() } }
        }
    }

    // MARK: Transfers

    /// The number of running transfers.
    var runningCount: Int { self.running.count }

    /// Starts a transfer. The delegate is held until it hears of the end.
    func start(_ request: consuming TransferRequest, delegate: any TransferDelegate) -> Transfer {
        self.loop.assertInEventLoop()
        let transfer = self.spare.popLast() ?? Transfer(pool: self)
        transfer.place = self.running.count
        self.running.append(transfer)
        // The session may have been closed while this call was on its way to the loop.
        if self.isClosed {
            transfer.beginToFail(consume request, delegate: delegate)
            return transfer
        }
        let proxy = self.proxy(for: request)
        transfer.begin(consume request, by: proxy, delegate: delegate)
        return transfer
    }

    /// Removes a transfer that is over.
    func retire(_ transfer: Transfer) {
        guard let place = transfer.place, let last = self.running.popLast() else {
            preconditionFailure("BUG: a transfer that is not under way is retired, please report it")
        }
        transfer.place = nil
        if last !== transfer {
            self.running[place] = last
            last.place = place
        }
        if self.spare.count < Self.mostSpare, !self.isClosed { self.spare.append(transfer) }
    }

    /// Returns the proxy for a request.
    private func proxy(for request: TransferRequest) -> ProxyLink? {
        switch request.way {
        case .configured: self.proxy.flatMap { $0.server.serves(request.authority) ? $0 : nil }
        case .direct: nil
        case .by(let proxy): proxy
        }
    }

    // MARK: Hosts

    /// Returns the host with the connections that may carry the request.
    private func host(for asked: AskedRequest, by proxy: ProxyLink?) -> HostNumber {
        let key = asked.request.connectionKey(by: proxy)
        if let host = self.state.host(of: key) { return host }
        let version: OriginVersion =
            switch self.configuration.httpVersion {
            case .http1: .known(.http1)
            // A proxy that forwards is addressed in HTTP/1.1 nevertheless.
            case .http2: asked.request.forwarder(proxy) == nil ? .priorKnowledge : .known(.http1)
            case .automatic: key.scheme == .http ? .known(.http1) : .unknown
            }
        return self.state.addHost(key, version)
    }

    /// A transfer comes to the host of its request.
    func enter(_ transfer: Transfer, by proxy: ProxyLink?) -> (HostNumber, State.Admission) {
        let asked = transfer.asked
        let host = self.host(for: asked, by: proxy)
        guard asked.request.upgrade == nil else {
            // The host's limit does not count connections that may be switched.
            self.state.enterUncounted(at: host)
            return (host, .uncounted)
        }
        return (host, self.state.enter(transfer, at: host, of: asked.request.client))
    }

    /// A transfer leaves its host. Its place, if it has one, goes to others that wait.
    func leave(_ host: HostNumber, _ transfer: Transfer, hasPlace: Bool) {
        if hasPlace {
            self.state.giveBackPlace(at: host, of: transfer.asked.request.client)
            self.admitWaiting(at: host)
        } else {
            self.state.withdraw(transfer, at: host)
        }
        self.state.leave(host)
    }

    private func admitWaiting(at host: HostNumber) {
        while let transfer = self.state.admitNext(at: host) { transfer.gotPlace() }
    }

    // MARK: Connections

    /// Finds a way to a connection for a transfer.
    func connect(_ transfer: Transfer, at host: HostNumber, over choice: State.Choice) -> State.Step {
        // After a sleep of the machine the timer is late.
        self.closeOutdated()
        let owner = transfer.asked.request.owner
        return self.state.connect(transfer, at: host, for: owner?.isBound == true ? owner : nil, over: choice)
    }

    /// Lets the host's connections of HTTP/2 that cannot carry another transfer leave. Also those without room: requests of which
    /// nothing was sent must not be sent to a peer that is no longer trusted.
    func retireUnfit(at host: HostNumber) {
        for connection in self.state.shared(at: host) { _ = connection.retireIfUnfit() }
    }

    /// The connection that others wait for has come, or will not come.
    ///
    /// - Returns: those that waited for it.
    func endAttempt(at host: HostNumber) -> [Transfer] { self.state.endAttempt(at: host) }

    func stopJoining(_ transfer: Transfer, at host: HostNumber) { self.state.stopJoining(transfer, at: host) }

    /// Returns the version on a connection that was made for a host.
    func version(of made: EstablishedConnection, at host: HostNumber) -> ConnectionVersion {
        self.state.version(negotiated: made.speaksHTTP2 ? .http2 : .http1, at: host)
    }

    /// Notes the version on a new connection, by which others that wait may continue.
    func note(_ version: ConnectionVersion, at host: HostNumber, by proxy: ProxyLink?) {
        // Not remembered for a proxy, which the pool would hold after its last use.
        self.state.note(version, at: host, isRemembered: proxy == nil)
        self.admitWaiting(at: host)
    }

    /// True if a host has asked for HTTP/1.1 in place of HTTP/2.
    func requiresHTTP1(_ authority: Authority) -> Bool {
        !self.http1Hosts.isEmpty && self.http1Hosts.contains(authority)
    }

    /// A host asks for HTTP/1.1 in place of HTTP/2 (RFC 9113 §7), as some do for a login or a certificate. From now on its requests
    /// get connections of HTTP/1.1.
    func requireHTTP1(of authority: Authority, at host: HostNumber) {
        if self.http1Hosts.count >= Self.rememberedHosts { self.http1Hosts.removeAll() }
        self.http1Hosts.insert(authority)
        for case .http2(let connection) in self.state.shared(at: host) { connection.leave() }
    }

    func opened(_ connection: PooledConnection, at host: HostNumber) -> ConnectionNumber {
        switch connection {
        case .http1: self.state.opened(connection, at: host, .http1)
        case .http2: self.state.opened(connection, at: host, .http2)
        }
    }

    func closed(_ number: ConnectionNumber) { self.state.closed(number) }

    /// Keeps a connection of HTTP/1.1 that is idle from now on. It may be closed at once.
    func keep(_ number: ConnectionNumber, for owner: ConnectionOwner?) {
        self.state.keep(number, for: owner, at: self.idleTime())
        self.closeSurplus()
    }

    func beganStream(on number: ConnectionNumber) { self.state.beganStream(on: number) }

    /// Notes the end of a stream. The connection may be closed at once, as it is idle.
    ///
    /// - Returns: true if the connection must close itself.
    func endedStream(on number: ConnectionNumber) -> Bool {
        switch self.state.endedStream(on: number, at: self.idleTime()) {
        case .carriesOthers: break
        case .kept: self.closeSurplus()
        case .close: return true
        }
        return false
    }

    func allow(streams most: Int, on number: ConnectionNumber) { self.state.allow(streams: most, on: number) }

    /// The connection takes no more streams.
    ///
    /// - Returns: true if it must close itself.
    func leaves(_ number: ConnectionNumber) -> Bool { self.state.leaves(number) }

    private func closeSurplus() {
        while let connection = self.state.closeSurplus() { connection.close() }
        // The timer waits for an older one, or none may be kept.
        if expiry?.isArmed == false { self.awaitExpiry() }
    }

    private func closeExpired() {
        self.closeOutdated()
        self.awaitExpiry()
    }

    /// Closes connections that were kept for long enough.
    private func closeOutdated() {
        let now = self.idleTime()
        while let connection = self.state.closeExpired(at: now) { connection.close() }
    }

    private func awaitExpiry() {
        // None may be kept.
        guard let expiry, let end = self.state.nextExpiry else { return }
        self.loop.arm(expiry, at: self.idleClock.loopTime(at: end))
    }

    /// The time by which idle connections age.
    func idleTime() -> NIODeadline { self.idleClock.time(at: self.loop.turnTime) }

    /// Closes the connection that has been idle for the longest time.
    ///
    /// - Returns: false if there is none.
    private func closeOldest() -> Bool {
        guard let oldest = self.state.closeOldest() else { return false }
        oldest.close()
        return true
    }

    /// Closes connections that were idle for a moment, so that others get the descriptors.
    private func closeIdle() {
        let end = self.idleTime() - Self.moment
        while let connection = self.state.closeIdle(since: end) { connection.close() }
    }

    /// The numbers of connections by their use.
    var uses: ConnectionUses {
        var uses = self.state.uses
        uses.connecting = self.attempts
        return uses
    }

    // MARK: Stored verdicts and TLS sessions

    func note(_ verdict: Verdict, on host: Authority) {
        // Dropping them loses reports of a policy that only reports; storing every host for ever would take too much memory.
        if self.verdicts.count >= Self.rememberedHosts { self.verdicts.removeAll() }
        self.verdicts[host] = DatedVerdict(verdict: verdict, moment: .now)
    }

    /// Returns a TLS session to resume, with the verdict of its first handshake.
    func session(for host: Authority) -> (session: TLSSession, verdict: Verdict?)? { self.sessions[host] }

    func remember(_ session: TLSSession, _ verdict: Verdict?, for host: Authority) {
        if self.sessions.count >= Self.rememberedHosts { self.sessions.removeAll() }
        self.sessions[host] = (session, verdict)
    }

    // MARK: The end

    /// Ends everything: running transfers fail as cancelled, and connections are closed. Idempotent.
    func closeAll() {
        self.loop.assertInEventLoop()
        guard !self.isClosed else { return }
        self.isClosed = true
        self.endTransfers(isFinal: true)
        self.dialler.close()
    }

    /// Ends everything and starts afresh, unless the pool is closed: no connection, TLS session, resolved name or verdict is left.
    func reset() {
        self.loop.assertInEventLoop()
        guard !self.isClosed else { return }
        self.endTransfers(isFinal: false)
        self.dialler.reset()
    }

    /// Registers a WebSocket's connection, to be closed with the others; closes it at once if they are closed already.
    func keep(_ link: WebSocketLink) {
        guard !self.isClosed else { return link.abort(Self.closed) }
        self.links[ObjectIdentifier(link)] = link
    }

    func forget(_ link: WebSocketLink) { self.links[ObjectIdentifier(link)] = nil }

    private static let closed = SessionError(.cancelled, "the session was closed")

    /// The connections of HTTP/2 that take more streams.
    var shared: [HTTP2Connection] {
        self.state.shared.compactMap { if case .http2(let connection) = $0 { connection } else { nil } }
    }

    private func endTransfers(isFinal: Bool) {
        let links = self.links.values
        for link in links { link.abort(Self.closed) }
        // First those that wait for a stream of HTTP/2: when other streams end, they would be sent.
        let waiting = self.shared.flatMap(\.waiting)
        let known = Set(waiting.map { ObjectIdentifier($0) })
        for transfer in waiting + self.running.filter({ !known.contains(ObjectIdentifier($0)) }) {
            transfer.fail(.cancelled, Self.closed.message)
        }
        self.spare.removeAll()
        for connection in self.state.end(isFinal: isFinal) { connection.close() }
        if let expiry { self.loop.disarm(expiry) }
        self.sessions.removeAll()
        self.verdicts.removeAll()
        self.http1Hosts.removeAll()
    }
}
