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
    private var socket: StreamSocket?
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
        // The end was reported before.
        guard let completion else { return }
        self.completion = nil
        self.loop.disarm(self.timer)
        self.socket?.close(on: self.loop)
        self.socket = nil
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
        self.socket = StreamSocket(descriptor: descriptor)
        self.state = .handshaking
        self.loop.arm(self.timer, at: self.began + TimeAmount(self.probe.timeLimit))
        self.goOn()
    }

    // MARK: Shaking hands

    /// Sends pending bytes, and ends the probe when the handshake has ended.
    private func goOn() {
        // `start` makes it first.
        guard let handshake else { preconditionFailure("BUG: a probe goes on that was not started") }
        self.unsent += handshake.takeOutput()
        self.send()
        // The probe was cancelled within the handshake.
        guard self.state == .handshaking else { return }
        switch handshake.state {
        case .going: self.socket?.watch(for: self.unsent.isEmpty ? .read : [.read, .write], by: self, on: self.loop)
        // The last flight and an alert after it are a few hundred bytes, for which a socket's buffer has room.
        case .complete(let negotiated): self.finish(.complete(negotiated))
        case .failed(let failure): self.finish(.failed(.handshake(failure)))
        }
    }

    private func send() {
        while !self.unsent.isEmpty, let socket {
            switch self.unsent.withUnsafeBytes({ socket.write($0) }) {
            case .bytes(let count): self.unsent.removeFirst(count)
            case .wouldBlock: return
            // Bytes that the peer sent before it closed tell the reason; reading finds the end.
            case .end, .failed: self.unsent = []
            }
        }
    }

    private func receive() {
        guard let handshake, let socket else { preconditionFailure("BUG: a probe receives before it is connected") }
        let outcome = withUnsafeTemporaryAllocation(byteCount: Self.readSize, alignment: 1) { space in
            let outcome = socket.read(into: space)
            if case .bytes(let count) = outcome {
                handshake.receive(UnsafeRawBufferPointer(rebasing: space[..<count]))
            }
            return outcome
        }
        switch outcome {
        case .bytes(let count): self.receivedCount += count
        case .end: handshake.receiveEnd()
        case .wouldBlock: return
        case .failed: return self.finish(.failed(.reset(afterBytes: self.receivedCount)))
        }
        self.goOn()
    }
}

extension ProbeConnection: DescriptorWatcher {
    func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        // An event of the turn in which the probe has ended.
        guard self.state == .handshaking else { return }
        if readiness.isDisjoint(with: [.read, .failed, .hungUp]) { self.goOn() } else { self.receive() }
    }
}
