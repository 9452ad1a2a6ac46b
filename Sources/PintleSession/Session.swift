// SPDX-License-Identifier: Apache-2.0

public import NIOCore
package import PintleLoop
public import PintleTrust

/// Connections to origins under one security policy.
///
/// As in AFNetworking, a session has exactly one policy: connections, TLS sessions and verdicts are never shared with
/// another session, so nothing that was verified under one policy serves under a second.
public final class Session: Sendable {
    /// How connections are used.
    public let configuration: SessionConfiguration
    /// What the servers' certificates must satisfy.
    public let policy: SecurityPolicy
    /// Whether a valid chain that matches no pin is accepted and reported.
    public let reportsOnly: Bool
    private let engine: Engine
    private let pools: [TransferPool]

    /// Makes a session on every loop of `engine`.
    ///
    /// - Parameters:
    ///   - reportsOnly: whether a valid chain that matches no pin is accepted and reported.
    ///   - judge: asked for each address before it is dialled; nil allows all.
    /// - Throws: `TrustError` when the policy's roots cannot be loaded.
    public init(
        engine: Engine, configuration: SessionConfiguration = SessionConfiguration(),
        policy: SecurityPolicy = .default, reportsOnly: Bool = false, judge: (any AddressJudge)? = nil
    ) throws(TrustError) {
        let evaluator = try TrustEvaluator(policy: policy, reportsOnly: reportsOnly)
        self.engine = engine
        self.configuration = configuration
        self.policy = policy
        self.reportsOnly = reportsOnly
        self.pools = engine.loops.map {
            TransferPool(loop: $0, configuration: configuration, evaluator: evaluator, judge: judge)
        }
    }

    deinit {
        for pool in self.pools { pool.loop.execute { pool.closeAll() } }
    }

    /// Starts a transfer on `loop`, one of the engine's, from that loop's thread.
    ///
    /// The delegate is held until it is told of the end, and is told everything on the same thread.
    package func start(_ request: TransferRequest, on loop: Loop, delegate: any TransferDelegate) -> Transfer {
        let pool = self.pools[loop.index]
        precondition(pool.loop === loop, "BUG: the loop is not one of the session's engine")
        return pool.start(request, delegate: delegate)
    }

    /// Sends a request and waits for the response's head; the body streams behind it.
    ///
    /// Cancelling the task cancels the transfer.
    ///
    /// - Parameter body: the request's body, which replaces `request.body`; it is read as fast as the upstream takes it.
    /// - Throws: ``SessionError`` when no final response head arrives. What goes wrong later is thrown by the body.
    public func send(
        _ request: TransferRequest, body: AsyncStream<ByteBuffer>? = nil
    ) async throws(SessionError) -> SessionResponse {
        let loop = self.engine.loops[Int.random(in: self.engine.loops.indices)]
        return try await SessionTask(session: self, loop: loop).run(request, body: body)
    }

    /// Cancels what is running and closes every connection. Must not be called from a loop.
    public func close() {
        for pool in self.pools {
            try? pool.loop.submit { pool.closeAll() }.wait()
        }
    }

    /// How many transfers are under way; for shutting down and for tests.
    public func runningTransfers() -> Int {
        self.pools.reduce(0) { sum, pool in sum + ((try? pool.loop.submit { pool.runningCount }.wait()) ?? 0) }
    }
}
