// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
package import NIOCore
internal import PintleLoop
package import PintleMessage

/// Makes the sockets of one session on one loop. libcurl is used only for SOCKS proxies and for given network
/// interfaces, and no byte of a response reaches it. All other connections are made without it.
final class CurlDialler: @unchecked Sendable {
    // Why @unchecked holds: after `init` only the loop's thread uses it.

    let loop: Loop
    let judge: (any AddressJudge)?
    let configuration: SessionConfiguration
    let names: NameLookups
    /// Closes an idle connection, so that another one can be made.
    ///
    /// - Returns: false if there is none.
    var freeDescriptor: () -> Bool = { false }
    private var known: KnownAddresses
    private var multi: UnsafeMutableRawPointer
    private var idle: [Dial] = []
    private var running: [ObjectIdentifier: Dial] = [:]
    /// The readiness of libcurl's sockets that epoll watches for.
    private var interests: [Int32: Readiness] = [:]
    /// The socket that stays open for its dial while libcurl closes the rest of the handle.
    private var released: Int32?
    /// Dials that wait for addresses, by the tickets of their lookups.
    private var lookups: [UInt64: Dial] = [:]
    private var lastLookup: UInt64 = 0
    // Why unowned holds: `close` disarms the timer before the dialler is released.
    private lazy var timer = LoopTimer { [unowned self] in self.act(CURL_SOCKET_TIMEOUT, 0) }
    private var turnEndRequested = false
    /// True inside libcurl, when its multi functions must not be called.
    private var isInsideLibcurl = false
    private var postponed: [() -> Void] = []
    private var unstartable: [Dial] = []
    private var isClosed = false

    /// The most idle easy handles that are kept for later dials.
    private static let idleHandles = 16
    /// The connections that libcurl may keep: more than there are descriptors. With 0 it would close each one at once.
    private static let keptConnections = 1 << 30

    init(loop: Loop, configuration: SessionConfiguration, judge: (any AddressJudge)?, names: NameLookups) {
        self.loop = loop
        self.configuration = configuration
        self.judge = judge
        self.names = names
        self.known = KnownAddresses(lifetime: TimeAmount(configuration.dnsCache))
        self.multi = Self.makeMulti()
        self.prepareMulti()
    }

    private static func makeMulti() -> UnsafeMutableRawPointer {
        guard let multi = curl_multi_init() else { preconditionFailure("BUG: libcurl cannot make a multi handle") }
        return multi
    }

