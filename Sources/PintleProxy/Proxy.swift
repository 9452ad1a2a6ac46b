// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
package import PintleSession

/// The listening proxy: accepts clients on every loop of the engine, until it is drained.
package final class Proxy: Sendable {
    /// The addresses that are listened on, with the ports that the system chose.
    package let addresses: [SocketAddress]
    private let lanes: [Lane]
    private let listeners: [LoopBound<Listener>]
    private let census: ConnectionCensus

    /// An address cannot be listened on.
    package struct BindError: Error, Sendable, CustomStringConvertible {
        package let address: String
        package let cause: String
        package var description: String { "cannot listen on \(self.address): \(self.cause)" }
    }

    /// Listens on the gate's addresses and begins to accept.
    package init(gate: Gate, engine: Engine) throws(BindError) {
        let census = ConnectionCensus()
        self.census = census
        self.lanes = engine.loops.map { Lane(loop: $0, gate: gate, census: census) }
        var addresses: [SocketAddress] = []
        var listeners: [LoopBound<Listener>] = []
        for wanted in gate.policy.configuration.listen {
            do {
                var address = try SocketAddress(ipAddress: wanted.address.description, port: Int(wanted.port))
                if self.lanes.count > 1 { try Listener.checkFree(address) }
                for lane in self.lanes {
                    let listener = try Listener(binding: address, shared: self.lanes.count > 1, loop: lane.loop) {
                        Self.accept($0, from: $1, on: lane)
                    }
                    // The first one has chosen the port for all.
                    if lane === self.lanes.first { addresses.append(listener.address) }
                    address = listener.address
                    listeners.append(LoopBound(listener, loop: lane.loop))
                }
            } catch {
                for listener in listeners { listener.run { $0.stop() } }
                let cause = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
                throw BindError(address: wanted.description, cause: cause)
            }
        }
        gate.ownAddresses.set(addresses)
        self.addresses = addresses
        self.listeners = listeners
        for listener in listeners { listener.run { $0.start() } }
    }

    /// Puts another configuration in force, for every request that is received from now on. What is under way ends as it
    /// began. Returns when that is so on every loop.
    ///
    /// - Parameter gate: made to continue the one in force; its `listen` counts for nothing.
    package func replace(gate: Gate) async {
        for lane in self.lanes {
            // A loop that has stopped takes no more requests.
            try? await lane.loop.submit { lane.replace(gate: gate) }.get()
        }
    }

    /// How many clients are connected.
    package var connections: Int { self.census.total }

    /// Stops accepting, waits for exchanges and tunnels to end, and cuts what is left after `patience`.
    ///
    /// - Returns: whether everything ended by itself.
    package func drain(patience: TimeAmount) async -> Bool {
        for listener in self.listeners { listener.run { $0.stop() } }
        let ends = self.lanes.map { lane in
            let promise = lane.loop.makePromise(of: Void.self)
            lane.loop.execute { lane.drain(promise) }
            return promise
        }
        guard let loop = self.lanes.first?.loop else { return true }
        let all = EventLoopFuture.andAllSucceed(ends.map(\.futureResult), on: loop).map { true }
        let timeUp = loop.scheduleTask(in: patience) { [lanes = self.lanes] in
            for lane in lanes { lane.loop.execute { lane.closeAll() } }
        }
        let clean = loop.makePromise(of: Bool.self)
        timeUp.futureResult.whenSuccess { clean.succeed(false) }
        all.whenSuccess { _ in
            clean.succeed(true)
            timeUp.cancel()
        }
        return (try? await clean.futureResult.get()) ?? false
    }

    /// How many connections over the limit are told so; more are closed without a word.
    private static let refusalsAtATime = 256

    private static func accept(_ descriptor: Int32, from peer: SocketAddress?, on lane: Lane) {
        let client = peer.flatMap { IPAddress($0) }
        let channel = SocketChannel(descriptor: descriptor, loop: lane.loop, remoteAddress: peer)
        let overLimit = lane.census.enter(client, lane.gate.limits)
        guard lane.census.total <= lane.gate.limits.connections + Self.refusalsAtATime else {
            lane.census.leave(client)
            return channel.close0(error: ChannelError.eof, mode: .all, promise: nil)
        }
        var refusal: Problem?
        if let client, case .denied(let rule) = lane.gate.policy.clients.judge(client) {
            refusal = Problem(.clientDenied, "\(client) is not in \(rule)")
        } else if let overLimit {
            refusal = Problem(.overloaded, "there are as many connections as \(overLimit) allows")
        }
        let connection = ClientConnection(lane: lane, channel: channel, client: client, refusal: refusal)
        do {
            try channel.pipeline.syncOperations.addHandler(connection)
            channel.start()
        } catch {
            lane.census.leave(client)
            channel.close0(error: error, mode: .all, promise: nil)
        }
    }
}

/// Something that is used on one loop's thread only, held from elsewhere.
struct LoopBound<Value>: @unchecked Sendable {
    // Why @unchecked holds: `value` is reached through `run` alone, which hops to the loop.
    private let value: Value
    private let loop: Loop

    init(_ value: Value, loop: Loop) {
        self.value = value
        self.loop = loop
    }

    func run(_ work: @escaping @Sendable (Value) -> Void) { self.loop.execute { work(self.value) } }
}
