// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleTrust

/// The socket of one probe, from its first packet to its last.
final class ProbeConnection: @unchecked Sendable {
    // Why @unchecked holds: all mutable state is touched only on the loop's thread, by `start`, `cancel`, the loop's
    // calls and the timer.

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
    private var dialler: Dialler?
    private var descriptor: Int32 = -1
    private var handshake: ClientHandshake?
    private var unsent: [UInt8] = []
    private var receivedCount = 0
    private var began = NIODeadline.now()
    private var completion: ((ProbeResult) -> Void)?
    private lazy var timer = LoopTimer { [weak self] in self?.finish(.failed(.timedOut(.handshaking))) }

    init(_ probe: Probe, loop: Loop) {
        self.probe = probe
        self.loop = loop
    }

    /// Starts the probe.
    ///
    /// - Parameter completion: called once, on the loop.
    func start(_ completion: @escaping (ProbeResult) -> Void) {
        self.completion = completion
        // The probe was cancelled before it began.
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
        if let descriptor = self.probe.connection { self.connected(descriptor) } else { self.connect() }
    }

    func cancel() {
        guard self.state != .fresh else {
            self.state = .done
            return
        }
        self.finish(.failed(.cancelled))
    }

    private func finish(_ ending: ProbeResult.Ending) {
        self.state = .done
        self.dialler?.cancel()
        self.dialler = nil
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
        let dialler = Dialler(
            address: self.probe.address, interface: self.probe.interface, timeLimit: self.probe.timeLimit,
            loop: self.loop)
        self.dialler = dialler
        dialler.start { result in
            self.dialler = nil
            switch result {
            case .success(let descriptor): self.connected(descriptor)
            case .failure(let failure): self.finish(.failed(failure))
            }
        }
    }

    private func connected(_ descriptor: Int32) {
        self.descriptor = descriptor
        self.state = .handshaking
        self.loop.arm(self.timer, at: self.began + TimeAmount(self.probe.timeLimit))
        self.goOn()
    }

    // MARK: Shaking hands

    /// Sends pending bytes, and ends the probe when the handshake has ended.
    private func goOn() {
        guard let handshake else { return }
        self.unsent += handshake.takeOutput()
        self.send()
        guard self.state == .handshaking else { return }
        switch handshake.state {
        case .going: self.loop.watch(self.descriptor, for: self.unsent.isEmpty ? .read : [.read, .write], by: self)
        // The last flight and an alert after it are a few hundred bytes, for which a socket's buffer has room.
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
                // Bytes that the peer sent before it closed tell the reason; reading finds the end.
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
}

extension ProbeConnection: DescriptorWatcher {
    func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        guard self.state == .handshaking else { return }
        if readiness.isDisjoint(with: [.read, .failed, .hungUp]) { self.goOn() } else { self.receive() }
    }
}