    private func prepareMulti() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        let results = [
            pintle_multi_set_socket_function(self.multi, socketCallback, context),
            pintle_multi_set_timer_function(self.multi, timerCallback, context),
            pintle_multi_set_long(self.multi, CURLMOPT_MAXCONNECTS, Self.keptConnections),
        ]
        precondition(results.allSatisfy { $0 == CURLM_OK }, "BUG: libcurl does not take an option of a multi handle")
    }

    // MARK: Dials

    /// Begins to dial.
    ///
    /// - Parameter completion: called once, in a later turn or at the end of this one, unless the dial is cancelled.
    func dial(_ target: DialTarget, _ completion: @escaping DialCompletion) -> any RunningDial {
        self.loop.assertInEventLoop()
        if target.socks == nil, target.interface == nil {
            if let address = target.dialled.address {
                let dial = AddressDial(target, at: address, of: self, completion)
                dial.begin()
                return dial
            }
            let dial = NameDial(target, of: self, completion)
            dial.begin()
            return dial
        }
        let dial = self.idle.popLast() ?? Dial(dialler: self)
        self.running[ObjectIdentifier(dial)] = dial
        dial.begin(target, completion)
        self.whenOutsideLibcurl { [self] in if dial.isRunning { self.add(dial) } }
        return dial
    }

    private func add(_ dial: Dial) {
        dial.isAdded = dial.isTaken && curl_multi_add_handle(self.multi, dial.easyPointer) == CURLM_OK
        // libcurl reports the end.
        guard !dial.isAdded else { return }
        // Reported later: the owner may not hold the dial yet.
        self.unstartable.append(dial)
        self.requestTurnEnd()
    }

    /// Ends a dial whose outcome its owner no longer wants.
    func cancel(_ dial: Dial) {
        self.whenOutsideLibcurl { [self] in
            // The dial has ended while libcurl was at work.
            guard self.running[ObjectIdentifier(dial)] != nil else { return }
            self.takeOut(dial)
        }
    }

    /// Ends a dial with an error of Pintle's own.
    func end(_ dial: Dial, _ error: SessionError) {
        self.whenOutsideLibcurl { [self] in
            // The dial has ended while libcurl was at work.
            guard self.running[ObjectIdentifier(dial)] != nil else { return }
            let end = dial.failed(with: error)
            self.takeOut(dial)
            end()
        }
    }

    private func takeOut(_ dial: Dial) {
        self.remove(dial)
        self.running[ObjectIdentifier(dial)] = nil
        dial.end()
        if self.idle.count < Self.idleHandles, !self.isClosed { self.idle.append(dial) }
    }

    /// Takes a dial's handle out of the multi handle, which closes its remaining connection.
    private func remove(_ dial: Dial) {
        if dial.isAdded { curl_multi_remove_handle(self.multi, dial.easyPointer) }
        dial.isAdded = false
    }

    /// Ends all dials without calling their completions, and closes libcurl's handle. Idempotent.
    func close() {
        self.loop.assertInEventLoop()
        guard !self.isClosed else { return }
        self.isClosed = true
        self.forgetAll()
        curl_multi_cleanup(self.multi)
    }

    /// Ends all dials and forgets the addresses of names.
    func reset() {
        precondition(!self.isClosed, "BUG: a closed dialler is reset")
        self.forgetAll()
        curl_multi_cleanup(self.multi)
        self.multi = Self.makeMulti()
        self.prepareMulti()
    }

    private func forgetAll() {
        self.known.removeAll()
        for dial in self.running.values { dial.cancel() }
        self.loop.disarm(self.timer)
        self.idle.removeAll()
    }

    // MARK: Names

    /// Returns the addresses of a name that needs no lookup: they are known, or always the same (RFC 6761 §6.3).
    func addresses(of name: String) -> [SocketAddress]? {
        if name == "localhost" || name.hasSuffix(".localhost") || MachineName.matches(name) { return Self.loopback }
        return self.known.addresses(of: name, at: self.loop.turnTime)
    }

    private static let loopback = ["::1", "127.0.0.1"].compactMap { try? SocketAddress(ipAddress: $0, port: 0) }

    func note(_ addresses: [SocketAddress], of name: String) {
        self.known.note(addresses, of: name, at: self.loop.turnTime)
    }

    /// Looks the name up again for the next dial.
    func forget(_ name: String) { self.known.forget(name) }

    /// Returns the address of the name that connected the last time.
    func winner(of name: String) -> SocketAddress? { self.known.winner(of: name, at: self.loop.turnTime) }

    func note(winner: SocketAddress, of name: String) {
        self.known.note(winner: winner, of: name, at: self.loop.turnTime)
    }

    /// Looks up a name for libcurl after libcurl's own lookup was prevented. The dial is added again when its addresses
    /// are known.
    private func lookUp(_ name: String, for dial: Dial) {
        self.remove(dial)
        self.lastLookup += 1
        let ticket = self.lastLookup
        self.lookups[ticket] = dial
        dial.beginLookup(ticket)
        let refusal = self.names.begin(name, for: dial.target.client) { [loop = self.loop, weak self] answer in
            loop.execute { [weak self] in self?.found(answer, ticket) }
        }
        if let refusal {
            let error = SessionError(.overloaded, "\(dial.target.authority) cannot be looked up now: \(refusal)")
            self.end(dial, error)
        }
    }

    private func found(_ answer: NameLookups.Answer, _ ticket: UInt64) {
        // The dial was cancelled, or its time was over.
        guard let dial = self.lookups.removeValue(forKey: ticket) else { return }
        dial.endLookup()
        let nothing = "\(dial.target.dialledHost) has no address"
        switch answer {
        case .success(let addresses) where !addresses.isEmpty && dial.use(addresses): self.add(dial)
        case .success: self.end(dial, SessionError(.dnsFailure, nothing))
        case .failure(let failure): self.end(dial, SessionError(.dnsFailure, nothing, cause: "\(failure)"))
        }
    }

    /// Drops the dial that waits for this lookup.
    func forgetLookup(_ ticket: UInt64) { self.lookups[ticket] = nil }

    // MARK: Driving libcurl

    private func whenOutsideLibcurl(_ work: @escaping () -> Void) {
        if self.isInsideLibcurl { self.postponed.append(work) } else { work() }
    }

    private func act(_ socket: curl_socket_t, _ events: Int32) {
        precondition(!self.isInsideLibcurl, "BUG: libcurl is called within its own call")
        // The session was closed in this turn.
        guard !self.isClosed else { return }
        var running: Int32 = 0
        self.isInsideLibcurl = true
        curl_multi_socket_action(self.multi, socket, events, &running)
        self.isInsideLibcurl = false
        self.settle()
    }

    /// Does the work that had to wait until libcurl returned, and reports finished dials.
    private func settle() {
        while !self.isClosed {
            while !self.postponed.isEmpty {
                let work = self.postponed
                self.postponed.removeAll(keepingCapacity: true)
                for item in work { item() }
            }
            // The session was closed by the work.
            guard !self.isClosed else { return }
            let finished = pintle_multi_next_finished(self.multi)
            // All finished dials were reported.
            guard let easy = finished.easy else { return }
            guard let dial = Self.dial(of: easy) else { continue }
            self.finish(dial, finished.result)
        }
    }

    /// Returns the dial that owns an easy handle.
    private static func dial(of easy: UnsafeMutableRawPointer) -> Dial? {
        var context: UnsafePointer<CChar>?
        _ = pintle_get_text(easy, CURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<Dial>.fromOpaque(UnsafeRawPointer($0)).takeUnretainedValue() }
    }

    private func finish(_ dial: Dial, _ result: CURLcode) {
        if let name = dial.takeWantedName(), dial.isRunning { return self.lookUp(name, for: dial) }
        let (end, socket) = dial.collect(result)
        self.released = socket
        self.takeOut(dial)
        self.released = nil
        end()
    }

    /// Requests one call of libcurl at the end of this turn, for all dials that began in it. Idempotent.
    private func requestTurnEnd() {
        guard !self.turnEndRequested else { return }
        self.turnEndRequested = true
        self.loop.atEndOfTurn(self)
    }

    func setTimer(_ milliseconds: Int) {
        if milliseconds < 0 || self.isClosed {
            self.loop.disarm(self.timer)
        } else if milliseconds == 0 {
            self.requestTurnEnd()
        } else {
            self.loop.arm(self.timer, at: self.loop.turnTime + .milliseconds(Int64(milliseconds)))
        }
    }

    /// Watches a socket as libcurl demands.
    func setInterest(_ what: Int32, in socket: Int32) {
        var interest = Readiness()
        if what == CURL_POLL_IN || what == CURL_POLL_INOUT { interest.insert(.read) }
        if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { interest.insert(.write) }
        // epoll watches for that already.
        guard self.interests[socket] ?? [] != interest else { return }
        if interest.isEmpty { return self.unwatch(socket) }
        self.interests[socket] = interest
        self.loop.watch(socket, for: interest, by: self)
    }

    private func unwatch(_ socket: Int32) {
        if self.interests.removeValue(forKey: socket) != nil { self.loop.unwatch(socket) }
    }

    /// Called when libcurl no longer needs a socket.
    func close(_ socket: Int32) -> Int32 {
        self.unwatch(socket)
        return socket == self.released ? 0 : Glibc.close(socket)
    }
}

extension CurlDialler: DescriptorWatcher, TurnEndWork {
    func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        var events: Int32 = 0
        if readiness.contains(.read) { events |= CURL_CSELECT_IN }
        if readiness.contains(.write) { events |= CURL_CSELECT_OUT }
        if readiness.isBroken { events |= CURL_CSELECT_ERR }
        self.act(descriptor, events)
    }

    func runAtEndOfTurn() {
        self.turnEndRequested = false
        let unstartable = self.unstartable
        self.unstartable.removeAll()
        for dial in unstartable where dial.isRunning { self.finish(dial, CURLE_FAILED_INIT) }
        self.act(CURL_SOCKET_TIMEOUT, 0)
    }
}

extension Authority {
    /// The address with the port, if the host is an address. Excludes zones, which only the system's resolver
    /// understands.
    package var address: SocketAddress? {
        guard self.host.utf8.first.map({ ASCII.isDigit($0) }) == true || self.host.contains(":") else { return nil }
        return try? SocketAddress(ipAddress: self.host, port: Int(self.port))
    }
}
