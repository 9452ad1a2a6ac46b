// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop

/// Closes connections whose clients do not do in time what is expected of them.
///
/// Expectations change several times per request; so the event loop's timer is not moved each time. It fires at the earliest
/// deadline ever set, looks at the present one, and is set again if necessary.
final class ConnectionTimer {
    /// Owns this timer, and stops it when it leaves.
    private unowned let connection: ClientConnection
    private let worker: Worker
    private let loop: Loop
    private let channel: SocketChannel
    /// Nil once it is stopped.
    private var timer: LoopTimer?
    private var deadline = ClientDeadline()

    /// The reason in the log for a response that the client does not read.
    static let unread = "the client did not read its answer in time (limits.body_timeout)"

    init(connection: ClientConnection) {
        self.connection = connection
        self.worker = connection.worker
        self.loop = connection.worker.loop
        self.channel = connection.channel
        // `stop` disarms the timer before this object is released.
        self.timer = LoopTimer { [unowned self] in self.fired() }
    }

    func expect(_ expectation: ClientDeadline.Expectation) {
        self.deadline.expect(
            expectation, at: self.loop.turnTime, self.worker.active.patience,
            pendingBytes: self.channel.pendingWriteBytes)
        if let end = self.deadline.end, let timer, !timer.isArmed || timer.fires(after: end) {
            self.loop.arm(timer, at: end)
        }
    }

    /// True if another request has been awaited since `time` or earlier.
    func isIdle(since time: NIODeadline) -> Bool { self.deadline.isIdle(since: time, self.worker.active.patience) }

    func stop() {
        if let timer { self.loop.disarm(timer) }
        self.timer = nil
    }

    private func fired(hasReadArrivals: Bool = false) {
        // The bytes that were read may have ended the connection.
        guard let timer else { return }
        let pendingBytes = self.channel.pendingWriteBytes
        switch self.deadline.step(
            at: self.loop.turnTime, pendingBytes: pendingBytes, hasReadArrivals: hasReadArrivals)
        {
        case .none: break
        case .wait(let end): self.loop.arm(timer, at: end)
        case .readArrivals:
            self.channel.readArrivals()
            self.fired(hasReadArrivals: true)
        case .renew(let expectation): self.expect(expectation)
        case .late(let expectation): self.connection.timedOut(expectation)
        }
    }
}
