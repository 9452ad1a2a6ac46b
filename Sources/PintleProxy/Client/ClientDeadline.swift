// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The time by which a client has to do the next thing that is expected of it: a pure value, for a timer that fires at the
/// earliest deadline so far.
struct ClientDeadline {
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
        fileprivate var isAboutArrivals: Bool {
            switch self {
            case .firstHead, .nextHead, .restOfHead, .body: true
            case .clientToRead, .clientToClose, .nothing: false
            }
        }

        /// True if the client has to read bytes, or to close.
        fileprivate var isAboutReading: Bool {
            switch self {
            case .clientToRead, .clientToClose: true
            case .firstHead, .nextHead, .restOfHead, .body, .nothing: false
            }
        }
    }

    /// The next step of a timer that has fired.
    enum Step: Equatable {
        /// Do nothing: nothing is expected.
        case none
        /// Fire again at this time.
        case wait(until: NIODeadline)
        /// Read bytes that have arrived, then look again.
        case readArrivals
        /// Expect the same once more.
        case renew(Expectation)
        /// The client is too late for this.
        case late(Expectation)
    }

    private var expectation = Expectation.nothing
    /// Nil if the client may take its time.
    private(set) var end: NIODeadline?
    /// The bytes that the client had not read when it was last expected to read.
    private var pendingBytes = 0

    /// The time for which a connection stays open after its last response, if the client does not close it.
    static let lingering = TimeAmount.seconds(2)

    /// Expects something else, or the same once more.
    ///
    /// - Parameters:
    ///   - timeouts: the present timeouts, not those at the time of the connection.
    ///   - pendingBytes: the written bytes that the client has not read.
    mutating func expect(
        _ expectation: Expectation, at now: NIODeadline, _ timeouts: Timeouts, pendingBytes: Int
    ) {
        let before = self.expectation
        self.expectation = expectation
        // A head that arrives byte by byte does not get more time with each byte.
        if expectation == .restOfHead, before == .restOfHead || before == .firstHead { return }
        self.pendingBytes = pendingBytes
        self.end =
            switch expectation {
            case .firstHead, .restOfHead: now + timeouts.head
            case .nextHead: now + timeouts.idle
            case .body, .clientToRead: now + timeouts.body
            case .clientToClose: now + (pendingBytes > 0 ? timeouts.body : Self.lingering)
            case .nothing: nil
            }
    }

    /// True if another request has been awaited since `time` or earlier.
    func isIdle(since time: NIODeadline, _ timeouts: Timeouts) -> Bool {
        guard case .nextHead = self.expectation, let end else { return false }
        return end - timeouts.idle <= time
    }

    /// Decides what follows when the timer fires.
    ///
    /// - Parameters:
    ///   - pendingBytes: the written bytes that the client has not read.
    ///   - hasReadArrivals: true if the bytes that had arrived by `now` are read.
    func step(at now: NIODeadline, pendingBytes: Int, hasReadArrivals: Bool) -> Step {
        guard let end else { return .none }
        guard end <= now else { return .wait(until: end) }
        // A late event loop may not yet have read bytes that arrived in time.
        if self.expectation.isAboutArrivals, !hasReadArrivals { return .readArrivals }
        // The client reads, but slowly.
        if self.expectation.isAboutReading, pendingBytes != self.pendingBytes { return .renew(self.expectation) }
        return .late(self.expectation)
    }
}
