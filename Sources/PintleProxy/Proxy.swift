// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintleMessage
package import PintlePolicy
package import PintleSession

/// The listening proxy: accepts clients on every event loop of the engine, until it is drained.
package final class Proxy: Sendable {
    /// The places where clients are served, with the ports that the system chose.
    package var places: [ListenAddress] { self.listeners.places }
    private let workers: [Worker]
    private let listeners: ListenerGroup
    private let limiter: ConnectionLimiter
    private let processes: ProcessSearch
    private let ownAddresses: OwnAddresses

    /// An error for an address on which the proxy cannot listen.
    package struct BindError: Error, Sendable, CustomStringConvertible {
        package let address: String
        package let cause: String
        package var description: String { "cannot listen on \(self.address): \(self.cause)" }
    }

    /// Listens on the configuration's addresses and begins to accept.
    ///
    /// - Parameters:
    ///   - given: sockets that already listen, one for each place of the configuration; empty if there are none.
    ///   - captured: the sockets of a command's network.
    package init(
        active: ActiveConfiguration, engine: Engine, given: [Int32] = [], captured: CapturedSockets = .none
    ) throws(BindError) {
        let limiter = ConnectionLimiter()
        self.limiter = limiter
        let pool = WorkPool(memory: active.counters.memory)
        self.processes = ProcessSearch(diagnosis: captured.diagnosis)
        self.workers = engine.loops.map { [processes] loop in
            Worker(loop: loop, active: active, limiter: limiter, pool: pool, processes: processes)
        }
        self.listeners = try ListenerGroup(
            active.policy.configuration.listen, given: given, captured: captured.listeners, on: self.workers
        ) { descriptor, peer, worker, use in
            Self.accept(descriptor, from: peer, on: worker, use, captured)
        }
        self.ownAddresses = active.ownAddresses
        self.ownAddresses.set(self.listeners.addresses)
        self.listeners.start()
    }

    /// Puts another configuration into use, for every request that is received from now on. Active exchanges keep the old one.
    /// Returns when all event loops use the new configuration.
    ///
    /// - Parameter configuration: made as the continuation of the present one; its `listen` is ignored.
    package func replace(active: ActiveConfiguration) async {
        for worker in self.workers {
            // An event loop that has stopped takes no more requests.
            try? await worker.loop.submit { worker.replace(active: active) }.get()
        }
    }

    /// Prevents connections to these places, too: those of the endpoint for operators, which programs must not reach by the proxy.
    package func keepAway(from other: Proxy) {
        self.ownAddresses.set(self.listeners.addresses + other.listeners.addresses)
    }

    /// The exchanges and tunnels that have begun and not ended, in no order.
    package func running() async -> [RunningExchange] {
        var all: [RunningExchange] = []
        for worker in self.workers {
            // An event loop that has stopped serves no client.
            all += (try? await worker.loop.submit { worker.running }.get()) ?? []
        }
        return all
    }

    /// The outcomes of the searches for processes of clients.
    package var processSearches: ProcessSearch.Counts { self.processes.counts }

    /// The number of connected clients.
    package var connections: Int { self.limiter.total }

    /// Stops accepting, waits for exchanges and tunnels to end, and cuts the remaining ones after `patience`.
    ///
    /// - Returns: true if everything ended by itself.
    package func drain(patience: TimeAmount) async -> Bool {
        self.listeners.stop()
        let ends = self.workers.map { worker in
            let promise = worker.loop.makePromise(of: Void.self)
            worker.loop.execute { worker.drain(promise) }
            return promise
        }
        guard let loop = self.workers.first?.loop else { return true }
        let all = EventLoopFuture.andAllSucceed(ends.map(\.futureResult), on: loop).map { true }
        let timeUp = loop.scheduleTask(in: patience) { [workers = self.workers] in
            for worker in workers { worker.loop.execute { worker.closeAll() } }
        }
        let clean = loop.makePromise(of: Bool.self)
        timeUp.futureResult.whenSuccess { clean.succeed(false) }
        all.whenSuccess { _ in
            clean.succeed(true)
            timeUp.cancel()
        }
        return (try? await clean.futureResult.get()) ?? false
    }

    /// The most connections beyond the limit that get a response; further ones are closed without one.
    private static let refusalsAtATime = 256

    private static func accept(
        _ descriptor: Int32, from peer: Listener.Peer, on worker: Worker, _ use: ListenAddress.Use,
        _ captured: CapturedSockets
    ) {
        let isTLS = use == .proxyOverTLS
        let destination = use == .capture ? captured.destination(of: descriptor) : nil
        // A captured client has whatever address of its machine, but only clients of this machine reach its loopback.
        let client =
            use == .capture && captured.isOfMachine(descriptor) ? .address(IPAddress(v4: 0x7F00_0001)) : Client(peer)
        // A connection dealt to a draining worker has sent nothing yet, so its client can retry elsewhere. A TLS listener without
        // a certificate cannot exist.
        guard !worker.isDraining, !isTLS || worker.active.policy.listenTLS != nil,
            use != .capture || destination != nil
        else {
            close(descriptor)
            return
        }
        let tls = worker.active.policy.listenTLS.flatMap { isTLS ? TLSTransport($0, descriptor: descriptor) : nil }
        let channel = SocketChannel(
            descriptor: descriptor, loop: worker.loop, remoteAddress: peer.address, transport: tls)
        channel.account = worker.memory
        let overLimit = worker.limiter.enter(client, worker.active.limits)
        guard worker.limiter.total <= worker.active.limits.connections + Self.refusalsAtATime else {
            worker.limiter.leave(client)
            return channel.close0(error: ChannelError.eof, mode: .all, promise: nil)
        }
        let refusal = overLimit.map {
            Problem(.overloaded, "there are as many connections as \($0) allows")
        }
        let process = ClientProcess(peer, over: descriptor, isOfCommand: captured.diagnosis != nil)
        // As early as possible: a short-lived client is gone after its response.
        if let process, use == .capture || worker.active.sinks.wants.contains(.processes) {
            process.seek(by: worker.processes)
        }
        do {
            if let destination {
                try CapturedConnection.serve(
                    channel, to: destination, of: client, in: process, on: worker, refusal: refusal,
                    takesName: captured.diagnosis == nil)
            } else {
                let connection = ClientConnection(
                    worker: worker, channel: channel, tls: tls, client: client, process: process, refusal: refusal)
                try channel.pipeline.syncOperations.addHandler(connection)
                channel.start()
            }
        } catch {
            worker.limiter.leave(client)
            channel.close0(error: error, mode: .all, promise: nil)
        }
    }
}

extension Listener.Peer {
    fileprivate var address: SocketAddress? {
        guard case .address(let address) = self else { return nil }
        return address
    }
}
