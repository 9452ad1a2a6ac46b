// SPDX-License-Identifier: Apache-2.0

public import NIOCore
internal import PintleLoop
public import PintleSession
internal import PintleSystem

/// Reports if other networks, a host or an address can be reached, from this machine's links, addresses and routes.
///
/// Sends nothing, so it knows nothing beyond the first router. A status can explain a failure or tell when to try again; it
/// is no reason not to send a request. Safe on every thread.
public final class Reachability: Sendable {
    /// The destination that is observed.
    public enum Destination: Sendable {
        /// Other networks in general: a default route.
        case system
        /// A host by name or address. A name is looked up at the start, and again whenever the network changes.
        case host(String)
        /// An IPv4 or IPv6 address; its port is ignored.
        case address(SocketAddress)
    }

    private struct State {
        var status = ReachabilityStatus.unknown
        /// The status that subscribers received last; nil before the first delivery.
        var announced: ReachabilityStatus?
        var block: (@Sendable (ReachabilityStatus) -> Void)?
        var observation: DestinationObservation?
        /// True if the current observation has delivered nothing yet.
        var isFresh = false
    }

    /// The destination that is observed.
    public let destination: Destination
    private let loop: Loop
    private let state = Locked(State())
    private let deliveries = EventBroadcast<ReachabilityStatus>(.bufferingNewest(16))

    /// Creates an object that is not started and knows nothing. It never uses the network itself.
    ///
    /// - Parameter engine: one of its threads watches; it must live until the watching stops.
    public init(_ destination: Destination = .system, engine: Engine) {
        self.destination = destination
        self.loop = engine.loops[0]
    }

    /// Creates an object as ``init(_:engine:)`` does, on the engine that the program's sessions share.
    ///
    /// - Throws: `SessionError` with `internalError` if that engine cannot be started.
    public convenience init(_ destination: Destination = .system) throws(SessionError) {
        self.init(destination, engine: try Engine.shared.get())
    }

    deinit {
        self.stop()
        self.deliveries.finish()
    }

    /// The status that was delivered last; unknown before the first delivery.
    public var status: ReachabilityStatus { self.state.withLock { $0.status } }

    /// The statuses delivered from now on, after the last one if there was one. Each access creates a subscriber of its
    /// own; a slow one misses all but the last 16 statuses. The stream ends with the object.
    public var changes: AsyncStream<ReachabilityStatus> {
        self.state.withLock { self.deliveries.subscribe(beginningWith: $0.announced) }
    }

    /// Sets the block that is called with each delivery, before ``changes`` receives it; nil removes it. It is called on a
    /// thread of the engine and must not block.
    public func onChange(_ block: (@Sendable (ReachabilityStatus) -> Void)?) {
        // Released outside of the lock: the deinit of what it holds may ask for the status.
        let old = self.state.withLock { state in
            defer { state.block = block }
            return state.block
        }
        withExtendedLifetime(old) {}
    }

    /// Starts to watch; starts again if it already does. The first status is delivered soon, and then each that differs
    /// from the one before.
    ///
    /// - Throws: `SessionError` with `internalError` if the kernel's routing tables cannot be read.
    public func start() throws(SessionError) {
        let observation = try DestinationObservation(of: self.destination, on: self.loop)
        let replaced = self.state.withLock { state in
            defer { (state.observation, state.isFresh) = (observation, true) }
            return state.observation
        }
        replaced?.stop()
        observation.start { [weak self, weak observation] status in
            if let observation { self?.deliver(status, from: observation) }
        }
    }

    /// Stops watching. The status stays as it was; a delivery that has begun on the engine's thread is completed.
    public func stop() {
        let observation = self.state.withLock { state in
            defer { state.observation = nil }
            return state.observation
        }
        observation?.stop()
    }

    /// Returns the status of an address by the current routes; unknown while not watching.
    package func status(of address: SocketAddress) -> ReachabilityStatus {
        self.state.withLock { $0.observation }?.watch.status(of: address) ?? .unknown
    }

    /// True if one of the system's name servers can be reached, as far as is known.
    ///
    /// - Parameter elsewhere: true if servers on this machine do not count; such a server may have to ask others itself.
    package func canReachNameServer(elsewhere: Bool = false) -> Bool {
        NameServers.current().contains { server in
            (!elsewhere || !server.isLoopback) && self.status(of: server) != .notReachable
        }
    }

    /// Delivers a status: sets the property first, then calls the block, then notifies the subscribers.
    private func deliver(_ status: ReachabilityStatus, from observation: DestinationObservation) {
        let delivery: (block: (@Sendable (ReachabilityStatus) -> Void)?, isDue: Bool)
        delivery = self.state.withLock { state in
            guard state.observation === observation, state.isFresh || status != state.status else {
                return (nil, false)
            }
            state.isFresh = false
            state.status = status
            return (state.block, true)
        }
        guard delivery.isDue else { return }
        delivery.block?(status)
        self.state.withLock { state in
            state.announced = status
            self.deliveries.post(status)
        }
    }
}

extension SocketAddress {
    fileprivate var isLoopback: Bool {
        switch self {
        case .v4: self.ipAddress?.hasPrefix("127.") == true
        case .v6: self.ipAddress == "::1"
        case .unixDomainSocket: false
        }
    }
}
