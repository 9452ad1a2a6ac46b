// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleLoop
import PintleMessage
import PintleTesting
import Testing

@testable import PintleSession

/// Connections to names with several addresses, over real sockets of this machine.
@Suite(.timeLimit(.minutes(15))) struct NameDialTests {
    /// Listens on an address of this machine, and takes no connection.
    private final class Listener {
        let port: Int
        private let descriptor: Int32
        private var fillers: [Int32] = []

        /// - Parameter isSilent: true if its queue is full, so that it drops requests.
        init(_ host: String, port: Int = 0, isSilent: Bool = false) throws {
            self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            let descriptor = self.descriptor
            let place = try SocketAddress(ipAddress: host, port: port)
            let isBound = place.withSockAddr { bind(descriptor, $0, socklen_t($1)) == 0 }
            guard isBound, listen(descriptor, isSilent ? 0 : 8) == 0 else { throw TestFailure("\(host) is taken") }
            self.port = withUnsafeTemporaryAllocation(byteCount: 16, alignment: 4) { space in
                var size = socklen_t(space.count)
                _ = getsockname(descriptor, space.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
                // The port follows the family, in network byte order.
                return Int(space[2]) << 8 | Int(space[3])
            }
            if isSilent { try self.fill(host) }
        }

        deinit { for one in self.fillers + [self.descriptor] { close(one) } }

        /// Connects until the system takes no more.
        private func fill(_ host: String) throws {
            let place = try SocketAddress(ipAddress: host, port: self.port)
            for _ in 0..<64 {
                let one = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
                self.fillers.append(one)
                _ = place.withSockAddr { connect(one, $0, socklen_t($1)) }
                var waiting = pollfd(fd: one, events: Int16(POLLOUT), revents: 0)
                // Connections of this machine are there at once, or not at all.
                if poll(&waiting, 1, 200) == 0 { return }
            }
            throw TestFailure("the queue of \(host) is never full")
        }
    }

    private struct Judge: AddressJudge {
        let denied: String

        func refusal(dialling address: SocketAddress, asked: Authority) -> String? {
            address.ipAddress == self.denied ? "it is denied" : nil
        }
    }

    private func dial(
        _ addresses: [String], port: Int, by judge: (any AddressJudge)? = nil, within limit: TimeAmount = .minutes(10)
    ) async throws -> (error: SessionError?, address: String) {
        let loop = try Loop(name: "dial")
        defer { loop.stop() }
        let found = try addresses.map { try SocketAddress(ipAddress: $0, port: 0) }
        let names = NameLookups { _ in .success(found) }
        let dialler = CurlDialler(loop: loop, configuration: SessionConfiguration(), judge: judge, names: names)
        let outcome = try await Self.dial(port, by: dialler, within: limit)
        try await loop.submit { dialler.close() }.get()
        return outcome
    }

    /// Dials a port of the name.
    private static func dial(
        _ port: Int, by dialler: CurlDialler, within limit: TimeAmount = .minutes(10)
    ) async throws -> (error: SessionError?, address: String) {
        let loop = dialler.loop
        let result = loop.makePromise(of: (SessionError?, String).self)
        let target = DialTarget(authority: Authority(host: "several.test", port: UInt16(port)), timeLimit: limit)
        let running = try await loop.submit {
            let dial = dialler.dial(target) { outcome, metrics in
                switch outcome {
                case .success(let descriptor):
                    close(descriptor)
                    result.succeed((nil, metrics.address))
                case .failure(let error): result.succeed((error, ""))
                }
            }
            return NIOLoopBound(dial, eventLoop: loop)
        }.get()
        let outcome = try await result.futureResult.get()
        try await loop.submit { running.value.cancel() }.get()
        return (outcome.0, outcome.1)
    }

    @Test func `LOOK-75 an address that answers nothing does not cost the connect time-out`() async throws {
        let silent = try Listener("127.0.0.2", isSilent: true)
        let good = try Listener("127.0.0.3", port: silent.port)
        let found = try await self.dial(["127.0.0.2", "127.0.0.3"], port: good.port)
        #expect(found.error == nil && found.address == "127.0.0.3")
    }

    @Test func `LOOK-75 a family that nobody answers in is passed over`() async throws {
        let good = try Listener("127.0.0.1")
        let found = try await self.dial(["::1", "127.0.0.1"], port: good.port)
        #expect(found.error == nil && found.address == "127.0.0.1")
    }

    @Test func `LOOK-75 each address is judged before it is dialled`() async throws {
        let good = try Listener("127.0.0.3")
        let both = try await self.dial(["127.0.0.2", "127.0.0.3"], port: good.port, by: Judge(denied: "127.0.0.2"))
        #expect(both.error == nil && both.address == "127.0.0.3")
        let denied = try await self.dial(["127.0.0.3"], port: good.port, by: Judge(denied: "127.0.0.3"))
        #expect(denied.error?.code == .addressDenied)
    }

    @Test func `LOOK-75 the failure that says most is told`() async throws {
        let port: Int
        do { port = try Listener("127.0.0.1").port }
        let found = try await self.dial(["127.0.0.2", "127.0.0.1"], port: port, by: Judge(denied: "127.0.0.2"))
        #expect(found.error?.code == .addressDenied)
    }

    @Test func `LOOK-75 the time-out holds for all addresses together`() async throws {
        let silent = try Listener("127.0.0.2", isSilent: true)
        let found = try await self.dial(["127.0.0.2"], port: silent.port, within: .milliseconds(400))
        #expect(found.error?.code == .connectTimeout)
    }

    @Test func `a name whose addresses have all failed is looked up again`() async throws {
        let good = try Listener("127.0.0.3")
        let places = try ["127.0.0.2", "127.0.0.3"].map { try SocketAddress(ipAddress: $0, port: 0) }
        let lookups = Watched(0)
        let names = NameLookups { _ in
            lookups.change { $0 += 1 }
            return .success([places[min(lookups.current, 2) - 1]])
        }
        let loop = try Loop(name: "dial")
        defer { loop.stop() }
        let dialler = CurlDialler(loop: loop, configuration: SessionConfiguration(), judge: nil, names: names)
        #expect(try await Self.dial(good.port, by: dialler).error?.code == .connectionRefused)
        for _ in 0..<2 { #expect(try await Self.dial(good.port, by: dialler).address == "127.0.0.3") }
        #expect(lookups.current == 2)
        try await loop.submit { dialler.close() }.get()
    }
}
