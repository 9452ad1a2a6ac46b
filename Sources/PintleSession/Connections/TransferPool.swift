// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
internal import PintleSystem
internal import PintleTrust

/// The connections and transfers of one session on one loop.
///
/// Never shared between sessions: a connection is used only under the security policy under which it was made (invariant 1 of
/// the design).
final class TransferPool: @unchecked Sendable {
    // Why @unchecked holds: after `init` only the loop's thread uses the pool; `start` and `closeAll` assert it.

    let loop: Loop
    let configuration: SessionConfiguration
    let evaluator: TrustEvaluator
    let handshake: (any HandshakeDelegate)?
    let dialler: CurlDialler
    /// The budget for bytes that origins have sent and no reader has taken; nil if they are not counted.
    let memory: MemoryBudget?
    /// The proxy of the session's configuration.
    private let proxy: ProxyLink?
    private var hosts: [ConnectionKey: OriginHost] = [:]
    /// The host of the last request: comparing its key costs less than hashing a new one.
    private var latestHost: OriginHost?
    /// The origins that have chosen HTTP/2 (true) or not (false), also after their connections are closed.
    private var versions: [ConnectionKey: Bool] = [:]
    /// Running transfers, each at its ``Transfer/place``.
    private var running: [Transfer] = []
    /// Finished transfers, for reuse by later requests.
    private var spare: [Transfer] = []
    private var kept = KeptConnections()
    private var connectionCount = 0
    private var expiry: LoopTimer?
    private var sessions: [Authority: (session: TLSSession, verdict: Verdict?)] = [:]
    /// The last verdict on each stored host, and the time at which it was noted.
    private(set) var verdicts: [Authority: DatedVerdict] = [:]
    private var isClosed = false
    private var idleHolder: DescriptorReserve.Registration?
    /// The connections of WebSockets, which other transfers cannot use.
    private var links: [ObjectIdentifier: WebSocketLink] = [:]

    private static let mostSpare = 256
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

    /// Returns the host with the connections that may carry `request`.
    func host(for request: TransferRequest, by proxy: ProxyLink?) -> OriginHost {
        let key = request.connectionKey(by: proxy)
        if let latestHost, latestHost.key == key { return latestHost }
        if let host = self.hosts[key] {
            self.latestHost = host
            return host
        }
        let host = OriginHost(key, by: proxy, limit: self.configuration.connectionsPerHost)
        switch self.configuration.httpVersion {
        case .http1: host.speaksHTTP2 = false
        case .http2:
            // A proxy that forwards is addressed in HTTP/1.1 nevertheless.
            host.knowsHTTP2 = request.forwarder(proxy) == nil
            host.speaksHTTP2 = host.knowsHTTP2
        case .automatic: host.speaksHTTP2 = key.scheme == .http ? false : self.versions[key]
        }
        self.hosts[key] = host
        return host
    }

    /// Notes the version that an origin has chosen. Idempotent.
    func note(speaksHTTP2: Bool, at host: OriginHost) {
        guard host.speaksHTTP2 != speaksHTTP2 else { return }
        host.speaksHTTP2 = speaksHTTP2
        if self.versions.count >= Self.rememberedHosts { self.versions.removeAll() }
        // Not stored for a proxy: its identifier may be reused when the proxy is released.
        if host.key.proxy == nil { self.versions[host.key] = speaksHTTP2 }
        // Any number of transfers share a connection of HTTP/2.
        if speaksHTTP2 { self.give(host.places?.giveToAll() ?? []) }
    }

    /// Gives the place of a finished transfer to the next one that waits.
    func giveBackPlace(at host: OriginHost, of client: TransferClient?) {
        self.give(host.places?.giveBack(of: client) ?? [])
        self.forget(host)
    }

    private func give(_ transfers: [Transfer]) {
        // All get their places before one continues: its delegate may end another one.
        for transfer in transfers { transfer.gotPlace() }
        for transfer in transfers { transfer.goOnWithPlace() }
    }

    /// Drops a host, unless it has connections or transfers.
    func forget(_ host: OriginHost) {
        guard host.isUnused else { return }
        if self.latestHost === host { self.latestHost = nil }
        if self.hosts[host.key] === host { self.hosts[host.key] = nil }
    }

