// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleMessage

/// The requests that an HTTP/1.1 client sends on one connection, one after another (RFC 9112 §9.3), without a socket.
///
/// It gets the received bytes and hears of events. In a run, which begins after each of them,
/// ``next(in:isWritable:takesPiece:limits:_:)`` returns one action after another. Pipelined requests wait in the inbox until the
/// one before them is answered; so responses keep the order of the requests (RFC 9112 §9.3.2).
///
/// It calls nothing, and is a class with private state, for the reason that ``HTTP1Machine`` gives.
final class RequestStream<Receiver> {
    /// The destination of the client's next byte.
    enum Phase {
        /// The first request head: the client has sent nothing yet.
        case opening
        /// A request head.
        case head
        /// The body of a request.
        case body(Receiver)
        /// The next request, once this receiver has answered the present one.
        case answering(Receiver)
        /// None: the last response is sent, and further bytes are discarded.
        case lingering
        /// The connection inside of an intercepted tunnel, which begins when the response has been sent.
        case entering
        /// The other end of a tunnel, or none.
        case closed
        /// None. The client left within a call of this receiver, which is to hear of it at the end of the turn.
        case abandoned(Receiver)
    }

    /// The next action of a run.
    enum Action {
        /// Wait for another event.
        case wait
        /// Wait for the rest of a head.
        case awaitHead
        /// Wait until the client has read earlier responses: no request is taken while they are unread.
        case awaitRoom
        /// Continue in a later turn, so that other connections get theirs; see ``resume()``.
        case rest
        /// Begin this request; see ``begin(_:limits:for:)``.
        case begin(ReceivedRequest)
        /// Answer bytes that are not a valid request; see ``begin(_:limits:for:)``.
        case refuse(WireError)
        /// Give a piece of the body to its receiver. This may end the request.
        case deliver(ByteBuffer, to: Receiver)
        /// Tell the receiver that the body has ended.
        case finish(trailers: Fields, to: Receiver)
        /// Tell the receiver that its body is malformed.
        case fail(WireError, Receiver)
        /// Close after the responses so far: the client has stopped sending, and no complete request will follow.
        case close
        /// Close at once: the client has stopped sending within a body, so that the request cannot be answered.
        case breakOff
    }

    /// The piece of a body that comes next. It waits until its receiver takes it.
    enum Piece {
        case bytes(Receiver)
        case end(Receiver)
    }

    private enum Activity {
        /// The next event begins a run.
        case waiting
        /// The actions of a run are carried out, or bytes of a body move past the stream. A receiver that asks for more meanwhile
        /// gets it without another run.
        case running
        /// Received requests wait for a later turn.
        case resting
    }

    /// The client's sending side.
    private enum Input {
        case open
        /// The client has sent everything; it may still read.
        case ended
    }

    private(set) var phase = Phase.opening
    private var activity = Activity.waiting
    private var input = Input.open
    private var inbox = ByteBuffer()
    private var heads: RequestReader
    private var body: BodyReader
    /// The number of heads taken in the turn with the given number.
    private var (headsInTurn, turn) = (0, UInt64(0))

    /// The most heads that are taken in a turn.
    static var mostHeadsInTurn: Int { 16 }
    /// The most bytes sent ahead by the client that are kept. A head may be longer.
    static var inboxLimit: Int { 64 * 1024 }

    init(limits: HeadLimits) {
        self.heads = RequestReader(limits: limits)
        self.body = BodyReader(.none, limits: limits)
    }

    // MARK: State

    /// The receiver of the request under way; nil between requests.
    var receiver: Receiver? {
        switch self.phase {
        case .body(let receiver), .answering(let receiver): receiver
        case .opening, .head, .lingering, .entering, .closed, .abandoned: nil
        }
    }

    /// True if the next byte belongs to a request head.
    var isBetweenRequests: Bool {
        switch self.phase {
        case .opening, .head: true
        case .body, .answering, .lingering, .entering, .closed, .abandoned: false
        }
    }

    /// True if nothing more is read from the client, or written to it.
    var hasEnded: Bool {
        switch self.phase {
        case .closed, .abandoned: true
        case .opening, .head, .body, .answering, .lingering, .entering: false
        }
    }

    /// True within a run.
    var isRunning: Bool { if case .running = self.activity { true } else { false } }

