// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The sockets of a ``StubResolver`` and its turns. All of it belongs to one thread.
final class StubServer {
    /// The most connections at a time; others wait in the listeners' queues.
    static let mostConnections = 64
    /// The time after which a connection without a question is closed.
    static let idleTime = Duration.seconds(10)
    /// The time without new connections after one could not be accepted.
    private static let restTime = Duration.milliseconds(100)
    /// The most datagrams of a socket that are answered in a turn.
    private static let mostDatagrams = 64

    private struct Connection {
        let descriptor: Int32
        var conversation = StreamConversation()
        var deadline: ContinuousClock.Instant
    }

    private var datagrams: [Int32]
    private var listeners: [Int32]
    private let stop: Int32
    private let service: NameService
    private var connections: [Connection] = []
    /// No connection is accepted before this time.
    private var restEnd: ContinuousClock.Instant?
    private let space = DatagramSpace()

    init(datagrams: [Int32], listeners: [Int32], stop: Int32, service: NameService) {
        self.datagrams = datagrams
        self.listeners = listeners
        self.stop = stop
        self.service = service
        for listener in listeners { _ = fcntl(listener, F_SETFL, O_NONBLOCK) }
    }

    /// Serves until the descriptor `stop` can be read, and closes all others.
    func serve() {
        while self.turn() {}
        for descriptor in self.datagrams + self.listeners + self.connections.map(\.descriptor) { close(descriptor) }
    }

    // MARK: Turns

    private func turn() -> Bool {
        var now = ContinuousClock.now
        if let end = self.restEnd, end <= now { self.restEnd = nil }
        let isAccepting = self.restEnd == nil && self.connections.count < Self.mostConnections
        let question = { (descriptor: Int32, events: Int32) in
            pollfd(fd: descriptor, events: Int16(events), revents: 0)
        }
        var places = [question(self.stop, POLLIN)]
        places += self.datagrams.map { question($0, POLLIN) }
        // poll(2) passes over descriptors below zero.
        places += self.listeners.map { question(isAccepting ? $0 : -1, POLLIN) }
        places += self.connections.map { question($0.descriptor, $0.conversation.output.isEmpty ? POLLIN : POLLOUT) }
        let wake = self.connections.map(\.deadline).min().map { min($0, self.restEnd ?? $0) } ?? self.restEnd
        let count = poll(&places, nfds_t(places.count), wake.map { Self.milliseconds(now.duration(to: $0)) } ?? -1)
        guard count >= 0 else { return errno == EINTR }
        guard places[0].revents == 0 else { return false }
        now = .now
        let ready = places.map { $0.revents != 0 }
        let (first, second) = (1 + self.datagrams.count, 1 + self.datagrams.count + self.listeners.count)
        self.serveConnections(ready[second...], now)
        for (socket, isReady) in zip(self.datagrams, ready[1..<first]) where isReady { self.serveDatagrams(socket) }
        for (listener, isReady) in zip(self.listeners, ready[first..<second]) where isReady {
            self.accept(listener, now)
        }
        return true
    }

    /// Rounds up: a turn before the time would find nothing to do.
    private static func milliseconds(_ duration: Duration) -> Int32 {
        let (seconds, attoseconds) = duration.components
        return Int32(clamping: max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
    }

    // MARK: Datagrams

    private func serveDatagrams(_ socket: Int32) {
        for _ in 0..<Self.mostDatagrams {
            guard self.space.receive(socket) else { return }
            // An answer that does not fit into the socket's queue is lost, as on any network: the client asks again.
            if let answer = self.service.answer(self.space.text) { self.space.send(answer, by: socket) }
        }
    }

    // MARK: Connections

    private func accept(_ listener: Int32, _ now: ContinuousClock.Instant) {
        while self.connections.count < Self.mostConnections {
            let descriptor = DescriptorReserve.admitted(Glibc.accept(listener, nil, nil))
            guard descriptor >= 0 else {
                // Without a free descriptor the listener stays ready, and each turn would try again at once.
                if errno != EAGAIN && errno != ECONNABORTED && errno != EINTR { self.restEnd = now + Self.restTime }
                return
            }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            self.connections.append(Connection(descriptor: descriptor, deadline: now + Self.idleTime))
        }
    }

    private func serveConnections(_ ready: ArraySlice<Bool>, _ now: ContinuousClock.Instant) {
        for (index, isReady) in zip(self.connections.indices, ready).reversed() {
            if isReady ? self.serve(&self.connections[index], now) : now < self.connections[index].deadline { continue }
            close(self.connections[index].descriptor)
            self.connections.remove(at: index)
        }
    }

    /// - Returns: false if the connection has to be closed.
    private func serve(_ connection: inout Connection, _ now: ContinuousClock.Instant) -> Bool {
        if connection.conversation.output.isEmpty {
            let space = self.space.bytes
            let count = recv(connection.descriptor, space.baseAddress, space.count, Self.withoutWaiting)
            guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
            let isFine = connection.conversation.receive(space[..<count]) { self.service.answer($0) }
            guard isFine else { return false }
            connection.deadline = now + Self.idleTime
        }
        let output = connection.conversation.output
        guard !output.isEmpty else { return true }
        let sent = send(connection.descriptor, output, output.count, Self.withoutWaiting | Int32(MSG_NOSIGNAL))
        guard sent >= 0 else { return errno == EAGAIN || errno == EINTR }
        connection.conversation.sent(sent)
        return true
    }

    private static let withoutWaiting = Int32(MSG_DONTWAIT)
}
