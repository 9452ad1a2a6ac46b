// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Invariants 1 to 4 of the design, on the session alone.
@Suite(.timeLimit(.minutes(15))) struct InvariantTests {
    let pki = TestPKI()
    let root: TestIdentity
    let leaf: TestIdentity
    let other: TestIdentity
    let origin: NginxOrigin

    init() throws {
        self.root = try self.pki.root()
        self.leaf = try self.pki.leaf(dns: ["localhost"], ip: ["127.0.0.1"], signedBy: self.root)
        self.other = try self.pki.leaf(dns: ["localhost"], signedBy: self.root)
        self.origin = try NginxOrigin(https: [self.leaf])
    }

    private func policy(_ pin: Pin? = nil) throws -> SecurityPolicy {
        try SecurityPolicy(
            pinning: pin == nil ? .none : .publicKey, pins: pin.map { [$0] } ?? [],
            roots: .only([self.root.certificate]))
    }

    private var secure: SessionRequest {
        request(self.origin.httpsPort, "/connection", scheme: .https, host: "localhost")
    }

    @Test func `invariant 1 - sessions of two policies on one engine share no connection and no verdict`() async throws
    {
        let engine = try Engine(threads: 1)
        let right = try SessionStage(policy: self.policy(self.leaf.pin), sharing: engine)
        let loose = try SessionStage(policy: self.policy(), sharing: engine)
        let wrong = try SessionStage(policy: self.policy(self.other.pin), sharing: engine)
        let a = try await right.fetch(self.secure)
        let b = try await loose.fetch(self.secure)
        #expect(a.head.status == 200 && b.head.status == 200)
        #expect(a.text.split(separator: " ")[0] != b.text.split(separator: " ")[0], "\(a.text) and \(b.text)")
        for _ in 0..<3 {
            let error = await sessionError { _ = try await wrong.fetch(self.secure) }
            #expect(error?.code == .untrusted && error?.verdict?.error?.code == .pinMismatch)
        }
        let again = try await right.fetch(self.secure)
        #expect(again.metrics.reusedConnection && again.text.hasPrefix(a.text.split(separator: " ")[0]))
    }

    @Test func `invariant 2 - pins are evaluated again on every new handshake`() async throws {
        let stage = try SessionStage(policy: self.policy(self.leaf.pin))
        #expect(try await stage.fetch(self.secure).head.status == 200)
        self.origin.stop()
        try self.origin.show(self.other)
        try self.origin.start()
        for _ in 0..<3 {
            let error = await sessionError { _ = try await stage.fetch(self.secure) }
            #expect(error?.code == .untrusted && error?.verdict?.error?.code == .pinMismatch)
        }
        self.origin.stop()
        try self.origin.show(self.leaf)
        try self.origin.start()
        #expect(try await stage.fetch(self.secure).head.status == 200)
    }

    @Test func `invariant 2 - a verdict carries the chain and the pins that were configured`() async throws {
        let stage = try SessionStage(policy: self.policy(self.other.pin))
        let error = await sessionError { _ = try await stage.fetch(self.secure) }
        let verdict = try #require(error?.verdict)
        #expect(verdict.chain.first?.spkiPin == self.leaf.pin)
        #expect(verdict.configuredPins == [self.other.pin])
    }

    /// Refuses every loopback address, and records the addresses.
    private struct NoLoopback: AddressJudge {
        let asked = Watched<[String]>([])

        func refusal(dialling address: SocketAddress, asked host: Authority) -> String? {
            self.asked.change { $0.append("\(host.host) \(address.ipAddress ?? "?")") }
            return "it is a loopback address"
        }
    }

    @Test func `invariant 3 - the address that is dialled is the address that is judged`() async throws {
        let judge = NoLoopback()
        let plain = try RawOrigin(answering: response("reached"))
        let stage = try SessionStage(judge: judge)
        for host in ["localhost", "127.0.0.1"] {
            let error = await sessionError { _ = try await stage.fetch(request(plain.port, host: host)) }
            #expect(error?.code == .addressDenied, "\(host)")
        }
        #expect(
            judge.asked.current.contains("localhost 127.0.0.1") && judge.asked.current.contains("127.0.0.1 127.0.0.1"))
        #expect(plain.connections.isEmpty)
    }

    @Test func `invariant 4 - framing is written anew, whatever the request's fields say`() async throws {
        let plain = try RawOrigin(answering: response("done"))
        let stage = try SessionStage()
        _ = try await stage.fetch(request(plain.port, method: "POST"), from: .bytes(ByteBuffer(string: "abc")))
        let seen = try await plain.reachRequests(1)[0]
        #expect(seen.head.values("Content-Length") == ["3"] && seen.head.values("Transfer-Encoding").isEmpty)
        #expect(
            seen.head.values("Host") == ["127.0.0.1:\(plain.port)"] && seen["User-Agent"] == nil
                && seen["Accept"] == nil)
    }

    @Test func `invariant 4 - a truncated response is an error and never a clean end`() async throws {
        for bytes in [
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: 1\r\n",
        ] {
            let cut = try RawOrigin { connection in
                _ = try connection.readRequest()
                try connection.send(bytes)
            }
            let stage = try SessionStage()
            let error = await sessionError { _ = try await stage.fetch(request(cut.port)) }
            #expect(error?.code == .truncated, "\(bytes)")
        }
    }

    @Test func `TLS with a trusted chain works, and says so in its metrics`() async throws {
        let stage = try SessionStage(policy: self.policy(self.root.pin))
        let answer = try await stage.fetch(self.secure)
        #expect(answer.head.status == 200 && answer.metrics.tls != nil)
        let system = try SessionStage()
        let error = await sessionError { _ = try await system.fetch(self.secure) }
        #expect(error?.code == .untrusted && error?.verdict?.error?.code == .certificateInvalid)
    }
}
