// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleLoop
import PintleTesting
import Testing

/// Watching descriptors that the loop does not own, and listening.
struct WatchTests {
    /// Records the readiness of a descriptor, and reads its bytes.
    private final class Watcher: DescriptorWatcher, Sendable {
        let seen = Watched<[Readiness]>([])
        let bytes = Watched(0)

        func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
            var space = [UInt8](repeating: 0, count: 100)
            if readiness.contains(.read) {
                let count = read(descriptor, &space, space.count)
                self.bytes.change { $0 += max(0, count) }
            }
            self.seen.change { $0.append(readiness) }
        }
    }

    private func pair() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw TestFailure("socketpair: errno \(errno)")
        }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }

    @Test func `a watcher is told while a descriptor is ready, and no more after unwatch`() throws {
        let loop = try Loop(name: "watch")
        let (own, peer) = try self.pair()
        let watcher = Watcher()
        try loop.submit { loop.watch(own, for: .read, by: watcher) }.wait()
        write(peer, "ab", 2)
        try watcher.bytes.wait(for: "two bytes") { $0 == 2 }
        try loop.submit { loop.unwatch(own) }.wait()
        let count = watcher.seen.current.count
        write(peer, "cd", 2)
        // Another descriptor's readiness proves that the loop has looked since.
        let (other, otherPeer) = try self.pair()
        let second = Watcher()
        try loop.submit { loop.watch(other, for: .read, by: second) }.wait()
        write(otherPeer, "x", 1)
        try second.bytes.wait(for: "the other's byte") { $0 == 1 }
        #expect(watcher.seen.current.count == count && watcher.bytes.current == 2)
        try loop.submit { loop.watch(own, for: .read, by: watcher) }.wait()
        try watcher.bytes.wait(for: "what had waited") { $0 == 4 }
        loop.stop()
        for descriptor in [own, peer, other, otherPeer] { close(descriptor) }
    }

    /// epoll refuses files and closed descriptors; a refusal for lack of memory looks the same.
    @Test(arguments: ["a file", "a closed descriptor"])
    func `LOOK-55 a watcher is told that its descriptor cannot be watched`(kind: String) throws {
        let loop = try Loop(name: "watch")
        let descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        if kind != "a file" { close(descriptor) }
        let watcher = Watcher()
        try loop.submit { loop.watch(descriptor, for: .write, by: watcher) }.wait()
        let seen = try watcher.seen.wait(for: "the failure") { !$0.isEmpty }
        #expect(seen[0].isSuperset(of: [.failed, .hungUp, .write]))
        try loop.submit { loop.unwatch(descriptor) }.wait()
        loop.stop()
        if kind == "a file" { close(descriptor) }
    }

    @Test func `interest can be changed from reading to writing`() throws {
        let loop = try Loop(name: "watch")
        let (own, peer) = try self.pair()
        let watcher = Watcher()
        try loop.submit { loop.watch(own, for: .write, by: watcher) }.wait()
        try watcher.seen.wait(for: "writability") { $0.contains { $0.contains(.write) } }
        try loop.submit {
            loop.watch(own, for: .read, by: watcher)
            watcher.seen.change { $0.removeAll() }
        }.wait()
        write(peer, "a", 1)
        try watcher.bytes.wait(for: "a byte") { $0 == 1 }
        #expect(!watcher.seen.current.contains { $0.contains(.write) })
        loop.stop()
        close(own)
        close(peer)
    }

    @Test func `the hang-up of a peer is told`() throws {
        let loop = try Loop(name: "watch")
        let (own, peer) = try self.pair()
        let watcher = Watcher()
        try loop.submit { loop.watch(own, for: .read, by: watcher) }.wait()
        close(peer)
        try watcher.seen.wait(for: "the hang-up") { $0.contains { $0.contains(.hungUp) } }
        loop.stop()
        close(own)
    }

    @Test func `a number that is used again belongs to its new watcher`() throws {
        let loop = try Loop(name: "watch")
        let (first, firstPeer) = try self.pair()
        let (old, new) = (Watcher(), Watcher())
        try loop.submit { loop.watch(first, for: .read, by: old) }.wait()
        try loop.submit {
            loop.unwatch(first)
            close(first)
        }.wait()
        close(firstPeer)
        let (second, secondPeer) = try self.pair()
        try loop.submit { loop.watch(second, for: .read, by: new) }.wait()
        write(secondPeer, "n", 1)
        try new.bytes.wait(for: "the new byte") { $0 == 1 }
        #expect(old.bytes.current == 0)
        loop.stop()
        close(second)
        close(secondPeer)
    }

    @Test func `a listener accepts, knows its port, and stops`() throws {
        let loop = try Loop(name: "listen")
        let accepted = Watched<[String]>([])
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 0)
        let listener = try Listener(binding: address, shared: false, loop: loop) { descriptor, peer in
            guard case .address(let address) = peer else { return }
            accepted.change { $0.append("\(address.ipAddress ?? "?"):\(address.port ?? 0)") }
            write(descriptor, "hello\n", 6)
            close(descriptor)
        }
        let port = try #require(listener.address.port)
        #expect(port > 0)
        let bound = LoopKept(listener)
        try loop.submit { bound.value.start() }.wait()
        for number in 1...3 {
            #expect(try SocketStream(port: port).readLine() == "hello")
            #expect(accepted.current.count == number && accepted.current[number - 1].hasPrefix("127.0.0.1:"))
        }
        #expect(throws: (any Error).self) {
            _ = try Listener(binding: listener.address, shared: false, loop: loop) { _, _ in }
        }
        try loop.submit { bound.value.stop() }.wait()
        #expect(throws: TestFailure.self) { _ = try SocketStream(port: port) }
        loop.stop()
    }

    /// Any process that has inherited the socket may shut it down, which makes accept(2) fail until it listens again.
    @Test func `a listener whose socket was shut down neither spins nor gives up`() throws {
        let loop = try Loop(name: "listen")
        let socket = try SocketAddress(ipAddress: "127.0.0.1", port: 0).boundSocket()
        let other = dup(socket)
        defer { close(other) }
        let listener = try Listener(adopting: socket, loop: loop) { descriptor, _ in
            write(descriptor, "hello\n", 6)
            close(descriptor)
        }
        let bound = LoopKept(listener)
        let first = try loop.submit {
            bound.value.start()
            return loop.turn
        }.wait()
        shutdown(other, Int32(SHUT_RDWR))
        let last = try loop.scheduleTask(in: .milliseconds(300)) { loop.turn }.futureResult.wait()
        #expect(last - first < 100)
        listen(other, 16)
        let port = try #require(SocketAddress(boundTo: other)?.port)
        #expect(try SocketStream(port: port).readLine() == "hello")
        try loop.submit { bound.value.stop() }.wait()
        loop.stop()
    }
}

extension SocketAddress {
    /// A stream socket that is bound to the address.
    fileprivate func boundSocket() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard self.withSockAddr({ bind(descriptor, $0, socklen_t($1)) }) == 0 else {
            throw TestFailure("bind: errno \(errno)")
        }
        return descriptor
    }
}

/// Carries a listener to its loop.
private struct LoopKept: @unchecked Sendable {
    // Why @unchecked holds: it is used on the loop's thread only.
    let value: Listener

    init(_ value: Listener) { self.value = value }
}
