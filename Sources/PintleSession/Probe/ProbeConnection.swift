// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleTrust

/// The socket of one probe, from its first packet to its last.
final class ProbeConnection: @unchecked Sendable {
    // Why @unchecked holds: everything that changes is touched on the loop's thread only, by `start`, `cancel`, the
    // loop's calls and the timer.

    private enum State {
        case fresh
        case connecting
        case handshaking
        case done
    }

    private static let readSize = 16 << 10

    private let probe: Probe
    private let loop: Loop
    private var state = State.fresh
    private var descriptor: Int32 = -1
    private var handshake: ClientHandshake?
    private var unsent: [UInt8] = []
    private var receivedCount = 0
    private var began = NIODeadline.now()
    private var completion: ((ProbeResult) -> Void)?
    private lazy var timer = LoopTimer { [weak self] in self?.timeIsOver() }

    init(_ probe: Probe, loop: Loop) {
        self.probe = probe
        self.loop = loop
    }

    /// - Parameter completion: called once, on the loop.
    func start(_ completion: @escaping (ProbeResult) -> Void) {
        self.completion = completion
        // It was cancelled before it began.
        guard self.state == .fresh else { return self.finish(.failed(.cancelled)) }
        self.began = .now()
        self.state = .connecting
        do throws(TrustError) {
            self.handshake = try ClientHandshake(
                host: self.probe.host, offer: self.probe.offer, evaluator: self.probe.evaluator,
                judgement: self.probe.judgement)
        } catch {
            return self.finish(.failed(.local(error.description)))
        }
        self.connect()
    }

    func cancel() {
        guard self.state != .fresh else {
            self.state = .done
            return
        }
        self.finish(.failed(.cancelled))
    }

    private func timeIsOver() {
        self.finish(.failed(.timedOut(self.state == .connecting ? .connecting : .handshaking)))
    }

    private func finish(_ ending: ProbeResult.Ending) {
        self.state = .done
        guard let completion else { return }
        self.completion = nil
        self.loop.disarm(self.timer)
        if self.descriptor >= 0 {
            self.loop.unwatch(self.descriptor)
            close(self.descriptor)
            self.descriptor = -1
        }
        completion(
            ProbeResult(
                ending: ending, presented: self.handshake?.presented ?? [], verdict: self.handshake?.verdict,
                duration: .nanoseconds((.now() - self.began).nanoseconds)))
    }

    // MARK: Connecting

    private func connect() {
        let family: Int32
        switch self.probe.address {
        case .v4: family = AF_INET
        case .v6: family = AF_INET6
        case .unixDomainSocket: return self.finish(.failed(.local("a Unix-domain socket has no TLS")))
        }
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        self.descriptor = socket(family, Int32(kind), 0)
        guard self.descriptor >= 0 else { return self.finish(.failed(.local(Self.words(for: errno)))) }
        if let interface = self.probe.interface {
            let code = interface.withCString {
                setsockopt(
                    self.descriptor, SOL_SOCKET, SO_BINDTODEVICE, $0, socklen_t(interface.utf8.count + 1))
            }
            guard code == 0 else {
                return self.finish(.failed(.local("the device \(interface): \(Self.words(for: errno))")))
            }
        }
        let limit = self.probe.timeLimit.components
        let nanoseconds = limit.seconds * 1_000_000_000 + limit.attoseconds / 1_000_000_000
        self.loop.arm(self.timer, at: self.began + .nanoseconds(nanoseconds))
        let code = self.probe.address.withSockAddr { place, size in
            Glibc.connect(self.descriptor, place, socklen_t(size)) == 0 ? 0 : errno
        }
        switch code {
        case 0: self.connected()
        case EINPROGRESS: self.loop.watch(self.descriptor, for: .write, by: self)
        default: self.connectionFailed(code)
        }
    }

    private func connectionFailed(_ code: Int32) {
        switch code {
        case ECONNREFUSED: self.finish(.failed(.refused))
        case ETIMEDOUT: self.finish(.failed(.timedOut(.connecting)))
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: self.finish(.failed(.local(Self.words(for: code))))
        default: self.finish(.failed(.unreachable(Self.words(for: code))))
        }
    }

    private func connected() {
        self.state = .handshaking
        self.goOn()
    }

    // MARK: Shaking hands

    /// Sends what is to be sent, and ends the probe when the handshake has ended.
    private func goOn() {
        guard let handshake else { return }
        self.unsent += handshake.takeOutput()
        self.send()
        guard self.state == .handshaking else { return }
        switch handshake.state {
        case .going: self.loop.watch(self.descriptor, for: self.unsent.isEmpty ? .read : [.read, .write], by: self)
        // The last flight and the alert behind it are a few hundred bytes, for which a socket's buffer has room.
        case .complete(let negotiated): self.finish(.complete(negotiated))
        case .failed(let failure): self.finish(.failed(.handshake(failure)))
        }
    }

    private func send() {
        while !self.unsent.isEmpty {
            let count = self.unsent.withUnsafeBytes {
                Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                let code = errno
                // What the peer sent before it broke off says why; reading finds the end.
                if code != EAGAIN && code != EINTR { self.unsent = [] }
                return
            }
            self.unsent.removeFirst(count)
        }
    }

    private func receive() {
        guard let handshake else { return }
        var count = 0
        var code: Int32 = 0
        withUnsafeTemporaryAllocation(byteCount: Self.readSize, alignment: 1) { space in
            count = recv(self.descriptor, space.baseAddress, space.count, 0)
            code = errno
            guard count > 0 else { return }
            self.receivedCount += count
            handshake.receive(UnsafeRawBufferPointer(rebasing: space[..<count]))
        }
        if count < 0 {
            guard code != EAGAIN && code != EINTR else { return }
            return self.finish(.failed(.reset(afterBytes: self.receivedCount)))
        }
        if count == 0 { handshake.receiveEnd() }
        self.goOn()
    }

    private static func words(for code: Int32) -> String { String(cString: strerror(code)) }
}

extension ProbeConnection: DescriptorWatcher {
    func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        switch self.state {
        case .fresh, .done: return
        case .connecting:
            var code: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
            if code == 0 { self.connected() } else { self.connectionFailed(code) }
        case .handshaking:
            if readiness.isDisjoint(with: [.read, .failed, .hungUp]) { self.goOn() } else { self.receive() }
        }
    }
}
