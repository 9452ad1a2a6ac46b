// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
package import NIOCore
internal import PintleLoop
package import PintleMessage

/// Makes the sockets of one session on one loop. libcurl goes by SOCKS proxies and by network interfaces that a request names;
/// nothing else is asked of it, and no byte of a response reaches it. Other names and addresses are dialled without it.
final class CurlDialler: @unchecked Sendable {
    // Why @unchecked holds: after `init` only the loop's thread uses it.

    let loop: Loop
    let judge: (any AddressJudge)?
    let configuration: SessionConfiguration
    let names: NameLookups
    /// Closes a connection that is idle, so that another one can be made.
    ///
    /// - Returns: false if there is none.
    var freeDescriptor: () -> Bool = { false }
    private var known: KnownAddresses
    private var multi: UnsafeMutableRawPointer
    private var idle: [Dial] = []
    private var running: [ObjectIdentifier: Dial] = [:]
    /// The interest in libcurl's sockets that epoll was told of.
    private var interests: [Int32: Readiness] = [:]
    /// The socket that its dial keeps while libcurl lets it go.
    private var released: Int32?
    /// Dials that wait for addresses, by the numbers of their lookups.
    private var lookups: [UInt64: Dial] = [:]
    private var lastLookup: UInt64 = 0
    private var timer: LoopTimer?
    private var turnEndRequested = false
    /// Inside libcurl, where its multi functions must not be called.
    private var isInsideLibcurl = false
    private var postponed: [() -> Void] = []
    private var unstartable: [Dial] = []
    private var isClosed = false

    /// The most easy handles that are kept for later dials.
    private static let idleHandles = 16
    /// libcurl closes a connection at once where it may keep none; more than there are descriptors.
    private static let keptConnections = 1 << 30