    /// The number of received bytes that wait.
    var waitingBytes: Int { self.inbox.readableBytes }

    /// True if another request may follow the present one: that one has come completely, and the client has not ended its side,
    /// or has sent more before.
    var mayContinue: Bool {
        guard case .answering = self.phase else { return false }
        return self.input == .open || self.waitingBytes > 0
    }

    /// The number of missing bytes of a body whose length is known; nil if there is none.
    var missingBytes: UInt64? { if case .body = self.phase { self.body.missingBytes } else { nil } }

    /// The expected behaviour of a client that reads its responses; nil if nothing is waited for any more.
    var expectation: ClientDeadline.Expectation? {
        switch self.phase {
        case .opening: .firstHead
        case .head: self.waitingBytes > 0 ? .restOfHead : .nextHead
        case .body: .body
        case .answering: .nothing
        case .lingering: .clientToClose
        case .entering: .clientToRead
        case .closed, .abandoned: nil
        }
    }

    /// True if more bytes are to be read.
    ///
    /// - Parameter isWritable: false while the client reads its responses too slowly.
    func wantsBytes(isWritable: Bool) -> Bool {
        let isFull = self.waitingBytes >= Self.inboxLimit
        // A head may be longer than the limit, but not the requests that wait for their turn.
        if self.isBetweenRequests { return isWritable && !(isFull && self.activity == .resting) }
        return !isFull
    }

    // MARK: Bytes

    /// Takes bytes in exchange for the empty inbox, so that they are parsed in the buffer in which they were received. A run
    /// follows, and then ``giveBack(_:)``.
    func borrow(_ bytes: inout ByteBuffer) {
        precondition(self.waitingBytes == 0, "BUG: bytes overtake those that came before them")
        if case .opening = self.phase { self.phase = .head }
        swap(&self.inbox, &bytes)
    }

    /// Returns a borrowed buffer. Only the bytes that wait in it are copied.
    func giveBack(_ bytes: inout ByteBuffer) {
        if self.waitingBytes == 0 {
            self.inbox = ByteBuffer()
        } else {
            bytes.clear()
            bytes.writeBuffer(&self.inbox)
            swap(&self.inbox, &bytes)
        }
    }

    /// Takes bytes behind those that wait.
    func append(_ bytes: inout ByteBuffer) {
        // Consumed bytes would otherwise stay in front of the new ones until the inbox is empty.
        self.inbox.discardReadBytes()
        self.inbox.writeBuffer(&bytes)
    }

    /// Notes that the client has closed its sending side. Its requests so far are still answered (RFC 9112 §9.6).
    func endInput() { self.input = .ended }

    // MARK: Runs

    /// Begins a run: actions are taken until one of them says to wait, to rest, or to end.
    func startRun() {
        switch self.activity {
        case .waiting: self.activity = .running
        // Events do not shorten the rest.
        case .resting: break
        case .running: preconditionFailure("BUG: a run begins within another")
        }
    }

    func endRun() { if case .running = self.activity { self.activity = .waiting } }

    /// Ends the rest, in a later turn. A run follows. In the same turn it leads to another rest.
    func resume() { if case .resting = self.activity { self.activity = .waiting } }

    /// The piece of the body that comes next; nil outside of bodies.
    var nextPiece: Piece? {
        guard case .body(let receiver) = self.phase else { return nil }
        // The end needs no room. If the end waited, an origin that has all bytes could answer first, and the response would
        // then have to close the connection.
        return self.body.isAtEnd ? .end(receiver) : .bytes(receiver)
    }

    /// The next action of a run.
    ///
    /// - Parameters:
    ///   - turn: the number of the loop's turn.
    ///   - isWritable: false while the client reads its responses too slowly.
    ///   - takesPiece: true if its receiver takes ``nextPiece`` now; without meaning if there is none.
    ///   - limits: the present limits of heads.
    func next(
        in turn: UInt64, isWritable: Bool, takesPiece: Bool, limits: HeadLimits, _ recurrent: inout RecurrentRequests
    ) -> Action {
        switch self.phase {
        case .opening, .head:
            if case .resting = self.activity { return .wait }
            return self.nextHead(in: turn, isWritable: isWritable, limits: limits, &recurrent)
        case .body(let receiver): return takesPiece ? self.nextPiece(for: receiver) : .wait
        case .answering, .lingering, .entering, .closed, .abandoned: return .wait
        }
    }

