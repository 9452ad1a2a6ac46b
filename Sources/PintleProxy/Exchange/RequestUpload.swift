// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy

/// The upload of a request's body: the body waits at the client, is collected, or is streamed to the origin.
struct RequestUpload {
    private enum State {
        /// The body waits: the client is not admitted yet, or the request is being made.
        case waiting
        /// The body is collected, because all of it is needed at once.
        case collecting(ByteBuffer)
        /// The body is streamed to the origin, at the pace of the route if it has one.
        case streaming(any OriginStream, BodyThrottle?)
        /// Nothing is left of the body, or it is not needed.
        case over
    }

    /// The most bytes that wait in the upload.
    static let window = 64 * 1024

    private var state = State.waiting
    /// The most bytes that are collected.
    private let limit: Int
    /// True once the whole body has arrived.
    private(set) var hasEnded: Bool
    /// True while the client still sends the body of an earlier request, which is dropped.
    private var dropsRest = false

    init(_ framing: BodyFraming, limit: Int) {
        self.hasEnded = framing == .none
        self.limit = limit
    }

    /// Starts over for the request after a redirect; its body is known. Further bytes of the client belong to the earlier
    /// request.
    mutating func beginAgain() {
        self.stop()
        self.dropsRest = self.dropsRest || !self.hasEnded
        self.hasEnded = true
        self.state = .waiting
    }

    /// True if more of the body is taken now.
    var wantsBody: Bool {
        switch self.state {
        case _ where self.dropsRest: true
        case .waiting: false
        case .collecting(let held): held.readableBytes <= self.limit
        case .streaming: self.waitingBytes < Self.window
        case .over: true
        }
    }

    /// True if the end is taken now; it needs no room.
    var wantsEnd: Bool { if case .waiting = self.state { self.dropsRest } else { true } }

    /// The bytes that were taken from the client, but not by the origin.
    var waitingBytes: Int {
        guard case .streaming(let origin, let pacer) = self.state else { return 0 }
        return pacer?.waitingBytes ?? origin.unsentBodyBytes
    }

    /// The bytes of the upload that take memory.
    var heldBytes: Int {
        guard case .streaming(let origin, let pacer) = self.state else { return 0 }
        return pacer?.waitingBytes ?? origin.heldBodyBytes
    }

    // MARK: Collecting

    /// True while the body is being collected.
    var isCollecting: Bool { if case .collecting = self.state { true } else { false } }

    /// Starts to collect the body.
    mutating func collect() {
        guard case .waiting = self.state else { preconditionFailure("BUG: a body is gathered that goes elsewhere") }
        self.state = .collecting(ByteBuffer())
    }

    /// Returns the collected bytes; the rest of the body waits.
    mutating func takeCollected() -> ByteBuffer? {
        guard case .collecting(let held) = self.state else { return nil }
        self.state = .waiting
        return held
    }

    // MARK: Streaming

    /// Starts to stream the body to the origin.
    mutating func stream(to origin: any OriginStream, _ pacer: BodyThrottle?) {
        guard case .waiting = self.state else { preconditionFailure("BUG: a body goes to two places") }
        self.state = .streaming(origin, pacer)
    }

    /// The next step for a piece of the body.
    enum Receipt {
        /// It was collected; with the total so far.
        case collected(Int)
        /// It is to be sent.
        case send(to: Sink)
        /// It is not needed.
        case dropped
    }

    /// The destination of a streamed body. Use it outside of methods of the upload, because it may end the exchange within the
    /// call.
    struct Sink {
        fileprivate let origin: any OriginStream
        let pacer: BodyThrottle?

        func send(_ bytes: ByteBuffer) {
            if let pacer { pacer.send(bytes) } else { self.origin.send(bytes) }
        }

        /// Moves a piece from the client's socket to the origin's, if no pace is set.
        func move(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling {
            self.pacer == nil ? self.origin.moveBody(from: descriptor, atMost: limit) : .isUnfit
        }

        func finish(trailers: Fields) {
            if let pacer { pacer.finish(trailers: trailers) } else { self.origin.finishBody(trailers: trailers) }
        }
    }

    /// Takes a piece from the client.
    mutating func receive(_ bytes: ByteBuffer) -> Receipt {
        switch self.state {
        case _ where self.dropsRest: return .dropped
        case .waiting: preconditionFailure("BUG: a body comes that nobody takes yet")
        case .collecting(let held):
            // Moved out of the state while it grows, so that it is not copied.
            self.state = .over
            let whole = Self.joined(held, bytes)
            self.state = .collecting(whole)
            return .collected(whole.readableBytes)
        case .streaming(let origin, let pacer): return .send(to: Sink(origin: origin, pacer: pacer))
        case .over: return .dropped
        }
    }

    private static func joined(_ held: consuming ByteBuffer, _ bytes: ByteBuffer) -> ByteBuffer {
        var whole = held
        whole.writeImmutableBuffer(bytes)
        return whole
    }

    /// Notes that the client has sent its whole body.
    ///
    /// - Returns: false if that was the body of an earlier request.
    mutating func noteEnd() -> Bool {
        if self.dropsRest {
            self.dropsRest = false
            return false
        }
        precondition(!self.hasEnded, "BUG: a body ends twice")
        self.hasEnded = true
        return true
    }

    /// The destination of a streamed body; nil if the body is not being streamed.
    var sink: Sink? {
        guard case .streaming(let origin, let pacer) = self.state else { return nil }
        return Sink(origin: origin, pacer: pacer)
    }

    /// Marks a streamed body complete.
    ///
    /// - Returns: the sink to notify.
    mutating func finish() -> Sink? {
        let sink = self.sink
        // A pacer continues until all bytes are sent.
        if sink?.pacer == nil, sink != nil { self.state = .over }
        return sink
    }

    /// Keeps the pace of the route, if it has one.
    var pacer: BodyThrottle? { self.sink?.pacer }

    /// Ends the upload, whatever is left.
    mutating func stop() {
        if case .streaming(_, let pacer) = self.state { pacer?.stop() }
        self.state = .over
    }

    /// Abandons a streamed body after the origin has gone.
    mutating func originIsGone() { if case .streaming = self.state { self.stop() } }
}