    init(loop: Loop, configuration: SessionConfiguration, judge: (any AddressJudge)?, names: NameLookups) {
        self.loop = loop
        self.configuration = configuration
        self.judge = judge
        self.names = names
        self.known = KnownAddresses(lifetime: TimeAmount(configuration.dnsCache))
        self.multi = Self.makeMulti()
        self.prepareMulti()
        // unowned: `close` disarms the timer before it goes.
        self.timer = LoopTimer { [unowned self] in self.act(CURL_SOCKET_TIMEOUT, 0) }
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
    func dial(_ target: DialTarget, _ completion: @escaping Dial.Completion) -> any RunningDial {
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
        guard !dial.isAdded else { return }
        // Told later: the owner may not hold the dial yet.
        self.unstartable.append(dial)
        self.requestTurnEnd()
    }

    /// Ends a dial of which nobody wants to hear any more.
    func cancel(_ dial: Dial) {
        self.whenOutsideLibcurl { [self] in
            guard self.running[ObjectIdentifier(dial)] != nil else { return }
            self.takeOut(dial)
        }
    }

    /// Ends a dial with an error of ours.
    func end(_ dial: Dial, _ error: SessionError) {
        self.whenOutsideLibcurl { [self] in
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

    /// Takes a handle out of the multi handle, and closes what is left of it there.
    private func remove(_ dial: Dial) {
        if dial.isAdded { curl_multi_remove_handle(self.multi, dial.easyPointer) }
        dial.isAdded = false
    }

    /// Closes everything; nobody is told.
    func close() {
        self.loop.assertInEventLoop()
        guard !self.isClosed else { return }
        self.isClosed = true
        self.forgetAll()
        curl_multi_cleanup(self.multi)
    }

    /// Forgets the addresses of names.
    func reset() {
        guard !self.isClosed else { return }
        self.forgetAll()
        curl_multi_cleanup(self.multi)
        self.multi = Self.makeMulti()
        self.prepareMulti()
    }

    private func forgetAll() {
        self.known.removeAll()
        for dial in self.running.values { dial.cancel() }
        if let timer { self.loop.disarm(timer) }
        self.idle.removeAll()
    }

    // MARK: Names

    /// The addresses of a name that need no lookup: they are known, or are always the same (RFC 6761 §6.3).
    func addresses(of name: String) -> [SocketAddress]? {
        if name == "localhost" || name.hasSuffix(".localhost") { return Self.loopback }
        return self.known.addresses(of: name, at: self.loop.turnTime)
    }

    private static let loopback = ["::1", "127.0.0.1"].compactMap { try? SocketAddress(ipAddress: $0, port: 0) }

    func note(_ addresses: [SocketAddress], of name: String) {
        self.known.note(addresses, of: name, at: self.loop.turnTime)
    }

    /// The address of a name that has answered the last time.
    func winner(of name: String) -> SocketAddress? { self.known.winner(of: name, at: self.loop.turnTime) }

    func note(winner: SocketAddress, of name: String) {
        self.known.note(winner: winner, of: name, at: self.loop.turnTime)
    }

    /// libcurl needs the addresses of a name, and was told that there are none; it is given them when they are there.
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
        // It was cancelled, or out of time.
        guard let dial = self.lookups.removeValue(forKey: ticket) else { return }
        dial.endLookup()
        let nothing = "\(dial.target.dialledHost) has no address"
        switch answer {
        case .success(let addresses) where !addresses.isEmpty && dial.use(addresses): self.add(dial)
        case .success: self.end(dial, SessionError(.dnsFailure, nothing))
        case .failure(let failure): self.end(dial, SessionError(.dnsFailure, nothing, cause: "\(failure)"))
        }
    }

    /// Nobody waits for the addresses any more.
    func forgetLookup(_ ticket: UInt64) { self.lookups[ticket] = nil }

    // MARK: Driving libcurl

    private func whenOutsideLibcurl(_ work: @escaping () -> Void) {
        if self.isInsideLibcurl { self.postponed.append(work) } else { work() }
    }

    private func act(_ socket: curl_socket_t, _ events: Int32) {
        guard !self.isInsideLibcurl, !self.isClosed else { return }
        var running: Int32 = 0
        self.isInsideLibcurl = true
        curl_multi_socket_action(self.multi, socket, events, &running)
        self.isInsideLibcurl = false
        self.settle()
    }

    /// Does what had to wait for libcurl to return, and tells of dials that are over.
    private func settle() {
        while !self.isClosed {
            while !self.postponed.isEmpty {
                let work = self.postponed
                self.postponed.removeAll(keepingCapacity: true)
                for item in work { item() }
            }
            guard !self.isClosed else { return }
            let finished = pintle_multi_next_finished(self.multi)
            guard let easy = finished.easy else { return }
            guard let dial = Self.dial(of: easy) else { continue }
            self.finish(dial, finished.result)
        }
    }

    /// The owner of an easy handle.
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

    /// Asks for a call of libcurl at the end of this turn: one for all dials that were begun in it.
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
    func setInterest(_ what: Int32, in socket: Int32) {
        var interest = Readiness()
        if what == CURL_POLL_IN || what == CURL_POLL_INOUT { interest.insert(.read) }
        if what == CURL_POLL_OUT || what == CURL_POLL_INOUT { interest.insert(.write) }
        guard self.interests[socket] ?? [] != interest else { return }
        if interest.isEmpty { return self.unwatch(socket) }
        self.interests[socket] = interest
        self.loop.watch(socket, for: interest, by: self)
    }

    private func unwatch(_ socket: Int32) {
        if self.interests.removeValue(forKey: socket) != nil { self.loop.unwatch(socket) }
    }

    /// libcurl has no more use for a socket.
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
    /// The address with the port, where the host is one. Without a zone, which only the system's resolver understands.
    package var address: SocketAddress? {
        guard self.host.utf8.first.map({ ASCII.isDigit($0) }) == true || self.host.contains(":") else { return nil }
        return try? SocketAddress(ipAddress: self.host, port: Int(self.port))
    }
}
