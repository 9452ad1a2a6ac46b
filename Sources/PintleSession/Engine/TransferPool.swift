// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleTrust

/// One multi handle: the connections and transfers of one session on one loop.
///
/// Never shared between sessions: libcurl's connection reuse does not compare what our verify callback decided, so a
/// pool belongs to one security policy (invariant 1 of the design).
final class TransferPool: @unchecked Sendable {
    // Why @unchecked holds: after `init` only the loop's thread uses the pool; `closeAll` asserts it.
    let loop: Loop
    let evaluator: TrustEvaluator
    let judge: (any AddressJudge)?
    /// The proxy of the session's configuration.
    let proxy: ProxyLink?
    let handshake: HandshakeQuestions?
    let cookieJar: CookieJar?
    let configuration: SessionConfiguration
    let names: NameLookups
    var sharing = Sharing()
    private var multi: UnsafeMutableRawPointer
    private var idle: [Transfer] = []
    private var running: [ObjectIdentifier: Transfer] = [:]
    /// What is known of a descriptor.
    struct Descriptor {
        /// What libcurl wants of it, and what epoll was told. They differ on purpose, see `setInterest`.
        var wanted: UInt8 = 0
        var registered: UInt8 = 0
        var isOurs = false
        /// The last transfer that used it.
        var user: ObjectIdentifier?
        /// Whether it is kept, and nothing is expected on it.
        var isIdle = false
        /// Its own port, once a request was sent over it.
        var port: UInt16?
    }
    /// By their numbers.
    var descriptors: [Descriptor] = []
    /// Sockets by their own ports: all that libcurl tells of the connection that it is going to use. Two connections may
    /// have one port.
    var sockets: [UInt16: [Int32]] = [:]
    private var timer: LoopTimer?
    private var turnEndRequested = false
    /// Inside libcurl, where its multi functions must not be called.
    private(set) var isInsideLibcurl = false
    private var postponed: [() -> Void] = []
    private var unstartable: [Transfer] = []
    /// Where transfers run that only make a connection.
    var connecting: TransferPool?
    let onlyConnects: Bool
    /// Who uses the connections that were made and that libcurl keeps.
    var streams: [ObjectIdentifier: WeakStream] = [:]
    private var isClosed = false
    /// The last verdict for each host, and when it was made: what a transfer on a reused connection relies on.
    private var verdicts: [Authority: DatedVerdict] = [:]
    /// When the verdicts on https proxies run out, by the own ports of the connections to them.
    private var parentEnds: [UInt16: UnixTime] = [:]

    /// How many easy handles are kept for later transfers.
    private static let idleHandles = 256
    static let rememberedHosts = 4096

    init(
        loop: Loop, configuration: SessionConfiguration, evaluator: TrustEvaluator, handshake: HandshakeQuestions?,
        cookieJar: CookieJar?, judge: (any AddressJudge)?, proxy: ProxyLink?, names: NameLookups,
        onlyConnects: Bool = false
    ) {
        self.onlyConnects = onlyConnects
        self.multi = Self.makeMulti()
        self.loop = loop
        self.configuration = configuration
        self.evaluator = evaluator
        self.handshake = handshake
        self.cookieJar = cookieJar
        self.judge = judge
        self.proxy = proxy
        self.names = names
        self.prepareMulti()
        // unowned: `closeAll` disarms the timer before the pool goes.
        self.timer = LoopTimer { [unowned self] in self.act(CURL_SOCKET_TIMEOUT, 0) }
    }

    private static func makeMulti() -> UnsafeMutableRawPointer {
        guard let multi = curl_multi_init() else { preconditionFailure("BUG: libcurl cannot make a multi handle") }
        return multi
    }

    private func prepareMulti() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = pintle_multi_set_socket_function(self.multi, socketCallback, context)
        _ = pintle_multi_set_timer_function(self.multi, timerCallback, context)
        _ = pintle_multi_set_long(self.multi, CURLMOPT_MAX_HOST_CONNECTIONS, self.libcurlsLimit)
        // To libcurl 0 is no limit; the handles forbid the reuse then.
        _ = pintle_multi_set_long(self.multi, CURLMOPT_MAXCONNECTS, max(1, self.configuration.idleConnections))
        _ = pintle_multi_set_long(self.multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    }

