// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleCache
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

/// The origin's side of an ``Exchange``: takes the request, and supplies the response.
protocol OriginStream: AnyObject {
    /// The verdict on the origin's certificate chain.
    var verdict: Verdict? { get }
    /// The verdict on the chain of an https upstream proxy, if the connection was made for this request.
    var proxyVerdict: Verdict? { get }
    /// The version of the response, once its head has arrived: `1.0`, `1.1` or `2`.
    var responseVersion: String { get }
    /// Measurements of the connection and of the request so far.
    var metrics: TransferMetrics { get }
    /// The bytes of the request's body that wait to be sent.
    var unsentBodyBytes: Int { get }
    /// The bytes of the request's body in memory, including those that may have to be sent again.
    var heldBodyBytes: Int { get }
    /// Sends bytes of a streamed body.
    func send(_ bytes: ByteBuffer)
    /// Moves bytes that have arrived at a socket to the origin, as the next ones of a streamed body with a known length.
    ///
    /// - Parameter limit: the most bytes to move.
    /// - Returns: `isUnfit` if the bytes must be received and sent.
    func moveBody(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling
    /// Ends a streamed body.
    func finishBody(trailers: Fields)
    /// Stops reading the response until ``resumeReading()``.
    func pauseReading()
    /// Reads on.
    func resumeReading()
    /// Moves the rest of the response through pipes, if possible.
    func takePipes()
    /// Cancels the request. The delegate hears nothing more of it.
    func cancel()
    /// The cache outcome of the request; nil if it did not use the cache.
    var cacheOutcome: CacheOutcome? { get }
    /// The kind of answer, if it is not the origin's own; nil for an origin or a cache.
    var simulation: Simulation? { get }
    /// True if the client is to see the response even if it breaks the rules of the route.
    var isUnjudged: Bool { get }
    /// The way in which the client is to see the end of the response, if a fault has caused it.
    var clientFault: ClientFault? { get }
    /// The choices by which a fault has made the response, for the log; nil without any.
    var simulationNote: String? { get }
    /// The differences between the response and its recording, at the end.
    var differences: [String] { get }
    /// Keeps the messages of the connection that is handed over; nil if nothing does.
    var messageKeeper: (any MessageKeeper)? { get }
    /// Leaves the response. If it is to be cached, the transfer continues; otherwise it is cancelled.
    func detach()
}

extension OriginStream {
    var metrics: TransferMetrics { TransferMetrics() }

    var cacheOutcome: CacheOutcome? { nil }

    var simulation: Simulation? { nil }

    /// True if the response comes from the origin, for this exchange.
    var isUpstream: Bool {
        // A fault may change the response of an origin.
        if self.simulation != nil { return !self.metrics.address.isEmpty }
        return self.cacheOutcome?.isFromOrigin ?? true
    }

    var isUnjudged: Bool { false }

    var clientFault: ClientFault? { nil }

    var simulationNote: String? { nil }

    var differences: [String] { [] }

    var messageKeeper: (any MessageKeeper)? { nil }

    func detach() { self.cancel() }

    func moveBody(from descriptor: Int32, atMost limit: UInt64) -> PipedBytes.Filling { .isUnfit }

    var heldBodyBytes: Int { self.unsentBodyBytes }
}

extension Transfer: OriginStream {}

/// Opens streams to origins: sessions in production, recorders in tests.
protocol OriginOpener {
    /// Sends a request. The delegate gets the response in later turns.
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

/// The part of Pintle that a request passes on its way to the origin, and that may answer instead.
enum Detour {
    case cache(CacheLookup)
    case simulation(PlannedSimulation)

    /// A simulation leaves the cache out.
    init?(_ question: CacheLookup?, _ simulation: PlannedSimulation?, _ judge: ResponseValidator?) {
        if var simulation {
            simulation.judge = judge
            self = .simulation(simulation)
        } else if let question {
            self = .cache(question)
        } else {
            return nil
        }
    }
}
