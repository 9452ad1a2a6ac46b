// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleLoop
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Questions for post-quantum groups over real connections.
@Suite struct GroupProbeTests {
    private let loop: Loop

    init() throws { self.loop = try Loop(name: "groups") }

    private func ask(port: Int, timeLimit: Duration = .seconds(60)) async throws -> Result<
        PostQuantumGroup, ProbeFailure
    > {
        defer { self.loop.stop() }
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        return await GroupProbe(
            address: address, host: "probe.test", groups: PostQuantumGroup.allCases, timeLimit: timeLimit
        ).run(on: self.loop)
    }

    @Test func `a server of OpenSSL without such groups says so by an alert`() async throws {
        let pki = TestPKI()
        let server = try OpenSSLServer([pki.leaf(dns: ["probe.test"], signedBy: pki.root())])
        #expect(try await self.ask(port: server.port) == .failure(.handshake(.alert(.handshakeFailure))))
    }

    @Test func `the group that a server asks a share of is the answer, and the server is told of the end`() async throws
    {
        let seen = Watched<[UInt8]>([])
        let server = try RawOrigin { connection in
            try connection.stream.send(PostQuantumAnswer.retry(for: .secp384r1MLKEM1024, to: connection.stream))
            let rest = try connection.stream.readToEnd().bytes
            seen.change { $0 = rest }
        }
        #expect(try await self.ask(port: server.port) == .success(.secp384r1MLKEM1024))
        #expect(try seen.wait(for: "the end") { !$0.isEmpty } == [21, 3, 3, 0, 2, 1, 0])
    }

    @Test func `a closed port is a failure`() async throws {
        let closed = try FreePort.find()
        #expect(try await self.ask(port: closed) == .failure(.refused))
    }

    @Test func `a server that leaves is a failure`() async throws {
        let server = try RawOrigin { connection in _ = try connection.stream.readSome() }
        #expect(try await self.ask(port: server.port) == .failure(.handshake(.closed(afterBytes: 0))))
    }

    @Test func `a server that says nothing is a failure`() async throws {
        let server = try RawOrigin { connection in _ = try connection.waitForEnd() }
        #expect(
            try await self.ask(port: server.port, timeLimit: .milliseconds(200)) == .failure(.timedOut(.handshaking)))
    }
}
