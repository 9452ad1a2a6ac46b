// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
package import NIOCore
internal import PintleSystem

/// A listening TCP or Unix socket on a ``Loop``.
///
/// Several loops listen on one TCP address with a listener each (SO_REUSEPORT); the kernel spreads the connections.
package final class Listener: DescriptorWatcher {
    /// The client at the other end of a connection.
    package enum Peer: Sendable, Hashable {
        case address(SocketAddress)
        /// A process on this machine that is connected over a Unix socket, with the id of its user.
        case user(UInt32, process: Int32)
        case unknown
    }

    /// Receives an accepted connection, non-blocking, on the loop's thread.
    package typealias Acceptance = (Int32, Peer) -> Void

    /// The bound address, with the port that the kernel chose if 0 was asked for.
    package let address: SocketAddress
    private let descriptor: Int32
    /// The file of a Unix socket; nil unless this listener made it.
    private let file: UnixSocketFile?
    private let loop: Loop
    private let accepted: Acceptance
    private var isOpen = true
    private lazy var resume = LoopTimer { [weak self] in self?.goOn() }
    /// A connection that has one of the reserved last descriptors. It is served once another descriptor is free; further
    /// connections wait in the kernel's queue.
    private var waiting: (connection: Int32, peer: Peer)?
    /// The number of connections accepted in one turn, and the last turn that accepted any.
    private var burst = 1
    private var lastTurn: UInt64 = 0

    private static let longestBurst = 16

    /// The pause in accepting when the process is out of descriptors, or the socket was shut down: the kernel keeps the
    /// queue, and trying again at once would only spin.
    private static let pause = TimeAmount.milliseconds(50)

    /// Binds and listens; connections are accepted after ``start()``.
    ///
    /// Only this user may connect to a Unix socket, whatever the umask is. A left-over socket on which no process listens
    /// is replaced.
    ///
    /// - Parameter shared: true if other loops listen on the same address; always false for a Unix socket.
    /// - Throws: `IOError` with the code of the call that failed, such as EADDRINUSE or EACCES.
    package convenience init(
        binding address: SocketAddress, shared: Bool, loop: Loop, accepted: @escaping Acceptance
    ) throws {
        guard let path = address.pathOfSocket else {
            let descriptor = try Self.bound(to: address, shared: shared)
            try self.init(listeningOn: descriptor, loop: loop, accepted: accepted)
            return
        }
        let (descriptor, file) = try UnixSocketFile.bind(path)
        do {
            try self.init(listeningOn: descriptor, file: file, loop: loop, accepted: accepted)
        } catch {
            file.remove()
            throw error
        }
    }

    /// Takes over a bound stream socket, and closes it if it cannot be used.
    ///
    /// - Throws: `IOError` with the code of the call that failed.
    package convenience init(adopting descriptor: Int32, loop: Loop, accepted: @escaping Acceptance) throws {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        try self.init(listeningOn: descriptor, loop: loop, accepted: accepted)
    }

    private init(
        listeningOn descriptor: Int32, file: UnixSocketFile? = nil, loop: Loop, accepted: @escaping Acceptance
    ) throws {
        do {
            guard listen(descriptor, 4096) == 0 else { throw IOError(errnoCode: errno, reason: "listen") }
            self.address = try Self.boundAddress(of: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.file = file
        self.loop = loop
        self.accepted = accepted
    }

    /// Checks that an address is free. Listeners that share an address would also share it with another process.
    ///
    /// - Throws: `IOError` such as EADDRINUSE.
    package static func checkFree(_ address: SocketAddress) throws {
        // The kernel chooses a free port.
        guard address.port != 0 else { return }
        let descriptor = try Self.bound(to: address, shared: false)
        close(descriptor)
    }

    /// Begins to accept connections.
    package func start() { self.watch() }

    private func goOn() {
        if let waiting {
            guard let connection = DescriptorReserve.exchanged(waiting.connection) else { return self.pauseAccepting() }
            self.waiting = nil
            self.accepted(connection, waiting.peer)
        }
        if self.isOpen { self.watch() }
    }

    /// Watches the descriptor. If that fails, tries again later: a listener must not be given up.
    private func watch() {
        if !self.loop.tryToWatch(self.descriptor, for: .read, by: self) { self.pauseAccepting() }
    }

    /// Stops listening; accepted connections stay open. Does nothing if it has stopped.
    package func stop() {
        guard self.isOpen else { return }
        self.isOpen = false
        self.loop.disarm(self.resume)
        self.loop.unwatch(self.descriptor)
        close(self.descriptor)
        if let waiting { close(waiting.connection) }
        self.waiting = nil
        self.file?.remove()
    }

    package func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        // Usually one connection a turn, since an accept in vain costs as much as a connection. If connections keep coming,
        // more are accepted in a turn, but not all: those already served need the thread, too.
        self.burst = self.loop.turn == self.lastTurn &+ 1 ? max(1, min(2 * self.burst, Self.longestBurst)) : 1
        self.lastTurn = self.loop.turn
        for _ in 0..<self.burst where self.isOpen {
            var storage = sockaddr_storage()
            let connection = pintle_accept(descriptor, &storage)
            guard connection >= 0 else {
                let code = errno
                if code == ECONNABORTED || code == EINTR { continue }
                self.burst = 0
                // No connection waits.
                guard code != EAGAIN else { return }
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) { DescriptorReserve.askHolders() }
                return self.pauseAccepting()
            }
            let peer = Self.peer(of: connection, storage)
            if DescriptorReserve.isReserved(connection) {
                self.waiting = (connection, peer)
                self.burst = 0
                return self.pauseAccepting()
            }
            self.accepted(connection, peer)
        }
    }

    private static func peer(of connection: Int32, _ storage: sockaddr_storage) -> Peer {
        if Int32(storage.ss_family) == AF_UNIX {
            var process: Int32 = 0
            let user = UInt32(exactly: pintle_peer_user(connection, &process))
            return user.map { .user($0, process: process) } ?? .unknown
        }
        try? Self.set(connection, Int32(IPPROTO_TCP), TCP_NODELAY)
        return SocketAddress(storage).map { .address($0) } ?? .unknown
    }

    private func pauseAccepting() {
        self.loop.unwatch(self.descriptor)
        self.loop.arm(self.resume, at: self.loop.turnTime + Self.pause)
    }

    private static func bound(to address: SocketAddress, shared: Bool) throws -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(address.protocol == .inet6 ? AF_INET6 : AF_INET, kind, 0)
        guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        do {
            try Self.set(descriptor, SOL_SOCKET, SO_REUSEADDR)
            if shared { try Self.set(descriptor, SOL_SOCKET, SO_REUSEPORT) }
            if address.protocol == .inet6 { try Self.set(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
            let result = address.withSockAddr { bind(descriptor, $0, socklen_t($1)) }
            guard result == 0 else { throw IOError(errnoCode: errno, reason: "bind") }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32) throws {
        var on: Int32 = 1
        guard setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw IOError(errnoCode: errno, reason: "setsockopt")
        }
    }

    private static func boundAddress(of descriptor: Int32) throws -> SocketAddress {
        guard let address = SocketAddress(boundTo: descriptor) else {
            throw IOError(errnoCode: errno, reason: "getsockname")
        }
        return address
    }
}

extension SocketAddress {
    /// The address that a socket is bound to; nil unless it is IPv4, IPv6 or the path of a Unix socket.
    package init?(boundTo descriptor: Int32) { self.init { getsockname(descriptor, $0, $1) } }

    /// The address that a socket is connected to; nil unless it is IPv4, IPv6 or the path of a Unix socket, or if the
    /// socket is not connected any more.
    package init?(connectedTo descriptor: Int32) { self.init { getpeername(descriptor, $0, $1) } }

    private init?(_ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
        }
        guard code == 0 else { return nil }
        self.init(storage)
    }

    /// The address in a socket call's storage; nil unless it is IPv4, IPv6 or the path of a Unix socket. The host is left
    /// empty, since few callers need it as text.
    init?(_ storage: sockaddr_storage) {
        var storage = storage
        switch Int32(storage.ss_family) {
        case AF_INET:
            self = withUnsafePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee, host: "") }
            }
        case AF_INET6:
            self = withUnsafePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee, host: "") }
            }
        case AF_UNIX:
            let address = withUnsafePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr_un.self, capacity: 1) { SocketAddress($0.pointee) }
            }
            // Abstract names begin with a zero.
            guard address.pathOfSocket?.isEmpty == false else { return nil }
            self = address
        default: return nil
        }
    }
}
