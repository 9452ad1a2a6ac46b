// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintleSession
internal import PintleTrust

/// Stands for the origin in an ``Exchange``: takes the request, and gives the response.
protocol OriginStream: AnyObject {
    /// The verdict on the chain of the origin.
    var verdict: Verdict? { get }
    /// The verdict on the chain of an https parent, where the connection was made for this request.
    var proxyVerdict: Verdict? { get }
    /// The version of the response, once its head has come: `1.0`, `1.1` or `2`.
    var responseVersion: String { get }
    /// Measurements of the connection and the request so far.
    var metrics: TransferMetrics { get }
    /// Bytes of the request's body that wait to be sent.
    var unsentBodyBytes: Int { get }
    /// Bytes of the request's body that are in memory, with those that may have to be sent again.
    var heldBodyBytes: Int { get }
    /// Sends bytes of a streamed body.
    func send(_ bytes: ByteBuffer)
    /// Moves bytes that have come at a socket to the origin, as the next of a streamed body whose length is known.
    ///
    /// - Parameter limit: the most bytes.
    /// - Returns: `isUnfit` if they have to be received and sent.
    func moveBody(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling
    /// Ends a streamed body.
    func finishBody(trailers: Fields)
    /// Takes no more of the response for now.
    func pauseReading()
    /// Takes more of the response.
    func resumeReading()
    /// Has the rest of the response moved through pipes, where that can be.
    func takePipes()
    /// Gives the request up. Nothing more is heard of it.
    func cancel()
    /// The fate of the request where answers are kept; nil where they are not.
    var cacheOutcome: CacheOutcome? { get }
    /// Waits for the answer no longer. Where it is to be kept, it comes all the same.
    func detach()
}

extension OriginStream {
    var metrics: TransferMetrics { TransferMetrics() }

    var cacheOutcome: CacheOutcome? { nil }

    func detach() { self.cancel() }

    func moveBody(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling { .isUnfit }

    var heldBodyBytes: Int { self.unsentBodyBytes }
}

extension Transfer: OriginStream {}

/// Opens streams to origins: a ``Session`` does, and in tests whatever records what is asked.
protocol OriginOpener {
    /// Sends a request, whose response the delegate is told of in later turns.
    func open(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate
    ) -> any OriginStream
}

/// Opens streams over the connections of sessions.
struct SessionOrigins: OriginOpener {
    let loop: Loop

    func open(
        _ request: consuming TransferRequest, in session: Session, for delegate: any TransferDelegate
    ) -> any OriginStream {
        session.start(consume request, on: self.loop, delegate: delegate)
    }
}

extension Exchange: TransferDelegate {}
