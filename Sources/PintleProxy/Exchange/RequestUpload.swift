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
    /// True once the client has sent all of it.
    private(set) var hasEnded: Bool

    init(_ framing: BodyFraming, limit: Int) {
        self.hasEnded = framing == .none
        self.limit = limit
    }

    /// Whether more is taken now.
    var wantsBody: Bool {
        switch self.state {
        case .waiting: false
        case .collecting(let held): held.readableBytes <= self.limit
        case .streaming: self.waitingBytes < Self.window
        case .over: true
        }
    }

    /// Whether the end is taken now: it needs no room.
    var wantsEnd: Bool { if case .waiting = self.state { false } else { true } }

    /// Bytes that were taken and that the origin has not.
    var waitingBytes: Int {
        guard case .streaming(let origin, let pacer) = self.state else { return 0 }
        return pacer?.waitingBytes ?? origin.unsentBodyBytes
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

    /// Takes a piece that the client has sent.
    ///
    /// - Returns: how many bytes are gathered by now; nil where it is not gathered.
    mutating func receive(_ bytes: ByteBuffer) -> Int? {
        switch self.state {
        case .waiting: preconditionFailure("BUG: a body comes that nobody takes yet")
        case .collecting(let held):
            // Taken out while it grows, so that it is not copied.
            self.state = .over
            let whole = Self.joined(held, bytes)
            self.state = .collecting(whole)
            return whole.readableBytes
        case .streaming:
            self.send(bytes)
            return nil
        case .over: return nil
        }
    }

    private static func joined(_ held: consuming ByteBuffer, _ bytes: ByteBuffer) -> ByteBuffer {
        var whole = held
        whole.writeImmutableBuffer(bytes)
        return whole
    }

    /// Notes that the client has sent all of it.
    mutating func noteEnd() {
        precondition(!self.hasEnded, "BUG: a body ends twice")
        self.hasEnded = true
    }

    func send(_ bytes: ByteBuffer) {
        guard case .streaming(let origin, let pacer) = self.state else {
            preconditionFailure("BUG: a body is sent that is not streamed")
        }
        if let pacer { pacer.send(bytes) } else { origin.send(bytes) }
    }

    /// Tells the origin that this was all, where it gets it as it comes.
    mutating func finish(trailers: Fields) {
        guard case .streaming(let origin, let pacer) = self.state else { return }
        if let pacer { return pacer.finish(trailers: trailers) }
        self.state = .over
        origin.finishBody(trailers: trailers)
    }

    /// Goes on at the pace of the route, once the origin has taken some.
    func proceed() { if case .streaming(_, let pacer) = self.state { pacer?.proceed() } }

    /// Ends it, whatever is left.
    mutating func stop() {
        if case .streaming(_, let pacer) = self.state { pacer?.stop() }
        self.state = .over
    }

    /// Ends it where it goes to the origin, which is gone.
    mutating func originIsGone() { if case .streaming = self.state { self.stop() } }
}
