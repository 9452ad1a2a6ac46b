// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleMessage
import PintleSystem
import PintleTesting
import Testing

@testable import PintleStub

/// A resolver on sockets of the loopback.
struct StubResolverTests {
    private let udp: (descriptor: Int32, port: UInt16)
    private let tcp: (descriptor: Int32, port: UInt16)
    private let resolver: StubResolver

    init() throws {
        self.udp = try Self.bound(SOCK_DGRAM)
        self.tcp = try Self.bound(SOCK_STREAM)
        self.resolver = try StubResolver(
            datagrams: [self.udp.descriptor], listeners: [self.tcp.descriptor], names: CapturedNames(),
            judge: { $0 == "one.example" }, denied: { _ in })
    }

    private static func bound(_ type: __socket_type) throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let code = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let code = bind(descriptor, address, size)
                if type == SOCK_STREAM { listen(descriptor, 100) }
                return code == 0 ? getsockname(descriptor, address, &size) : code
            }
        }
        guard code == 0 else { throw TestFailure("no socket: errno \(errno)") }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    private func connected(_ type: __socket_type) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = (type == SOCK_STREAM ? self.tcp : self.udp).port.bigEndian
        let code = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw TestFailure("no connection: errno \(errno)") }
        return descriptor
    }

    private func receive(_ descriptor: Int32, _ count: Int = 1024) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let received = recv(descriptor, &bytes, count, 0)
        return Array(bytes.prefix(max(0, received)))
    }

    private static let answer: [UInt8] = [198, 18, 0, 2]

    @Test func `a datagram is answered`() throws {
        let client = try self.connected(SOCK_DGRAM)
        defer { close(client) }
        let question = Question("one.example").bytes
        for _ in 0..<3 {
            send(client, question, question.count, 0)
            #expect(self.receive(client).suffix(4) == Self.answer)
        }
        let other = Question("two.example").bytes
        send(client, other, other.count, 0)
        #expect(self.receive(client).dropFirst(3).first == 0x83)
    }

    @Test func `questions over TCP are answered, many over one connection`() throws {
        let client = try self.connected(SOCK_STREAM)
        defer { close(client) }
        let question = Question("one.example").bytes
        let frame = [0, UInt8(question.count)] + question
        let frames = [[UInt8]](repeating: frame, count: 500).flatMap { $0 }
        #expect(send(client, frames, frames.count, 0) == frames.count)
        let size = 2 + question.count + 16
        var answers: [UInt8] = []
        while answers.count < 500 * size {
            let piece = self.receive(client, 65536)
            guard !piece.isEmpty else { break }
            answers += piece
        }
        #expect(answers.count == 500 * size && answers.suffix(4) == Self.answer)
    }

    @Test func `more connections than are served at a time wait for their turn`() throws {
        let clients = try (0..<StubServer.mostConnections + 3).map { _ in try self.connected(SOCK_STREAM) }
        let question = Question("one.example").bytes
        // Those in front make room by their end.
        for client in clients {
            let frame = [0, UInt8(question.count)] + question
            send(client, frame, frame.count, 0)
            #expect(self.receive(client).suffix(4) == Self.answer)
            close(client)
        }
    }

    @Test func `the end closes the sockets, and a second one does nothing`() throws {
        let client = try self.connected(SOCK_STREAM)
        defer { close(client) }
        self.resolver.end()
        self.resolver.end()
        #expect(self.receive(client).isEmpty)
        #expect(throws: TestFailure.self) { _ = try self.connected(SOCK_STREAM) }
    }
}