    private func nextHead(
        in turn: UInt64, isWritable: Bool, limits: HeadLimits, _ recurrent: inout RecurrentRequests
    ) -> Action {
        guard self.waitingBytes > 0 else { return self.input == .ended ? .close : .wait }
        guard isWritable else { return .awaitRoom }
        if self.turn != turn { (self.turn, self.headsInTurn) = (turn, 0) }
        guard self.headsInTurn < Self.mostHeadsInTurn else {
            self.activity = .resting
            return .rest
        }
        do throws(WireError) {
            guard let request = try self.heads.next(&self.inbox, limits: limits, &recurrent) else {
                return self.input == .ended ? .close : .awaitHead
            }
            self.headsInTurn += 1
            return .begin(request)
        } catch {
            return .refuse(error)
        }
    }

    private func nextPiece(for receiver: Receiver) -> Action {
        do throws(WireError) {
            switch try self.body.next(&self.inbox) {
            case .waiting: return self.input == .ended ? .breakOff : .wait
            case .data(let piece): return .deliver(piece, to: receiver)
            case .end(let trailers):
                self.phase = .answering(receiver)
                return .finish(trailers: trailers, to: receiver)
            }
        } catch {
            return .fail(error, receiver)
        }
    }

    // MARK: Requests

    /// Begins a request, or the answer to bytes that are not one.
    func begin(_ framing: BodyFraming, limits: HeadLimits, for receiver: Receiver) {
        guard case .head = self.phase else { preconditionFailure("BUG: a request begins that no head precedes") }
        if framing == .none {
            self.phase = .answering(receiver)
        } else {
            self.body = BodyReader(framing, limits: limits)
            self.phase = .body(receiver)
        }
    }

    /// Ends a request whose response is written.
    ///
    /// - Parameter keepsConnection: true if the head of the response allows another request.
    /// - Returns: true if the next request follows; false if the connection is to be closed.
    func answered(keepsConnection: Bool) -> Bool {
        guard keepsConnection, case .answering = self.phase else { return false }
        self.phase = .head
        return true
    }

    /// Begins to move bytes of the body past this stream, if none of them wait in it.
    ///
    /// - Returns: the receiver and the number of missing bytes; nil if the bytes must be received.
    func startMoving() -> (receiver: Receiver, missing: UInt64)? {
        guard case .body(let receiver) = self.phase, case .waiting = self.activity, self.waitingBytes == 0,
            let missing = self.body.missingBytes
        else { return nil }
        // The receiver may ask for more bytes meanwhile.
        self.activity = .running
        return (receiver, missing)
    }

    /// Ends the move of `count` bytes.
    ///
    /// - Returns: true if the body is complete; then a run follows.
    func endMoving(_ count: Int) -> Bool {
        self.endRun()
        self.body.skip(count)
        return self.body.isAtEnd
    }

    // MARK: The end

    /// Discards the rest, because the last response is sent.
    ///
    /// - Returns: false if the connection has ended already.
    func linger() -> Bool {
        if self.hasEnded { return false }
        self.phase = .lingering
        self.inbox = ByteBuffer()
        return true
    }

    /// Waits for the connection inside of the tunnel that the present request opens. Further bytes belong to it.
    ///
    /// - Returns: false if the client has left.
    func enterTunnel() -> Bool {
        if self.hasEnded { return false }
        self.phase = .entering
        return true
    }

    /// Ends the stream.
    ///
    /// - Returns: the receiver of the request under way, which is to hear of it.
    func end() -> Receiver? {
        let receiver = self.receiver
        if !self.hasEnded { self.phase = .closed }
        self.inbox = ByteBuffer()
        return receiver
    }

    /// Ends the stream within a call of the receiver of the request under way.
    func abandon() { if let receiver = self.end() { self.phase = .abandoned(receiver) } }

    /// Returns the receiver that has not yet heard of the end, once.
    func takeAbandoned() -> Receiver? {
        guard case .abandoned(let receiver) = self.phase else { return nil }
        self.phase = .closed
        return receiver
    }

    /// Ends the stream, because another protocol follows.
    ///
    /// - Returns: the bytes behind the last request.
    func handOver() -> ByteBuffer {
        var rest = ByteBuffer()
        swap(&rest, &self.inbox)
        self.phase = .closed
        return rest
    }
}
