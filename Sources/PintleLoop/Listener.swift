// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
package import NIOCore

/// A listening TCP socket on a ``Loop``.
///
/// Several loops listen on one address with a listener each (SO_REUSEPORT); the kernel spreads the connections.
package final class Listener: DescriptorWatcher {
    /// The address that is bound, with the port that the kernel chose when 0 was asked for.
    package let address: SocketAddress
    private let descriptor: Int32
    private let loop: Loop
    private let accepted: (Int32, SocketAddress?) -> Void
    private var isOpen = true
    private var resume: LoopTimer?

    /// How long accepting pauses when the process is out of descriptors: the queue is kept by the kernel, and asking
    /// again at once would only spin.
    private static let pause = TimeAmount.milliseconds(50)

    /// Binds and listens; connections are accepted after ``start()``.
    ///
    /// - Parameter accepted: gets each connection, non-blocking, with its peer's address, on the loop's thread.
    /// - Throws: `IOError` with the code of the call that failed, such as EADDRINUSE or EACCES.
    package init(
        binding address: SocketAddress, shared: Bool, loop: Loop, accepted: @escaping (Int32, SocketAddress?) -> Void
    ) throws {
        let descriptor = try Self.bound(to: address, shared: shared)
        do {
            guard listen(descriptor, 4096) == 0 else { throw IOError(errnoCode: errno, reason: "listen") }
            self.address = try Self.boundAddress(of: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        self.loop = loop
        self.accepted = accepted
    }

    /// Finds out whether an address can be had. Listeners that share one would also share it with another process.
    ///
    /// - Throws: `IOError` such as EADDRINUSE.
    package static func checkFree(_ address: SocketAddress) throws {
        guard address.port != 0 else { return }
        let descriptor = try Self.bound(to: address, shared: false)
        close(descriptor)
    }

    /// Begins to accept.
    package func start() {
        self.loop.watch(self.descriptor, for: .read, by: self)
        self.resume = LoopTimer { [weak self] in
            guard let self, self.isOpen else { return }
            self.loop.watch(self.descriptor, for: .read, by: self)
        }
    }

    /// Stops listening; connections that were accepted stay.
    package func stop() {
        guard self.isOpen else { return }
        self.isOpen = false
        if let resume { self.loop.disarm(resume) }
        self.loop.unwatch(self.descriptor)
        close(self.descriptor)
    }

    package func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        // A bounded burst: connections that are already served want their turn.
        for _ in 0..<64 where self.isOpen {
            var storage = sockaddr_storage()
            let connection = pintle_accept(descriptor, &storage)
            guard connection >= 0 else {
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { self.pauseAccepting() }
                if errno == ECONNABORTED || errno == EINTR { continue }
                return
            }
            try? Self.set(connection, Int32(IPPROTO_TCP), TCP_NODELAY)
            self.accepted(connection, SocketAddress(storage))
        }
    }

    private func pauseAccepting() {
        guard let resume else { return }
        self.loop.unwatch(self.descriptor)
        self.loop.arm(resume, at: self.loop.turnTime + Self.pause)
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
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard code == 0, let address = SocketAddress(storage) else {
            throw IOError(errnoCode: errno, reason: "getsockname")
        }
        return address
    }
}

extension SocketAddress {
    /// The address in a socket call's storage, where it is IPv4 or IPv6.
    init?(_ storage: sockaddr_storage) {
        var storage = storage
        switch Int32(storage.ss_family) {
        case AF_INET:
            self = withUnsafePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) }
            }
        case AF_INET6:
            self = withUnsafePointer(to: &storage) {
                $0.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee) }
            }
        default: return nil
        }
    }
}