    /// How the sockets are marked.
    var serviceType: ServiceType { self.configuration.serviceType }
    /// The interface that connections leave by.
    var interface: String? { self.configuration.interface }

    /// The proxy by which a request goes.
    func proxy(for request: TransferRequest) -> ProxyLink? {
        switch request.way {
        case .configured: self.proxy.flatMap { $0.server.serves(request.authority) ? $0 : nil }
        case .direct: nil
        case .by(let proxy): proxy
        }
    }

    // MARK: Transfers

    /// What was decided about every host that is remembered.
    var knownVerdicts: [Authority: DatedVerdict] {
        self.connecting.map { self.verdicts.merging($0.verdicts) { $1 } } ?? self.verdicts
    }

    /// What was decided about a host when a connection to it was made.
    func verdict(on host: Authority) -> Verdict? { self.verdicts[host]?.verdict }

    func note(_ verdict: Verdict, on host: Authority) {
        // Forgetting costs what is said about a reused connection, in the log and by a policy that only reports;
        // remembering every host for ever would cost memory.
        if self.verdicts.count >= Self.rememberedHosts { self.verdicts.removeAll() }
        self.verdicts[host] = DatedVerdict(verdict: verdict, moment: .now)
    }

    /// Notes when the verdict on an https proxy runs out that a connection was just made to; nil for never.
    func noteParent(_ end: UnixTime?, port: UInt16) { self.parentEnds[port] = end }

    func isParentTrusted(port: UInt16, at moment: UnixTime) -> Bool {
        self.parentEnds[port].map { moment < $0 } ?? true
    }

    /// How many transfers are under way.
    var runningCount: Int { self.running.count + (self.connecting?.running.count ?? 0) }

    /// Starts a transfer. The delegate is held until it is told of the end.
    func start(_ request: TransferRequest, delegate: any TransferDelegate) -> Transfer {
        self.loop.assertInEventLoop()
        precondition(!self.isClosed, "BUG: a transfer is started on a closed session")
        if request.connectOnly, !self.onlyConnects {
            return self.poolForConnections().start(request, delegate: delegate)
        }
        let transfer = self.idle.popLast() ?? Transfer(pool: self, configuration: self.configuration)
        self.running[ObjectIdentifier(transfer)] = transfer
        transfer.begin(request, delegate: delegate)
        self.whenOutsideLibcurl { [self] in
            guard transfer.isRunning else { return }
            if transfer.hasFailed || self.takeConnection(for: transfer) { self.add(transfer) }
        }
        return transfer
    }

    /// Gives a transfer to libcurl.
    func add(_ transfer: Transfer) {
        transfer.isAdded =
            !transfer.hasFailed && curl_multi_add_handle(self.multi, transfer.easyPointer) == CURLM_OK
        guard !transfer.isAdded else { return }
        // Told later: the owner may not hold the transfer yet.
        self.unstartable.append(transfer)
        self.requestTurnEnd()
    }

    /// One that is under way.
    func transfer(_ identifier: ObjectIdentifier) -> Transfer? { self.running[identifier] }

    /// Takes a transfer out; its delegate hears nothing more.
    func cancel(_ transfer: Transfer) {
        self.whenOutsideLibcurl { [self] in
            guard self.running[ObjectIdentifier(transfer)] != nil else { return }
            self.takeOut(transfer)
        }
    }

    /// Ends a transfer with the error that it noted itself.
    func end(_ transfer: Transfer) {
        self.whenOutsideLibcurl { [self] in
            guard self.running[ObjectIdentifier(transfer)] != nil else { return }
            transfer.collectResult(CURLE_ABORTED_BY_CALLBACK)
            self.takeOut(transfer)
            transfer.tellEnd()
        }
    }

