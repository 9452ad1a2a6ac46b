// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSystem

/// All listeners of a proxy.
///
/// Each worker has its own listener on a TCP address, and the kernel distributes the connections. A Unix socket cannot be shared
/// in this way, nor can a socket given to the process: the first worker listens on it, and deals the accepted connections to all
/// workers in turn.
struct ListenerGroup: Sendable {
    /// The places where clients are served, with the ports that the system chose.
    let places: [ListenAddress]
    /// The TCP addresses of these places.
    let addresses: [SocketAddress]
    private let listeners: [LoopBound<Listener>]

    /// Receives a connection, on the worker's thread.
    typealias Acceptance = @Sendable (Int32, Listener.Peer, Worker, ListenAddress.Use) -> Void

    /// Binds and listens; connections are accepted after ``start()``.
    ///
    /// - Parameters:
    ///   - given: sockets that already listen on these places, in the same order; empty if there are none.
    ///   - captured: further sockets that listen, for connections to other destinations.
    init(
        _ wanted: [ListenAddress], given: [Int32], captured: [Int32], on workers: [Worker],
        accept: @escaping Acceptance
    ) throws(Proxy.BindError) {
        var places: [ListenAddress] = []
        var addresses: [SocketAddress] = []
        var listeners: [LoopBound<Listener>] = []
        for (index, place) in wanted.enumerated() {
            do {
                let new = try Self.listeners(
                    for: place, given: given.isEmpty ? nil : given[index], on: workers, accept)
                listeners += new.map { LoopBound($0.listener, loop: $0.worker.loop) }
                guard let address = new.first?.listener.address else { continue }
                places.append(place.with(port: address.port))
                if address.port != nil { addresses.append(address) }
            } catch {
                for listener in listeners { listener.runAndWait { $0.stop() } }
                let cause = (error as? IOError).map { SystemError($0.errnoCode).description } ?? "\(error)"
                throw Proxy.BindError(address: place.description, cause: cause)
            }
        }
        for descriptor in captured {
            do {
                let listener = try Self.listener(adopting: descriptor, on: workers, .capture, accept)
                listeners.append(LoopBound(listener, loop: workers[0].loop))
                addresses.append(listener.address)
            } catch {
                for listener in listeners { listener.runAndWait { $0.stop() } }
                throw Proxy.BindError(address: "the command's network", cause: "\(error)")
            }
        }
        (self.places, self.addresses, self.listeners) = (places, addresses, listeners)
    }

    func start() { for listener in self.listeners { listener.run { $0.start() } } }

    /// Stops listening; accepted connections stay.
    func stop() { for listener in self.listeners { listener.run { $0.stop() } } }

    private static func listeners(
        for place: ListenAddress, given: Int32?, on workers: [Worker], _ accept: @escaping Acceptance
    ) throws -> [(listener: Listener, worker: Worker)] {
        let use = place.use
        if let given { return [(try Self.listener(adopting: given, on: workers, use, accept), workers[0])] }
        switch place.place {
        case .address(let ip, let port):
            var address = try SocketAddress(ipAddress: ip.description, port: Int(port))
            let isShared = workers.count > 1
            if isShared { try Listener.checkFree(address) }
            return try workers.map { worker in
                let listener = try Listener(binding: address, shared: isShared, loop: worker.loop) {
                    accept($0, $1, worker, use)
                }
                // The first listener has chosen the port for all.
                address = listener.address
                return (listener, worker)
            }
        case .unix(let path):
            let address = try SocketAddress(pathOfSocket: path)
            let listener = try Listener(
                binding: address, shared: false, loop: workers[0].loop, accepted: Self.deal(to: workers, use, accept))
            return [(listener, workers[0])]
        }
    }

    private static func listener(
        adopting descriptor: Int32, on workers: [Worker], _ use: ListenAddress.Use, _ accept: @escaping Acceptance
    ) throws -> Listener {
        try Listener(adopting: descriptor, loop: workers[0].loop, accepted: Self.deal(to: workers, use, accept))
    }

    /// Deals accepted connections to all workers in turn.
    private static func deal(
        to workers: [Worker], _ use: ListenAddress.Use, _ accept: @escaping Acceptance
    ) -> Listener.Acceptance {
        let dealer = RoundRobin(workers)
        return { descriptor, peer in dealer.deal { accept(descriptor, peer, $0, use) } }
    }
}

/// Deals the connections that the first worker accepts to all workers in turn. Used on the first worker's thread.
private final class RoundRobin {
    private let workers: [Worker]
    private var next = 0

    init(_ workers: [Worker]) { self.workers = workers }

    func deal(_ work: @escaping @Sendable (Worker) -> Void) {
        let worker = self.workers[self.next]
        self.next = (self.next + 1) % self.workers.count
        if worker === self.workers[0] { work(worker) } else { worker.loop.execute { work(worker) } }
    }
}

extension ListenAddress {
    /// The address with the port that the system chose.
    fileprivate func with(port: Int?) -> ListenAddress {
        guard case .address(let address, _) = self.place, let port = port.flatMap({ UInt16(exactly: $0) }) else {
            return self
        }
        return ListenAddress(address: address, port: port, use: self.use)
    }
}
