// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSession
internal import PintleTrust

/// An origin known to be unreachable: it gets no request, and the delegate gets the error at the end of the turn.
final class UnreachableOrigin: OriginStream, TurnEndWork {
    private let error: SessionError
    private var delegate: (any TransferDelegate)?

    init(_ error: SessionError, on loop: Loop, for delegate: any TransferDelegate) {
        (self.error, self.delegate) = (error, delegate)
        loop.atEndOfTurn(self)
    }

    func runAtEndOfTurn() {
        let delegate = self.delegate
        self.delegate = nil
        delegate?.originEnded(self.error, TransferMetrics())
    }

    func cancel() { self.delegate = nil }

    var verdict: Verdict? { nil }
    var proxyVerdict: Verdict? { nil }
    var responseVersion: String { "" }
    var unsentBodyBytes: Int { 0 }

    /// The body is not sent anywhere.
    func send(_ bytes: ByteBuffer) {}

    func finishBody(trailers: Fields) {}

    func pauseReading() {}

    func resumeReading() {}

    func takePipes() {}
}