    /// Makes a call of libcurl that may call back, from outside of it.
    func callLibcurl(_ call: () -> CURLcode) {
        self.isInsideLibcurl = true
        _ = call()
        self.isInsideLibcurl = false
        self.settle()
    }

    /// Runs `work` now, or as soon as libcurl has returned.
    func whenOutsideLibcurl(_ work: @escaping () -> Void) {
        if self.isInsideLibcurl { self.postponed.append(work) } else { work() }
    }

    /// Ends everything: running transfers fail as cancelled, connections close.
    func closeAll() {
        self.loop.assertInEventLoop()
        guard !self.isClosed else { return }
        self.isClosed = true
        self.forgetAll()
        for stream in self.streams.values { stream.stream?.breakOff() }
        self.cleanUpIfOver()
    }

    /// A multi handle must outlive the connections that are still used through it.
    func cleanUpIfOver() {
        if self.isClosed, self.streams.isEmpty { curl_multi_cleanup(self.multi) }
    }

    /// Ends everything and begins anew: no connection, TLS session, resolved name, verdict or cookie is left.
    func reset() {
        self.loop.assertInEventLoop()
        guard !self.isClosed else { return }
        self.forgetAll()
        if self.cookieJar != nil { Transfer(pool: self, configuration: self.configuration).forgetCookies() }
        curl_multi_cleanup(self.multi)
        self.multi = Self.makeMulti()
        self.prepareMulti()
    }

    private func forgetAll() {
        for transfer in self.running.values { transfer.fail(.cancelled, "the session was closed") }
        if let timer { self.loop.disarm(timer) }
        self.connecting?.closeAll()
        self.connecting = nil
        self.idle.removeAll()
        self.verdicts.removeAll()
    }

    // MARK: Driving libcurl

    private func act(_ socket: curl_socket_t, _ events: Int32) {
        guard !self.isInsideLibcurl, !self.isClosed else { return }
        var running: Int32 = 0
        self.isInsideLibcurl = true
        curl_multi_socket_action(self.multi, socket, events, &running)
        self.isInsideLibcurl = false
        self.settle()
    }

    /// Does what had to wait for libcurl to return, and tells of transfers that are over.
    private func settle() {
        while true {
            while !self.postponed.isEmpty {
                let work = self.postponed
                self.postponed.removeAll(keepingCapacity: true)
                for item in work { item() }
            }
            let finished = pintle_multi_next_finished(self.multi)
            guard let easy = finished.easy else { return }
            guard let transfer = Self.transfer(of: easy) else { continue }
            self.finish(transfer, finished.result)
        }
    }

