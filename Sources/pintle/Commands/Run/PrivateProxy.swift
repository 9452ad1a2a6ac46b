// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintlePolicy
internal import PintleProxy
internal import PintleReachability
internal import PintleSession
internal import PintleSystem
internal import PintleTrust

/// A proxy inside this process, for the one command that it runs.
struct PrivateProxy {
    let address: ProxyAddress
    private let engine: Engine
    private let activity: Activity
    private let reachability: Reachability
    private let active: ActiveConfiguration
    private let proxy: Proxy

    /// The time that exchanges may still take after their client has ended.
    private static let patience = Duration.seconds(1)

    /// Starts to serve.
    ///
    /// - Parameters:
    ///   - listener: a socket that already listens at the policy's address; nil to open one.
    ///   - observer: receives more details than the record has; nil if the run is not used for learning.
    ///   - take: receives the record of every exchange at its end, on the thread on which it ended.
    init(
        _ policy: Policy, trust: RunTrust?, listener: Int32? = nil, observer: ExchangeObserver? = nil, logger: Logger,
        telling take: @escaping @Sendable (ExchangeRecord) -> Void
    ) throws(CommandFailure) {
        let configuration = policy.configuration
        self.engine = try ServerFactory.engine(configuration)
        let counters = Counters(routes: policy.routes.routes.map(\.name))
        self.activity = ServerFactory.activity(configuration, counters, self.engine, logger)
        self.reachability = ServerFactory.reachability(self.engine, logger)
        do {
            self.active = try ActiveConfiguration(
                policy: policy, engine: self.engine, activity: self.activity, counters: counters,
                exchangeLog: ExchangeLog(givingTo: take), observer: observer, logger: logger,
                reachability: self.reachability
            ) { configuration throws(TrustError) in
                if let trust { return trust.authority }
                return try ActiveConfiguration.noAuthority(configuration)
            }
        } catch {
            throw CommandFailure(.incomplete, error.message)
        }
        do {
            self.proxy = try Proxy(active: self.active, engine: self.engine, given: listener.map { [$0] } ?? [])
        } catch {
            throw CommandFailure(.incomplete, "\(error)")
        }
        guard let address = self.proxy.places.first.flatMap(ProxyAddress.init) else {
            preconditionFailure("BUG: a private proxy listens on an address")
        }
        self.address = address
        self.activity.start()
    }

    /// Ends everything. All records have been delivered when this returns.
    func stop(within limit: Duration) async {
        let patience = min(limit, Self.patience)
        _ = await self.proxy.drain(patience: .nanoseconds(patience.wholeNanoseconds))
        await self.active.close()
        self.reachability.stop()
        self.activity.stop()
        await self.engine.stopped()
    }
}
