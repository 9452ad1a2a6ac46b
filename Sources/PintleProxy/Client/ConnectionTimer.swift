// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintlePolicy

/// Closes connections whose clients do not do in time what is expected of them.
///
/// Expectations change several times per request; so the event loop's timer is not moved each time. It fires at the earliest
/// deadline ever set, checks the present one, and is set again if necessary.
final class ConnectionTimer {
    enum Expectation {
        /// The first bytes of the first request.
        case firstHead
        /// The first byte of another request.
        case nextHead
        /// The end of a head that has begun.
        case restOfHead
        /// Another byte of the request's body.
        case body
        /// The client reads its response.
        case clientToRead
        /// The client closes after the last response.
        case clientToClose
        /// Nothing: it is the upstream's turn.
        case nothing

        /// True if bytes from the client are awaited.
        var isAboutArrivals: Bool {
            switch self {
            case .firstHead, .nextHead, .restOfHead, .body: true
            case .clientToRead, .clientToClose, .nothing: false
            }
        }

        /// True if the client has to read bytes, or to close.
        var isAboutReading: Bool {
            switch self {
            case .clientToRead, .clientToClose: true
            case .firstHead, .nextHead, .restOfHead, .body, .nothing: false
            }
        }
    }

    /// Owns this timer, and stops it when it leaves.
    private unowned let connection: ClientConnection
    private let worker: Worker
    private let loop: Loop
    private let channel: SocketChannel
    private var timer: LoopTimer?
    private var expectation = Expectation.nothing
    private var deadline: NIODeadline?
    private var pendingBytes = 0

    private static let lingering = TimeAmount.seconds(2)
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

    func expect(_ expectation: Expectation) {
        // A head that arrives byte by byte does not get more time with each byte.
        if case .restOfHead = expectation, case .restOfHead = self.expectation { return }
        if case .restOfHead = expectation, case .firstHead = self.expectation {
            self.expectation = expectation
            return
        }
        self.expectation = expectation
        guard let patience = self.limit else {
            self.deadline = nil
            return
        }
        if expectation.isAboutReading { self.pendingBytes = self.channel.pendingWriteBytes }
        let deadline = self.loop.turnTime + patience
        self.deadline = deadline
        guard let timer, !timer.isArmed || timer.fires(after: deadline) else { return }
        self.loop.arm(timer, at: deadline)
    }

    /// True if another request has been awaited since `end` or earlier.
    func isIdle(since end: NIODeadline) -> Bool {
        guard case .nextHead = self.expectation, let deadline else { return false }
        return deadline - self.worker.active.patience.idle <= end
    }

    func stop() {
        if let timer { self.loop.disarm(timer) }
        self.timer = nil
    }

    private var limit: TimeAmount? {
        // The present timeouts, not those at the time of the connection.
        let patience = self.worker.active.patience
        return switch self.expectation {
        case .firstHead, .restOfHead: patience.head
        case .nextHead: patience.idle
        case .body, .clientToRead: patience.body
        case .clientToClose: self.channel.pendingWriteBytes > 0 ? patience.body : Self.lingering
        case .nothing: nil
        }
    }

    private func fired() {
        guard let deadline, let timer else { return }
        guard deadline <= self.loop.turnTime else { return self.loop.arm(timer, at: deadline) }
        if self.expectation.isAboutArrivals {
            // A late event loop may not yet have read bytes that arrived in time.
            self.channel.readArrivals()
            // These bytes may have ended the connection, or met the expectation.
            guard self.timer != nil, let deadline = self.deadline else { return }
            guard deadline <= self.loop.turnTime else { return self.loop.arm(timer, at: deadline) }
        }
        if self.expectation.isAboutReading {
            let pending = self.channel.pendingWriteBytes
            // The client reads, but slowly.
            if pending != self.pendingBytes { return self.expect(self.expectation) }
        }
        self.connection.timedOut(self.expectation)
    }
}