    /// The owner of an easy handle.
    static func transfer(of easy: UnsafeMutableRawPointer) -> Transfer? {
        var context: UnsafePointer<CChar>?
        _ = pintle_get_text(easy, CURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<Transfer>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
    }

    private func finish(_ transfer: Transfer, _ result: CURLcode) {
        if transfer.beginsAgain, transfer.isRunning, !transfer.hasFailed, !self.isClosed {
            self.remove(transfer)
            transfer.beginAgain()
            return self.add(transfer)
        }
        if let name = transfer.waiting.wantedName, transfer.isRunning, !transfer.hasFailed {
            transfer.waiting.wantedName = nil
            return self.lookUp(name, for: transfer)
        }
        transfer.collectResult(result)
        self.takeOut(transfer)
        transfer.tellEnd()
    }

    private func takeOut(_ transfer: Transfer) {
        if !transfer.isKept { self.remove(transfer) }
        self.giveBackConnection(of: transfer)
        self.retire(transfer)
        transfer.end()
        self.running[ObjectIdentifier(transfer)] = nil
        if transfer.isReusable, self.idle.count < Self.idleHandles, !self.isClosed { self.idle.append(transfer) }
    }

    /// Takes a handle out of the multi handle, and closes what is left of it there.
    func remove(_ transfer: Transfer) {
        if transfer.isAdded { curl_multi_remove_handle(self.multi, transfer.easyPointer) }
        transfer.isAdded = false
    }

    /// Asks for a call of libcurl at the end of this turn: one for all transfers that were started in it.
    private func requestTurnEnd() {
        guard !self.turnEndRequested else { return }
        self.turnEndRequested = true
        self.loop.atEndOfTurn(self)
    }

    func setTimer(_ milliseconds: Int) {
        guard let timer else { return }
        if milliseconds < 0 || self.isClosed {
            self.loop.disarm(timer)
        } else if milliseconds == 0 {
            self.requestTurnEnd()
        } else {
            self.loop.arm(timer, at: self.loop.turnTime + .milliseconds(Int64(milliseconds)))
        }
    }

    /// Notes what libcurl wants of a socket.
    ///
    /// libcurl removes its socket after every transfer and adds it again for the next: two system calls a request. The
    /// registration for reading is kept instead, and dropped when an event arrives that nobody wants, or on close.
    func setInterest(_ what: Int32, in socket: Int32, for easy: UnsafeMutableRawPointer?) {
        let index = Int(socket)
        self.makeRoom(for: index)
        if what != CURL_POLL_REMOVE { self.noteUser(of: index, easy) }
        var interest: Readiness = []
        if what == CURL_POLL_IN || what == CURL_POLL_INOUT { interest.insert(.read) }
        if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { interest.insert(.write) }
        self.descriptors[index].wanted = UInt8(interest.rawValue)
        // A socket that stays registered for writing would be ready all the time. Of the sockets that libcurl opens for
        // itself we are not told when they close, so nothing of theirs is kept.
        let known = self.descriptors[index]
        let kept = known.isOurs ? Readiness(rawValue: UInt32(known.registered)).intersection(.read) : []
        self.register(interest.union(kept), socket)
    }

    /// A socket was opened for a connection; its closing will be told.
    func opened(_ socket: Int32) {
        self.makeRoom(for: Int(socket))
        self.descriptors[Int(socket)] = Descriptor(isOurs: true)
    }

    /// Somebody else watches a socket from now on; it stays libcurl's to close.
    func letGo(_ socket: Int32) {
        self.makeRoom(for: Int(socket))
        self.register([], socket)
    }

    private func makeRoom(for index: Int) {
        guard self.descriptors.count <= index else { return }
        let more = max(64, index + 1 - self.descriptors.count)
        self.descriptors.append(contentsOf: repeatElement(Descriptor(), count: more))
    }

    func forget(_ socket: Int32) {
        let index = Int(socket)
        guard index < self.descriptors.count else { return }
        let known = self.descriptors[index]
        self.descriptors[index] = Descriptor()
        if known.registered != 0 { self.loop.unwatch(socket) }
        self.forgetPort(of: socket, known)
    }

    private func register(_ interest: Readiness, _ socket: Int32) {
        let index = Int(socket)
        guard self.descriptors[index].registered != UInt8(interest.rawValue) else { return }
        self.descriptors[index].registered = UInt8(interest.rawValue)
        if interest.isEmpty { self.loop.unwatch(socket) } else { self.loop.watch(socket, for: interest, by: self) }
    }
}

extension TransferPool: DescriptorWatcher, TurnEndWork {
    func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        let known = self.descriptors[Int(descriptor)]
        guard known.wanted != 0 else {
            // An idle connection was closed by its peer, or is to bring the answer to a request that was not made; libcurl
            // finds out when it wants to use it.
            if known.isIdle { KeptSocket.spoil(descriptor) }
            self.register([], descriptor)
            return
        }
        var events: Int32 = 0
        if readiness.contains(.read) { events |= CURL_CSELECT_IN }
        if readiness.contains(.write) { events |= CURL_CSELECT_OUT }
        if !readiness.isDisjoint(with: [.failed, .hungUp]) { events |= CURL_CSELECT_ERR }
        self.act(descriptor, events)
    }

    func runAtEndOfTurn() {
        self.turnEndRequested = false
        let unstartable = self.unstartable
        self.unstartable.removeAll()
        for transfer in unstartable where transfer.isRunning { self.finish(transfer, CURLE_FAILED_INIT) }
        self.act(CURL_SOCKET_TIMEOUT, 0)
    }
}
