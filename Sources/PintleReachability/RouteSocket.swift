// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
internal import NIOCore
internal import PintleSession
internal import PintleSystem

/// A socket to the kernel's routing tables, for the network namespace in which it was opened.
///
/// The kernel answers a request during the call that sends it, so no call here blocks.
final class RouteSocket: Sendable {
    /// The route to an address.
    enum Answer: Equatable {
        /// Packets leave over the link with this index.
        case over(Int32)
        /// There is no route: connect(2) would fail at once.
        case nowhere
        /// The kernel did not answer.
        case unknown
    }

    /// The changes that a listening socket received, by the work that they require.
    enum News: Comparable {
        case nothing
        /// Routes other than default routes; a router may have a million of them.
        case routes
        /// Links, addresses or default routes changed, or a message was lost.
        case tables
    }

    let descriptor: Int32
    private let sequence = Locked<UInt32>(0)

    /// The size of the largest datagram into which the kernel splits a dump.
    private static let capacity = 64 * 1024

    /// - Parameter listening: true for a socket that receives changes, false for one that sends requests.
    init(listening: Bool) throws(SessionError) {
        self.descriptor = pintle_route_socket(listening ? 1 : 0)
        guard self.descriptor >= 0 else {
            throw SessionError(
                .internalError, "the routing tables cannot be read; reachability stays unknown",
                cause: "netlink socket: \(SystemError.last)")
        }
    }

    deinit { close(self.descriptor) }

    /// Reads all messages that a listening socket received.
    func drain() -> News {
        var news = News.nothing
        while true {
            switch self.receive() {
            case .datagram(let messages): news = messages.reduce(news) { max($0, $1.news) }
            case .lost: news = .tables
            case .nothing: return news
            }
        }
    }

    /// Reads the tables; returns nil if the kernel refuses.
    func snapshot() -> NetworkState? {
        // A dump that a change interrupts is repeated. Three times at most: the next change will be reported anyway.
        for _ in 0..<3 {
            var state = NetworkState()
            var isWhole = true
            for table in [PINTLE_GET_LINK, PINTLE_GET_ADDRESS, PINTLE_GET_ROUTE] {
                let isComplete = self.ask(isDump: true, { RouteRequest.dump(table, sequence: $0) }) { message in
                    isWhole = isWhole && !message.isInterrupted
                    state.add(message.content)
                }
                guard isComplete else { return nil }
            }
            if isWhole { return state.describingLinks() }
        }
        return nil
    }

    /// Asks the kernel for the route to `address`.
    func route(to address: SocketAddress) -> Answer {
        var answer = Answer.unknown
        _ = self.ask(isDump: false, { RouteRequest.route(to: address, sequence: $0) }) { message in
            switch message.content {
            case .route(let route): answer = route.carries ? route.links.first.map { .over($0) } ?? .unknown : .nowhere
            // EINVAL means a black hole, EACCES a prohibited route.
            case .failure(ENETUNREACH), .failure(EHOSTUNREACH), .failure(EACCES), .failure(EINVAL): answer = .nowhere
            case .link, .address, .end, .failure, .other: break
            }
        }
        return answer
    }

    /// True if packets to `address` stay on this machine because the address is its own. The kernel includes loopback and
    /// the unspecified address.
    func isLocal(_ address: SocketAddress) -> Bool {
        var isLocal = false
        _ = self.ask(isDump: false, { RouteRequest.route(to: address, sequence: $0) }) { message in
            if case .route(let route) = message.content { isLocal = route.isLocal }
        }
        return isLocal
    }

    // MARK: Inside

    private enum Received { case datagram([RouteMessage]), lost, nothing }

    private func receive() -> Received {
        var count: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: Self.capacity) { space, filled in
            count = pintle_route_receive(self.descriptor, space.baseAddress, Int32(space.count))
            filled = max(0, Int(count))
        }
        if count >= 0 { return .datagram(RouteMessage.parse(bytes[...])) }
        return errno == ENOBUFS ? .lost : .nothing
    }

    /// Sends a request and calls `take` with each message of the answer.
    ///
    /// - Returns: true if the answer is complete.
    private func ask(
        isDump: Bool, _ question: (_ sequence: UInt32) -> [UInt8]?, _ take: (RouteMessage) -> Void
    ) -> Bool {
        // Locked until the answer is read, because several threads send requests.
        self.sequence.withLock { sequence in
            sequence &+= 1
            guard let bytes = question(sequence), send(self.descriptor, bytes, bytes.count, 0) == bytes.count else {
                return false
            }
            while case .datagram(let messages) = self.receive() {
                for message in messages where message.sequence == sequence {
                    take(message)
                    if message.content == .end { return true }
                    if case .failure = message.content { return !isDump }
                    if !isDump { return true }
                }
            }
            return false
        }
    }
}

extension RouteMessage {
    fileprivate var news: RouteSocket.News {
        switch self.content {
        case .link, .address: .tables
        case .route(let route): route.isDefault ? .tables : .routes
        case .end, .failure, .other: .nothing
        }
    }
}

extension NetworkState {
    /// Adds the properties of links that only sysfs has.
    fileprivate consuming func describingLinks() -> NetworkState {
        for (index, link) in self.links where !link.isLoopback {
            let lines = FileBytes.text("/sys/class/net/\(link.name)/uevent").split(separator: "\n")
            let type = lines.first { $0.hasPrefix("DEVTYPE=") }
            self.links[index]?.deviceType = type.map { String($0.dropFirst(8)) }
        }
        return self
    }
}
