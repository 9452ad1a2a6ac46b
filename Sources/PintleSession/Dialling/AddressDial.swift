// SPDX-License-Identifier: Apache-2.0

internal import CPintleCurl
internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSystem

/// One connection to a known address. Its owner must cancel it when its time is over.
final class AddressDial: RunningDial {
    private let target: DialTarget
    private let address: SocketAddress
    private let dialler: CurlDialler
    private let serviceType: ServiceType
    private let loop: Loop
    private let start: NIODeadline
    private var completion: DialCompletion?
    private var descriptor: Int32 = -1
    /// The timer of the next attempt, while the process has no descriptor left.
    private var retry: LoopTimer?
    private var isWatched = false
    /// The time to wait for a free descriptor, and the pause between two attempts to get one.
    private static let (patience, pause) = (TimeAmount.seconds(1), TimeAmount.milliseconds(20))
    /// The outcome, which is reported at the end of the turn: by then the owner holds the dial.
    private var outcome: Result<Int32, SessionError>?

    init(
        _ target: DialTarget, at address: SocketAddress, of dialler: CurlDialler,
        _ completion: @escaping DialCompletion
    ) {
        self.target = target
        self.address = address
        self.dialler = dialler
        self.serviceType = target.serviceType ?? dialler.configuration.serviceType
        self.loop = dialler.loop
        self.start = dialler.loop.turnTime
        self.completion = completion
    }

    /// Begins at the end of this turn, as the dial may be cancelled before. The completion is called in a later turn.
    func begin() { self.loop.atEndOfTurn(self) }

    private func connect() {
        if let judge = self.dialler.judge, let refusal = self.target.refusal(of: self.address, by: judge) {
            return self.finish(.failure(CURLE_COULDNT_CONNECT, refusal: .address(refusal)))
        }
        let family = if case .v4 = self.address { AF_INET } else { AF_INET6 }
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        repeat {
            self.descriptor = DescriptorReserve.admitted(socket(family, Int32(kind), 0))
        } while self.descriptor < 0 && Self.isShortage(errno) && self.dialler.freeDescriptor()
        guard self.descriptor >= 0 else {
            let code = errno
            if Self.isShortage(code), self.loop.turnTime - self.start < Self.patience { return self.connectLater() }
            return self.finish(.failure(CURLE_COULDNT_CONNECT, refusal: .system(code)))
        }
        self.serviceType.mark(self.descriptor, family: family)
        DialledSocket.prepare(self.descriptor)
        let code = self.address.withSockAddr { place, size in
            Glibc.connect(self.descriptor, place, socklen_t(size)) == 0 ? 0 : errno
        }
        guard code == EINPROGRESS else { return self.finish(code) }
        self.isWatched = true
        self.loop.watch(self.descriptor, for: .write, by: self)
    }

    private static func isShortage(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE }

    /// Tries again after a pause: connections that were asked to close, as they are idle, need a moment.
    private func connectLater() {
        let retry = self.retry ?? LoopTimer { [weak self] in self?.connect() }
        self.retry = retry
        self.loop.arm(retry, at: self.loop.turnTime + Self.pause)
    }

    var keepsTime: Bool { false }

    func cancel() {
        self.completion = nil
        if let retry { self.loop.disarm(retry) }
        self.end()
        self.closeSocket()
    }

    private func finish(_ code: Int32) {
        if code == 0 { self.finish(.success) } else { self.finish(.failure(CURLE_COULDNT_CONNECT, system: code)) }
    }

    private enum End {
        case success
        case failure(CURLcode, refusal: SocketRefusal? = nil, system: Int32 = 0)
    }

    private func finish(_ end: End) {
        self.end()
        switch end {
        case .success: self.outcome = .success(self.descriptor)
        case .failure(let result, let refusal, let system):
            self.closeSocket()
            // `DialFailure` has the messages for both kinds of dials.
            let failure = DialFailure(
                result: result, target: self.target, proxyError: 0, interface: nil, hasAddress: true, refusal: refusal,
                systemError: system)
            self.outcome = .failure(failure.error)
        }
        self.loop.atEndOfTurn(self)
    }

    private func end() {
        if self.isWatched { self.loop.unwatch(self.descriptor) }
        self.isWatched = false
    }

    private func closeSocket() {
        if self.descriptor >= 0 { Glibc.close(self.descriptor) }
        self.descriptor = -1
        self.outcome = nil
    }
}

extension AddressDial: DescriptorWatcher, TurnEndWork {
    func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        precondition(self.isWatched, "BUG: a descriptor is ready that is not watched")
        var code: Int32 = 0
        if readiness.isBroken {
            var size = socklen_t(MemoryLayout<Int32>.size)
            let isKnown = getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0
            if !isKnown { code = errno }
        }
        self.finish(code)
    }

    func runAtEndOfTurn() {
        // The dial was cancelled in this turn.
        guard let completion else { return }
        // The first call begins, the second one has the outcome.
        guard let outcome else { return self.connect() }
        self.outcome = nil
        self.completion = nil
        var metrics = TransferMetrics()
        if case .success = outcome {
            self.descriptor = -1
            metrics.connect = .nanoseconds((self.loop.turnTime - self.start).nanoseconds)
            metrics.address = self.address.ipAddress ?? self.target.dialled.host
        }
        completion(outcome, metrics)
    }
}
