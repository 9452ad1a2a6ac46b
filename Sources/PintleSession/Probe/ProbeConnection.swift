// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleTrust

/// The way to the server that is probed.
struct ProbeDial: Sendable {
    /// The address to connect to.
    var address: SocketAddress
    /// A connected, non-blocking socket, which is used in place of a connection to the address, and closed.
    var connection: Int32?
    /// The network device that packets use; if nil, the system chooses.
    var interface: String?
    /// The time limit from the first packet to the end.
    var timeLimit: Duration
}

/// The socket of one probe, from its first packet to its last.
final class ProbeConnection<Dialogue: ProbeDialogue>: @unchecked Sendable {
    // Why @unchecked holds: all mutable state is touched only on the loop's thread, by `start`, `cancel`, the loop's
    // calls and the timer.

    /// The end of a probe.
    struct End {
        /// Nil if the dialogue could not begin.
        let dialogue: Dialogue?
        /// Nil if the dialogue came to its end.
        let failure: ProbeFailure?
        /// The time from the first packet to the end.
        let duration: Duration
    }

    private enum State {
        case fresh
        case connecting
        case handshaking
        case done
    }

    private let dial: ProbeDial
    private let loop: Loop
    private let makeDialogue: @Sendable () throws(TrustError) -> Dialogue
    private var state = State.fresh
    private var dialler: Dialler?
    private var socket: StreamSocket?
    private var dialogue: Dialogue?
    private var unsent: [UInt8] = []
    private var receivedCount = 0
    private var began = NIODeadline.now()
    private var completion: ((End) -> Void)?
    private lazy var timer = LoopTimer { [weak self] in self?.finish(.timedOut(.handshaking)) }

    /// - Parameter makeDialogue: called on the loop.
    init(_ dial: ProbeDial, loop: Loop, makeDialogue: @escaping @Sendable () throws(TrustError) -> Dialogue) {
        self.dial = dial
        self.loop = loop
        self.makeDialogue = makeDialogue
    }

    /// Runs the probe. Cancelling the task ends it with `.cancelled`.
    ///
    /// - Parameter summarize: called once, on the loop.
    func run<Output: Sendable>(_ summarize: @escaping @Sendable (End) -> Output) async -> Output {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                self.loop.execute { self.start { continuation.resume(returning: summarize($0)) } }
            }
        } onCancel: {
            self.loop.execute { self.cancel() }
        }
    }

    private func start(_ completion: @escaping (End) -> Void) {
        self.completion = completion
        // The probe was cancelled before it began.
        guard self.state == .fresh else { return self.finish(.cancelled) }
        self.began = .now()
        self.state = .connecting
        do throws(TrustError) {
            self.dialogue = try self.makeDialogue()
        } catch {
            return self.finish(.local(error.description))
        }
        if let descriptor = self.dial.connection { self.connected(descriptor) } else { self.connect() }
    }

    private func cancel() {
        guard self.state != .fresh else {
            self.state = .done
            return
        }
        self.finish(.cancelled)
    }

    /// - Parameter failure: nil if the dialogue came to its end.
    private func finish(_ failure: ProbeFailure?) {
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
            End(
                dialogue: self.dialogue, failure: failure,
                duration: .nanoseconds((.now() - self.began).nanoseconds)))
    }

    // MARK: Connecting

    private func connect() {
        let dialler = Dialler(
            address: self.dial.address, interface: self.dial.interface, timeLimit: self.dial.timeLimit,
            loop: self.loop)
        self.dialler = dialler
        dialler.start { result in
            self.dialler = nil
            switch result {
            case .success(let descriptor): self.connected(descriptor)
            case .failure(let failure): self.finish(failure)
            }
        }
    }

    private func connected(_ descriptor: Int32) {
        self.socket = StreamSocket(descriptor: descriptor)
        self.state = .handshaking
        self.loop.arm(self.timer, at: self.began + TimeAmount(self.dial.timeLimit))
        self.goOn()
    }

    // MARK: Shaking hands

    /// Sends pending bytes, and ends the probe when the dialogue has ended.
    private func goOn() {
        self.unsent += self.dialogue?.takeOutput() ?? []
        self.send()
        // The probe was cancelled within the handshake.
        guard self.state == .handshaking else { return }
        switch self.dialogue?.ending {
        case nil: self.socket?.watch(for: self.unsent.isEmpty ? .read : [.read, .write], by: self, on: self.loop)
        // The last flight and an alert after it are a few hundred bytes, for which a socket's buffer has room.
        case .success: self.finish(nil)
        case .failure(let failure): self.finish(.handshake(failure))
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
        guard let socket else { preconditionFailure("BUG: a probe receives before it is connected") }
        let outcome = withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { space in
            let outcome = socket.read(into: space)
            if case .bytes(let count) = outcome {
                self.dialogue?.receive(UnsafeRawBufferPointer(rebasing: space[..<count]))
            }
            return outcome
        }
        switch outcome {
        case .bytes(let count): self.receivedCount += count
        case .end: self.dialogue?.receiveEnd()
        case .wouldBlock: return
        case .failed: return self.finish(.reset(afterBytes: self.receivedCount))
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