    // MARK: Connections

    func opened(at host: OriginHost) {
        self.connectionCount += 1
        host.connectionCount += 1
    }

    func closed(at host: OriginHost) {
        self.connectionCount -= 1
        host.connectionCount -= 1
        self.forget(host)
    }

    /// Keeps a connection that is idle from now on.
    func keep(_ connection: any KeptConnection) {
        self.kept.append(connection)
        // The new connection may be the oldest itself.
        while let oldest = self.kept.oldest, self.connectionCount > self.configuration.idleConnections {
            oldest.close()
        }
        // The timer waits for an older one, or none may be kept.
        guard let expiry, !expiry.isArmed, let oldest = self.kept.oldest else { return }
        self.loop.arm(expiry, at: oldest.keptSince + TimeAmount(limit: self.configuration.idleTimeout))
    }

    /// Removes a connection that is no longer idle.
    func unkeep(_ connection: any KeptConnection) { self.kept.remove(connection) }

    private func closeExpired() {
        while let oldest = self.kept.oldest {
            let end = oldest.keptSince + TimeAmount(limit: self.configuration.idleTimeout)
            guard end <= self.loop.turnTime else {
                if let expiry { self.loop.arm(expiry, at: end) }
                return
            }
            oldest.close()
        }
    }

    /// Closes the connection that has been idle for the longest time.
    ///
    /// - Returns: false if there is none.
    private func closeOldest() -> Bool {
        guard let oldest = self.kept.oldest else { return false }
        oldest.close()
        return true
    }

    /// Closes connections that were idle for a moment, so that others get the descriptors.
    private func closeIdle() {
        let end = self.loop.turnTime - Self.moment
        while let oldest = self.kept.oldest, oldest.keptSince <= end { oldest.close() }
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
        self.endTransfers()
        self.dialler.close()
    }

    /// Ends everything and starts afresh, unless the pool is closed: no connection, TLS session, resolved name or verdict is left.
    func reset() {
        self.loop.assertInEventLoop()
        guard !self.isClosed else { return }
        self.endTransfers()
        self.dialler.reset()
    }

    /// Registers a WebSocket's connection, to be closed with the others; closes it at once if they are closed already.
    func keep(_ link: WebSocketLink) {
        guard !self.isClosed else { return link.abort(Self.closed) }
        self.links[ObjectIdentifier(link)] = link
    }

    func forget(_ link: WebSocketLink) { self.links[ObjectIdentifier(link)] = nil }

    private static let closed = SessionError(.cancelled, "the session was closed")

    private func endTransfers() {
        let links = self.links.values
        for link in links { link.abort(Self.closed) }
        // First those that wait for a stream of HTTP/2: when other streams end, they would be sent.
        let waiting = self.hosts.values.flatMap(\.http2).flatMap(\.waiting)
        let known = Set(waiting.map { ObjectIdentifier($0) })
        for transfer in waiting + self.running.filter({ !known.contains(ObjectIdentifier($0)) }) {
            transfer.fail(.cancelled, Self.closed.message)
        }
        self.spare.removeAll()
        while let oldest = self.kept.oldest { oldest.close() }
        for host in self.hosts.values {
            for connection in host.http2 { connection.close() }
        }
        if let expiry { self.loop.disarm(expiry) }
        self.sessions.removeAll()
        self.verdicts.removeAll()
        self.versions.removeAll()
    }
}

/// The idle connections of a pool as a linked list, with the one that was kept first in front.
private struct KeptConnections {
    private(set) var oldest: (any KeptConnection)?
    private var newest: (any KeptConnection)?

    mutating func append(_ connection: any KeptConnection) {
        connection.older = self.newest
        self.newest?.newer = connection
        self.newest = connection
        if self.oldest == nil { self.oldest = connection }
    }

    /// Removes a connection; does nothing if it is not in the list.
    mutating func remove(_ connection: any KeptConnection) {
        if self.oldest === connection { self.oldest = connection.newer }
        if self.newest === connection { self.newest = connection.older }
        connection.older?.newer = connection.newer
        connection.newer?.older = connection.older
        (connection.older, connection.newer) = (nil, nil)
    }
}
