// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Invariants 1 and 2 of the design, if connections are shared by HTTP/2 and TLS sessions are resumed.
@Suite(.timeLimit(.minutes(15))) struct ResumptionTests {
    let root: TestIdentity
    let leaf: TestIdentity
    let other: TestIdentity

    init() throws {
        let pki = TestPKI()
        self.root = try pki.root()
        self.leaf = try pki.leaf(dns: ["localhost"], signedBy: self.root)
        self.other = try pki.leaf(dns: ["localhost"], signedBy: self.root)
    }

    private func stage(_ pin: Pin?, sharing engine: Engine, reusing: Bool = true) throws -> SessionStage {
        let policy = try SecurityPolicy(
            pinning: pin == nil ? .none : .publicKey, pins: pin.map { [$0] } ?? [],
            roots: .only([self.root.certificate]))
        var configuration = SessionConfiguration()
        if !reusing { configuration.idleConnections = 0 }
        return try SessionStage(policy: policy, configuration: configuration, sharing: engine)
    }

    private func asked(_ origin: NginxOrigin) -> SessionRequest {
        request(origin.httpsPort, "/connection", scheme: .https, host: "localhost")
    }

    @Test func `invariant 1 - policies share no connection of HTTP 2, however many requests there are on it`()
        async throws
    {
        let origin = try NginxOrigin(https: [self.leaf], http2: true)
        let engine = try Engine(threads: 1)
        let right = try self.stage(self.leaf.pin, sharing: engine)
        let loose = try self.stage(nil, sharing: engine)
        let wrong = try self.stage(self.other.pin, sharing: engine)
        var connections: [Set<Substring>] = []
        for stage in [right, loose] {
            var seen: Set<Substring> = []
            for _ in 0..<3 {
                let answer = try await stage.fetch(self.asked(origin))
                #expect(answer.metrics.httpVersion == "2")
                seen.insert(answer.text.split(separator: " ")[0])
            }
            connections.append(seen)
        }
        #expect(connections[0].isDisjoint(with: connections[1]) && connections.allSatisfy { $0.count == 1 })
        let error = await sessionError { _ = try await wrong.fetch(self.asked(origin)) }
        #expect(error?.code == .untrusted && error?.verdict?.error?.code == .pinMismatch)
    }

    @Test func `invariant 2 - a server that changes its key is at most resumed, under the policy that knew it`()
        async throws
    {
        let folder = try TemporaryFolder()
        let ticketKey = try folder.write((0..<80).map { UInt8($0) }, to: "ticket.key")
        let origin = try NginxOrigin(https: [self.leaf], locations: "ssl_session_ticket_key \(ticketKey);\n")
        let engine = try Engine(threads: 1)
        let known = try self.stage(self.leaf.pin, sharing: engine, reusing: false)
        let stranger = try self.stage(self.leaf.pin, sharing: engine, reusing: false)
        #expect(try await known.fetch(self.asked(origin)).text.hasSuffix("."))
        // The ticket key stays the same, so that sessions can be resumed although the certificate has changed.
        origin.stop()
        try origin.show(self.other)
        try origin.start()
        if let answer = try? await known.fetch(self.asked(origin)) {
            #expect(answer.text.hasSuffix("r"), "a full handshake shows the other key: \(answer.text)")
        }
        let foreign = await sessionError { _ = try await stranger.fetch(self.asked(origin)) }
        #expect(foreign?.verdict?.error?.code == .pinMismatch, "sessions are nobody else's")
        await known.session.reset()
        let forgotten = await sessionError { _ = try await known.fetch(self.asked(origin)) }
        #expect(forgotten?.verdict?.error?.code == .pinMismatch, "and are forgotten with the rest")
    }
}
