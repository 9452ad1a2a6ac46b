// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSystem

/// One connection that libcurl makes. The dialler reuses the object and its handle.
final class Dial {
    /// A reference cycle, which the dialler breaks when it is closed: it then releases its dials.
    private let dialler: CurlDialler
    private var easy: EasyHandle
    private(set) var target = Dial.nowhere
    private var completion: DialCompletion?
    var isAdded = false
    /// True if libcurl accepted all options of the dial.
    private(set) var isTaken = true
    private var refusal: SocketRefusal?
    /// The name that libcurl wanted to look up.
    private var wantedName: String?
    private var hasAddresses = false
    /// The ticket of the lookup that the dial waits for.
    private var lookup: UInt64?
    private var lookupStart = NIODeadline.uptimeNanoseconds(0)
    private var lookupTime = TimeAmount.zero
    private var deadline = NIODeadline.uptimeNanoseconds(0)
    private var timer: LoopTimer?

    private static let nowhere = DialTarget(authority: Authority(host: "", port: 0), timeLimit: .zero)

    init(dialler: CurlDialler) {
        self.dialler = dialler
        self.easy = EasyHandle()
        self.easy.configure(
            dialler.configuration, context: Unmanaged.passUnretained(self).toOpaque(),
            dialler: Unmanaged.passUnretained(dialler).toOpaque())
        // Why unowned holds: `end` disarms the timer before the dial is released.
        self.timer = LoopTimer { [unowned self] in self.failToLookUp() }
    }

    var easyPointer: UnsafeMutableRawPointer { self.easy.pointer }
    var isRunning: Bool { self.completion != nil }

    /// Cancels the dial; its completion is not called. Does nothing if it has ended.
    func cancel() {
        guard self.isRunning else { return }
        self.completion = nil
        self.dialler.cancel(self)
    }

    // MARK: For the dialler

    func begin(_ target: DialTarget, _ completion: @escaping DialCompletion) {
        self.target = target
        self.completion = completion
        self.deadline = self.dialler.loop.turnTime + target.timeLimit
        self.isTaken = self.easy.prepare(target)
    }

    func beginLookup(_ ticket: UInt64) {
        self.lookup = ticket
        self.lookupStart = self.dialler.loop.turnTime
        let limit = self.target.lookupLimit.map { self.lookupStart + $0 } ?? self.deadline
        if let timer { self.dialler.loop.arm(timer, at: min(limit, self.deadline)) }
    }

    func endLookup() {
        self.lookup = nil
        if let timer { self.dialler.loop.disarm(timer) }
        let now = self.dialler.loop.turnTime
        self.lookupTime = self.lookupTime + (now - self.lookupStart)
        self.easy.limitConnecting(to: max(.milliseconds(1), self.deadline - now))
    }

    /// Gives libcurl these addresses of the host's name to dial.
    ///
    /// - Returns: true if libcurl accepts them.
    func use(_ addresses: [SocketAddress]) -> Bool {
        self.hasAddresses = true
        return self.easy.use(addresses, of: self.target.dialled.host, port: self.target.dialled.port)
    }

    /// Returns the name that libcurl wanted to look up, and clears it.
    func takeWantedName() -> String? {
        defer { self.wantedName = nil }
        return self.wantedName
    }

    /// Collects the outcome of the dial.
    ///
    /// - Returns: a closure that reports to the owner, and the socket that libcurl must leave open.
    func collect(_ result: CURLcode) -> (tell: () -> Void, socket: Int32?) {
        var metrics = TransferMetrics()
        self.easy.fill(&metrics)
        metrics.delay(by: .nanoseconds(self.lookupTime.nanoseconds))
        let completion = self.completion
        guard result == CURLE_OK, completion != nil, let socket = self.easy.activeSocket() else {
            let failure = DialFailure(
                result: result, target: self.target, proxyError: self.easy.long(CURLINFO_PROXY_ERROR),
                interface: self.target.interface, hasAddress: metrics.nameLookup != nil,
                refusal: self.refusal, systemError: Int32(self.easy.long(CURLINFO_OS_ERRNO)))
            return ({ completion?(.failure(failure.error), metrics) }, nil)
        }
        return ({ completion?(.success(socket), metrics) }, socket)
    }

    /// Ends the dial with an error.
    ///
    /// - Returns: a closure that reports to the owner.
    func failed(with error: SessionError) -> () -> Void {
        var metrics = TransferMetrics()
        self.easy.fill(&metrics)
        let completion = self.completion
        return { completion?(.failure(error), metrics) }
    }

    /// Resets the dial for its next use.
    func end() {
        if let lookup { self.dialler.forgetLookup(lookup) }
        if let timer { self.dialler.loop.disarm(timer) }
        self.lookup = nil
        self.completion = nil
        self.target = Self.nowhere
        self.refusal = nil
        self.wantedName = nil
        self.hasAddresses = false
        self.lookupTime = .zero
    }

    private func failToLookUp() {
        let limit = self.target.namedLookupLimit.inWords
        let message = "\(self.target.dialledHost) has no address within \(limit)"
        self.dialler.end(self, SessionError(.dnsFailure, message))
    }

    // MARK: Called by libcurl

    /// Called when libcurl is about to look up the host's name in a thread of its own.
    ///
    /// - Returns: true for localhost and for addresses, for which libcurl asks no resolver.
    func mayResolve() -> Bool {
        let name = self.target.dialled.host
        let isLocal = name == "localhost" || name.hasSuffix(".localhost")
        if isLocal || (try? SocketAddress(ipAddress: name, port: 0)) != nil { return true }
        // If libcurl has been given the addresses already, another lookup would bring the same ones.
        if !self.hasAddresses { self.wantedName = name }
        return false
    }

    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        if let judge = self.dialler.judge {
            guard let peer = SocketAddress(dialled: address) else { return CURL_SOCKET_BAD }
            if let refusal = self.target.refusal(of: peer, by: judge) {
                self.refusal = .address(refusal)
                return CURL_SOCKET_BAD
            }
        }
        let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let asked = address.pointee
        let opened = DescriptorReserve.admitted(socket(asked.family, asked.socktype | flags, asked.protocol))
        guard opened >= 0 else {
            self.refusal = .system(errno)
            return CURL_SOCKET_BAD
        }
        (self.target.serviceType ?? self.dialler.configuration.serviceType).mark(opened, family: asked.family)
        return opened
    }
}

extension Dial: RunningDial {
    var keepsTime: Bool { self.isRunning }
}
