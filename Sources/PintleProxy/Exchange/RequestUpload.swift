// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy

/// The way of a request's body: it waits at the client, is gathered, or goes to the origin as it comes.
struct RequestUpload {
    private enum State {
        /// Nowhere yet: the client may not use the proxy yet, or the request is being made.
        case waiting
        /// It is gathered, because all of it is needed at once.
        case collecting(ByteBuffer)
        /// To the origin as it comes, at the pace of the route where it has one.
        case streaming(any OriginStream, BodyPacer?)
        /// Nowhere: nothing of it is left, or nobody wants it.
        case over
    }

    /// The most bytes that wait on the way up.
    static let window = 64 * 1024

    private var state = State.waiting
    /// The most bytes that are gathered.
    private let limit: Int
    /// True once all of it is here.
    private(set) var hasEnded: Bool
    /// True while the client still sends the body of a request before this one, which is dropped.
    private var dropsRest = false

    init(_ framing: BodyFraming, limit: Int) {
        self.hasEnded = framing == .none
        self.limit = limit
    }

    /// Makes way for another request, all of whose body is here. What the client still sends belongs to the one before.
    mutating func beginAgain() {
        self.stop()
        self.dropsRest = self.dropsRest || !self.hasEnded
        self.hasEnded = true
        self.state = .waiting
    }

    /// True where more is taken now.
    var wantsBody: Bool {
        switch self.state {
        case _ where self.dropsRest: true
        case .waiting: false
        case .collecting(let held): held.readableBytes <= self.limit
        case .streaming: self.waitingBytes < Self.window
        case .over: true
        }
    }

    /// True where the end is taken now: it needs no room.
    var wantsEnd: Bool { if case .waiting = self.state { self.dropsRest } else { true } }

    /// Bytes that were taken and that the origin has not.
    var waitingBytes: Int {
        guard case .streaming(let origin, let pacer) = self.state else { return 0 }
        return pacer?.waitingBytes ?? origin.unsentBodyBytes
    }

    /// Bytes that take memory on the way up.
    var heldBytes: Int {
        guard case .streaming(let origin, let pacer) = self.state else { return 0 }
        return pacer?.waitingBytes ?? origin.heldBodyBytes
    }

    // MARK: Gathering

    /// True while it is gathered.
    var isCollecting: Bool { if case .collecting = self.state { true } else { false } }

    /// Begins to gather it.
    mutating func collect() {
        guard case .waiting = self.state else { preconditionFailure("BUG: a body is gathered that goes elsewhere") }
        self.state = .collecting(ByteBuffer())
    }

    /// Takes what was gathered; the rest waits.
    mutating func takeCollected() -> ByteBuffer? {
        guard case .collecting(let held) = self.state else { return nil }
        self.state = .waiting
        return held
    }

    // MARK: Streaming

    /// Lets it go to the origin.
    mutating func stream(to origin: any OriginStream, _ pacer: BodyPacer?) {
        guard case .waiting = self.state else { preconditionFailure("BUG: a body goes to two places") }
        self.state = .streaming(origin, pacer)
    }

    /// Tells what becomes of a piece of the body.
    enum Receipt {
        /// It was gathered; so many bytes are by now.
        case collected(Int)
        /// It is to be sent.
        case send(to: Sink)
        /// Nobody wants it.
        case dropped
    }

    /// Takes the body on. Called when no method of the upload runs: it may end the exchange from within the call.
    struct Sink {
        fileprivate let origin: any OriginStream
        let pacer: BodyPacer?

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

    /// Takes a piece that the client has sent.
    mutating func receive(_ bytes: ByteBuffer) -> Receipt {
        switch self.state {
        case _ where self.dropsRest: return .dropped
        case .waiting: preconditionFailure("BUG: a body comes that nobody takes yet")
        case .collecting(let held):
            // Taken out while it grows, so that it is not copied.
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

    /// Notes that the client has sent all that it will.
    ///
    /// - Returns: false where that was the body of a request before this one.
    mutating func noteEnd() -> Bool {
        if self.dropsRest {
            self.dropsRest = false
            return false
        }
        precondition(!self.hasEnded, "BUG: a body ends twice")
        self.hasEnded = true
        return true
    }

    /// Where the body goes as it comes; nil where it does not.
    var sink: Sink? {
        guard case .streaming(let origin, let pacer) = self.state else { return nil }
        return Sink(origin: origin, pacer: pacer)
    }

    /// Ends it where it goes to the origin as it comes.
    ///
    /// - Returns: what is to be told that this was all.
    mutating func finish() -> Sink? {
        let sink = self.sink
        // A pace goes on until everything has left.
        if sink?.pacer == nil, sink != nil { self.state = .over }
        return sink
    }

    /// Keeps the pace of the route, where it has one.
    var pacer: BodyPacer? { self.sink?.pacer }

    /// Ends it, whatever is left.
    mutating func stop() {
        if case .streaming(_, let pacer) = self.state { pacer?.stop() }
        self.state = .over
    }

    /// Ends it where it goes to the origin, which is gone.
    mutating func originIsGone() { if case .streaming = self.state { self.stop() } }
}
