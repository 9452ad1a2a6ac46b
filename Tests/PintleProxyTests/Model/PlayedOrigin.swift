// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintlePolicy
import PintleTrust

@testable import PintleProxy
@testable import PintleSession

/// An origin without the answers and comparisons of a particular kind of course: it refuses calls that a transfer would not accept.
class PlayedOrigin: OriginStream {
    let verdict: Verdict? = nil
    let proxyVerdict: Verdict? = nil
    var responseVersion: String { "1.1" }
    final private(set) var unsentBodyBytes = 0
    final private(set) var isOver = false
    final private(set) var hasFailed = false
    final var isSlow = false
    final var endsWhenGiven = false
    final let request: TransferRequest
    /// Nil after its end.
    final private(set) var delegate: (any TransferDelegate)?
    /// Bytes of the body that it has got.
    final private(set) var received = 0
    final private(set) var hasWholeBody: Bool
    final private(set) var isPaused = false

    init(_ request: TransferRequest, _ delegate: any TransferDelegate) {
        (self.request, self.delegate) = (request, delegate)
        self.hasWholeBody = !request.body.isStreamed
    }

    // MARK: For courses

    var hasAnswered: Bool { preconditionFailure("each course says so") }

    func breach(_ sentence: String) { preconditionFailure("each course notes it") }

    /// Compares bytes of the body, which come after ``received``, with the client's.
    func compare(_ bytes: ByteBuffer) { preconditionFailure("each course compares") }

    /// Compares the end of the body with the client's.
    func compareEnd(trailers: Fields) { preconditionFailure("each course compares") }

    /// Gives the rest of the answer, and ends.
    func playEnd() { preconditionFailure("each course ends") }

    final func noteFailure() { self.hasFailed = true }

    // MARK: Actions of the origin

    final func playFailure() {
        guard !self.isOver else { return }
        self.hasFailed = true
        self.tellEnd(
            self.hasAnswered
                ? SessionError(.truncated, "it broke off") : SessionError(.connectFailure, "nobody is there"))
    }

    final func tellEnd(_ error: SessionError?) { self.takeDelegate()?.originEnded(error, TransferMetrics()) }

    /// Ends without a word.
    final func takeDelegate() -> (any TransferDelegate)? {
        defer { (self.isOver, self.delegate) = (true, nil) }
        return self.delegate
    }

    final func playTaking() {
        let count = self.unsentBodyBytes
        guard !self.isOver, count > 0 else { return }
        self.unsentBodyBytes = 0
        self.delegate?.originTookBody(count)
    }

    // MARK: Calls of the exchange

    final func send(_ bytes: ByteBuffer) {
        guard !self.isOver, !self.hasWholeBody else {
            return self.breach("gets a body that is not streamed, or is over")
        }
        self.compare(bytes)
        self.received += bytes.readableBytes
        if let length = self.request.body.length, self.received > length {
            self.breach("gets \(self.received) bytes of \(length)")
        }
        if self.isSlow { self.unsentBodyBytes += bytes.readableBytes }
        self.tellGiven()
    }

    final func finishBody(trailers: Fields) {
        guard !self.isOver, !self.hasWholeBody else { return self.breach("a body ends that is over") }
        self.hasWholeBody = true
        self.compareEnd(trailers: trailers)
        self.tellGiven()
    }

    private func tellGiven() { if self.endsWhenGiven, self.hasAnswered { self.playEnd() } }

    final func pauseReading() { if self.isAsked("paused") { self.isPaused = true } }

    final func resumeReading() { if self.isAsked("resumed") { self.isPaused = false } }

    final func takePipes() { _ = self.isAsked("to use pipes") }

    final func cancel() { if self.isAsked("cancelled") { _ = self.takeDelegate() } }

    private func isAsked(_ what: String) -> Bool {
        if self.isOver { self.breach("is \(what) after its end") }
        return !self.isOver
    }
}
