// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage

/// One transfer as a task sees it: a head, then pieces of the body, then the end; and the body that the task sends.
///
/// Confined to the loop's thread, like the transfer. At most one reader and one feeder wait here.
final class TransferFlow {
    private let loop: Loop
    private let noteSent: (_ count: Int, _ total: Int) -> Void
    private var transfer: Transfer?
    private var head: (head: ResponseHead, length: UInt64?)?
    private var pending: CircularBuffer<ByteBuffer> = []
    private var pendingBytes = 0
    private var isSuspended = false
    /// True if the task has cancelled the transfer.
    private var isCancelled = false
    private var unsent = 0
    private var sent = 0
    private var end: Result<Void, SessionError>?
    /// A connection that was switched to another protocol, until the task takes it.
    private var handoff: ConnectionHandoff?
    private let reader: LoopWait
    private lazy var feeder = LoopWait(on: self.loop)
    private var restTimer: LoopTimer?
    private var discardTimer: LoopTimer?
    /// The task that feeds the body of the request.
    private var feeding: Task<Void, Never>?
    /// The metrics of the transfer; complete when it is over.
    private(set) var metrics = TransferMetrics()

    /// The most bytes of a response that wait here. They are handed on together, so that a reader on another thread is
    /// woken once for a few full buffers.
    private static let window = 256 * 1024
    /// The size up to which small pieces are joined.
    private static let pieceSize = 64 * 1024
    private static let sendWindow = 64 * 1024
    /// The most bytes of an unwanted body that are read so that its connection can be used again.
    private static let discardLimit = 64 * 1024
    private static let discardTime = TimeAmount.seconds(1)

    /// - Parameter noteSent: called with the number of body bytes that the connection has taken, and with their total.
    init(loop: Loop, noteSent: @escaping (_ count: Int, _ total: Int) -> Void) {
        self.loop = loop
        self.reader = LoopWait(on: loop)
        self.noteSent = noteSent
        // Why unowned holds: `finish` disarms the timers before the flow is released.
        self.restTimer = LoopTimer { [unowned self] in self.wakeFeeder() }
        self.discardTimer = LoopTimer { [unowned self] in self.cancel() }
    }

    var isOver: Bool { self.end != nil }

    func start(_ request: TransferRequest, in session: Session) {
        self.transfer = session.start(request, on: self.loop, delegate: self)
    }

    // MARK: Receiving

    /// Waits for the head of the final response.
    func response() async throws(SessionError) -> (head: ResponseHead, length: UInt64?) {
        while self.head == nil || self.isSuspended {
            if let end, self.head == nil || end.isFailure { try end.get() }
            await self.waitAsReader()
        }
        guard let head else { preconditionFailure("BUG: a transfer ended well without a head") }
        return head
    }

    /// Takes the connection that came with a `101 Switching Protocols`; the caller owns it.
    func takeHandoff() -> ConnectionHandoff? {
        defer { self.handoff = nil }
        return self.handoff
    }

    /// Waits for the next piece of the body; returns nil when it is complete.
    func next() async throws(SessionError) -> ByteBuffer? {
        guard try await self.hasMore() else { return nil }
        let piece = self.pending.removeFirst()
        self.pendingBytes -= piece.readableBytes
        self.wantMore()
        return piece
    }

    /// Waits for more of the body; returns all pieces that have arrived, or none when it is complete.
    func nextPieces() async throws(SessionError) -> [ByteBuffer] {
        guard try await self.hasMore() else { return [] }
        let pieces = Array(self.pending)
        self.pending.removeAll(keepingCapacity: true)
        self.pendingBytes = 0
        self.wantMore()
        return pieces
    }

    /// Continues to read, as pieces were taken. Without a transfer a feeder brings the response.
    private func wantMore() {
        // The pieces that wait are enough.
        guard self.pendingBytes < Self.window else { return }
        if let transfer { transfer.resumeReading() } else { self.wakeFeeder() }
    }

    private func hasMore() async throws(SessionError) -> Bool {
        while self.pendingBytes == 0 || self.isSuspended {
            // A failure is reported even while the task is suspended; a success waits until it is resumed.
            if self.pendingBytes == 0, let end, !self.isSuspended || end.isFailure {
                try end.get()
                return false
            }
            await self.waitAsReader()
        }
        return true
    }

    /// Waits for the next turn of the loop, after the other work of this one.
    func waitForTurn() async {
        let turn = LoopWait(on: self.loop)
        self.loop.execute { turn.wake() }
        await turn.wait()
    }

    /// Waits for the end of a suspension.
    ///
    /// - Throws: the reason why the task cancelled the transfer, if it did; other failures are left to ``next()``.
    func waitWhileSuspended() async throws(SessionError) {
        while self.isSuspended { await self.waitAsReader() }
        if self.isCancelled, let end { try end.get() }
    }

    /// Reads the rest of an unwanted body, or closes the connection if the rest is long or slow.
    func discardRest() async {
        if let length = self.head?.length, length > Self.discardLimit { return self.cancel() }
        if !self.isOver, let discardTimer { self.loop.arm(discardTimer, at: .now() + Self.discardTime) }
        var count = 0
        while let piece = try? await self.next() {
            count += piece.readableBytes
            if count > Self.discardLimit { return self.cancel() }
        }
    }

