// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
public import NIOCore
internal import PintleLoop
public import PintleSession
internal import PintleSystem

/// Tells whether other networks, a host or an address can be reached, from this machine's links, addresses and routes.
///
/// Nothing is sent: what is beyond the first router is not known. So a status explains a failure or tells when to try
/// again; it is no reason for not sending a request. Safe on every thread.
public final class Reachability: Sendable {
    /// What is asked about.
    public enum Destination: Sendable {
        /// Other networks in general: a default route.
        case system
        /// A host by name or address. A name is looked up at the start and whenever the network changes.
        case host(String)
        /// An IPv4 or IPv6 address; its port means nothing.
        case address(SocketAddress)
    }

    private struct State {
        var status = ReachabilityStatus.unknown
        /// What subscribers were told last; nil before the first delivery.
        var announced: ReachabilityStatus?
        var block: (@Sendable (ReachabilityStatus) -> Void)?
        var observation: Observation?
        /// Whether the present observation has delivered nothing yet.
        var isFresh = false
    }

    /// What is asked about.
    public let destination: Destination
    private let loop: Loop
    private let state = NIOLockedValueBox(State())
    private let deliveries = EventBroadcast<ReachabilityStatus>(.bufferingNewest(16))

    /// Makes a watch that is not started, and knows nothing. It does nothing on the network, here or later.
    ///
    /// - Parameter engine: one of its threads watches; it must outlive the watching.
    public init(_ destination: Destination = .system, engine: Engine) {
        self.destination = destination
        self.loop = engine.loops[0]
    }

    /// Makes a watch as ``init(_:engine:)`` does, on the engine that the program's sessions share.
    ///
    /// - Throws: `SessionError` with `internalError` where that engine cannot be started.
    public convenience init(_ destination: Destination = .system) throws(SessionError) {
        self.init(destination, engine: try Engine.shared.get())
    }

    deinit {
        self.stop()
        self.deliveries.finish()
    }

    /// The status of the last delivery; unknown before the first.
    public var status: ReachabilityStatus { self.state.withLockedValue { $0.status } }

    /// Every delivery from here on, after the last one where there was one. Each access is a subscriber of its own; who
    /// falls behind misses all but the last 16. It ends with the object.
    public var changes: AsyncStream<ReachabilityStatus> {
        self.state.withLockedValue { self.deliveries.subscribe(beginningWith: $0.announced) }
    }

    /// Sets the block that is called with each delivery, before ``changes`` has it; nil for none. It is called on a
    /// thread of the engine and must not block.
    public func onChange(_ block: (@Sendable (ReachabilityStatus) -> Void)?) {
        self.state.withLockedValue { $0.block = block }
    }

    /// Begins to watch, anew where it already does. The first status is delivered soon afterwards, and then each that
    /// differs from the one before.
    ///
    /// - Throws: `SessionError` with `internalError` where the kernel's routing tables cannot be read.
    public func start() throws(SessionError) {
        let observation = try Observation(of: self.destination, on: self.loop)
        let replaced = self.state.withLockedValue { state in
            defer { (state.observation, state.isFresh) = (observation, true) }
            return state.observation
        }
        replaced?.stop()
        observation.start { [weak self, weak observation] status in
            if let observation { self?.deliver(status, from: observation) }
        }
    }

    /// Stops watching. The status stays what it was; a delivery that has begun on the engine's thread is finished.
    public func stop() {
        let observation = self.state.withLockedValue { state in
            defer { state.observation = nil }
            return state.observation
        }
        observation?.stop()
    }

    /// The status of an address by the routes of this moment; unknown while not watching.
    package func status(of address: SocketAddress) -> ReachabilityStatus {
        self.state.withLockedValue { $0.observation }?.watch.status(of: address) ?? .unknown
    }

    /// Whether any of the system's name servers can be reached, as far as is known.
    ///
    /// - Parameter elsewhere: whether only those count that are not on this machine. One that is may have all its
    ///   knowledge from others.
    package func canReachNameServer(elsewhere: Bool = false) -> Bool {
        NameServers.current().contains { server in
            (!elsewhere || !server.isLoopback) && self.status(of: server) != .notReachable
        }
    }

    /// The status first, then the block, then the subscribers.
    private func deliver(_ status: ReachabilityStatus, from observation: Observation) {
        let delivery: (block: (@Sendable (ReachabilityStatus) -> Void)?, isDue: Bool)
        delivery = self.state.withLockedValue { state in
            guard state.observation === observation, state.isFresh || status != state.status else {
                return (nil, false)
            }
            state.isFresh = false
            state.status = status
            return (state.block, true)
        }
        guard delivery.isDue else { return }
        delivery.block?(status)
        self.state.withLockedValue { state in
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
