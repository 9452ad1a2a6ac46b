// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSystem

/// The destination of a dial, and the way to it.
struct DialTarget {
    /// The origin that the connection is for.
    var authority: Authority
    /// The proxy on the way.
    var proxy: ProxyLink?
    /// For whom names are looked up.
    var client: TransferClient?
    /// How packets are marked; nil for the session's way.
    var serviceType: ServiceType?
    /// The network interface that it leaves by; nil leaves it to the routes.
    var interface: String?
    /// The longest time for resolving and connecting together.
    var timeLimit: TimeAmount
    /// The longest time for resolving alone; nil for the same.
    var lookupLimit: TimeAmount?

    /// The SOCKS proxy that makes the connection to the origin.
    var socks: ProxyLink? { self.proxy.flatMap { $0.server.scheme == .socks5 ? $0 : nil } }

    /// Where the connection ends as libcurl sees it: at the origin, or at a proxy that speaks HTTP.
    var end: Authority { self.socks == nil ? self.dialled : self.authority }

    /// Whose name is looked up, and whose address is dialled.
    var dialled: Authority { self.proxy?.server.authority ?? self.authority }

    /// The host that is dialled, in a sentence.
    var dialledHost: String {
        self.proxy.map { "the proxy \($0.server.authority.host)" } ?? "the host \(self.authority.host)"
    }

    /// Asks whether an address may be dialled; returns the reason where it may not.
    func refusal(of address: SocketAddress, by judge: any AddressJudge) -> String? {
        self.proxy == nil
            ? judge.refusal(dialling: address, asked: self.authority)
            : judge.refusal(diallingProxy: address, asked: self.authority)
    }
}

/// One connection that libcurl makes. The object and its handle are used again by the dialler.
final class Dial {
    /// Gives a connected, non-blocking socket to its new owner, or says why there is none.
    typealias Completion = (Result<Int32, SessionError>, TransferMetrics) -> Void

    /// Lets its dials go when it is closed; until then they hold each other.
    private let dialler: CurlDialler
    private var easy: EasyHandle
    private(set) var target = Dial.nowhere
    private var completion: Completion?
    var isAdded = false
    /// True where libcurl took all that it was told.
    private(set) var isTaken = true
    private var refusal: SocketRefusal?
    /// The name that libcurl wanted to look up.
    private var wantedName: String?
    private var hasAddresses = false
    /// Addresses that are waited for.
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
        // unowned: `end` disarms the timer before the dial goes.
        self.timer = LoopTimer { [unowned self] in self.failToLookUp() }
    }

    var easyPointer: UnsafeMutableRawPointer { self.easy.pointer }
    var isRunning: Bool { self.completion != nil }

    /// Gives it up; nobody is told.
    func cancel() {
        guard self.isRunning else { return }
        self.completion = nil
        self.dialler.cancel(self)
    }

    // MARK: For the dialler

    func begin(_ target: DialTarget, _ completion: @escaping Completion) {
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

    /// Has libcurl dial these addresses of the host's name.
    ///
    /// - Returns: whether it understands them.
    func use(_ addresses: [SocketAddress]) -> Bool {
        self.hasAddresses = true
        return self.easy.use(addresses, of: self.target.dialled.host, port: self.target.dialled.port)
    }

    /// The name that libcurl wants the addresses of; it is told once.
    func takeWantedName() -> String? {
        defer { self.wantedName = nil }
        return self.wantedName
    }

    /// Collects what came of the dial.
    ///
    /// - Returns: what tells its owner, and the socket that libcurl must leave open.
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

    /// - Returns: what tells its owner.
    func failed(with error: SessionError) -> () -> Void {
        var metrics = TransferMetrics()
        self.easy.fill(&metrics)
        let completion = self.completion
        return { completion?(.failure(error), metrics) }
    }

    /// Puts everything back for the next dial.
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
        let message =
            "\(self.target.dialledHost) has no address within \(min(self.target.lookupLimit ?? self.target.timeLimit, self.target.timeLimit).inWords)"
        self.dialler.end(self, SessionError(.dnsFailure, message))
    }

    // MARK: Called by libcurl

    /// libcurl is about to look the host's name up, in a thread of its own.
    ///
    /// - Returns: whether it may: such names are never looked up.
    func mayResolve() -> Bool {
        let name = self.target.dialled.host
        let isLocal = name == "localhost" || name.hasSuffix(".localhost")
        if isLocal || (try? SocketAddress(ipAddress: name, port: 0)) != nil { return true }
        // A second time it would be asked for what it was given.
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