    // MARK: Responses that no transfer brings

    /// Waits until there is room for more of the response's body.
    ///
    /// - Returns: false if no more is wanted.
    func hasPlace() async -> Bool {
        while self.pendingBytes >= Self.window, !self.isOver { await self.waitAsFeeder() }
        return !self.isOver
    }

    /// Ends the response; with success if `error` is nil. Does nothing if it has ended.
    func end(with error: SessionError?) {
        guard !self.isOver else { return }
        self.finish(error.map { .failure($0) } ?? .success(()))
    }

    // MARK: Sending

    /// Sets the task that feeds a body here. It is cancelled when no more is wanted, as its source may wait for ever.
    func isFed(by feeding: Task<Void, Never>) {
        if self.isOver { feeding.cancel() } else { self.feeding = feeding }
    }

    /// Waits until there is room for more of the request's body.
    ///
    /// - Returns: false if the transfer is over, so that no more is wanted.
    func hasRoom() async -> Bool {
        while self.unsent >= Self.sendWindow || self.isSuspended, !self.isOver { await self.waitAsFeeder() }
        return !self.isOver
    }

    /// Waits for `delay`, or less if the transfer ends. Does nothing if it is over.
    func rest(for delay: TimeAmount) async {
        guard !self.isOver, delay > .zero, let restTimer else { return }
        self.loop.arm(restTimer, at: .now() + delay)
        while restTimer.isArmed { await self.waitAsFeeder() }
    }

    func send(_ bytes: ByteBuffer) {
        self.unsent += bytes.readableBytes
        self.transfer?.send(bytes)
    }

    func finishBody() { self.transfer?.finishBody() }

    // MARK: Steering

    func suspend() {
        self.isSuspended = true
        self.transfer?.holdBody()
        self.transfer?.pauseReading()
    }

    func resume() {
        self.isSuspended = false
        self.transfer?.releaseBody()
        if self.pendingBytes < Self.window { self.transfer?.resumeReading() }
        self.wakeReader()
        self.wakeFeeder()
    }

    /// Cancels the transfer.
    func cancel(with error: SessionError = .cancelled) {
        self.takeHandoff()?.connection.close()
        // A transfer that succeeded during a suspension has a reader that waits for the resumption.
        guard !self.isOver || self.isSuspended else { return }
        self.transfer?.cancel()
        self.pending.removeAll()
        self.pendingBytes = 0
        self.isCancelled = true
        // Wakes a reader that waits for the end of the suspension.
        self.isSuspended = false
        self.finish(.failure(error))
    }

    private func finish(_ end: Result<Void, SessionError>) {
        self.transfer = nil
        self.end = end
        if let restTimer { self.loop.disarm(restTimer) }
        if let discardTimer { self.loop.disarm(discardTimer) }
        self.feeding?.cancel()
        self.feeding = nil
        self.wakeReader()
        self.wakeFeeder()
    }

    // MARK: Waiting

    private func waitAsReader() async { await self.reader.wait() }

    private func waitAsFeeder() async { await self.feeder.wait() }

    private func wakeReader() { self.reader.wake() }

    private func wakeFeeder() { self.feeder.wake() }
}

extension TransferFlow: TransferDelegate {
    func originSent(interim head: ResponseHead) {}

    func originAnswered(_ head: ResponseHead, length: UInt64?) {
        self.head = (head, length)
        if let transfer { self.metrics.httpVersion = transfer.responseVersion }
        self.wakeReader()
    }

    func originSent(_ bytes: UnsafeRawBufferPointer) {
        // An empty piece would wake the reader in vain.
        guard bytes.count > 0 else { return }
        if let last = self.pending.indices.last, self.pending[last].readableBytes + bytes.count <= Self.pieceSize {
            self.pending[last].writeBytes(bytes)
        } else {
            self.pending.append(ByteBuffer(bytes: bytes))
        }
        self.noteArrival(of: bytes.count)
    }

    func originSent(_ buffer: ByteBuffer) {
        self.pending.append(buffer)
        self.noteArrival(of: buffer.readableBytes)
    }

    private func noteArrival(of count: Int) {
        self.pendingBytes += count
        if self.isSuspended || self.pendingBytes >= Self.window { self.transfer?.pauseReading() }
        self.wakeReader()
    }

    func originSent(trailers fields: Fields) {}

    func originTookBody(_ count: Int) {
        self.unsent -= count
        self.sent += count
        self.noteSent(count, self.sent)
        if self.unsent <= Self.sendWindow / 2 { self.wakeFeeder() }
    }

    func bodyBeginsAgain() { self.sent = 0 }

    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        guard let head = handoff.head else { preconditionFailure("BUG: a task has asked for a bare connection") }
        self.metrics = metrics
        self.handoff = handoff
        self.head = (head, nil)
        self.finish(.success(()))
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        self.metrics = metrics
        self.finish(error.map { .failure($0) } ?? .success(()))
    }
}

extension Result {
    fileprivate var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}
