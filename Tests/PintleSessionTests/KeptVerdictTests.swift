// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// The lifetime of a verdict for kept connections and resumed sessions.
@Suite(.timeLimit(.minutes(2))) struct KeptVerdictTests {
    private let pki = TestPKI()
    private let root: TestIdentity
    /// Some seconds ahead, so that there is a time before.
    private let end: UnixTime

    init() throws {
        self.root = try self.pki.root()
        self.end = self.pki.now.advanced(by: .seconds(4))
    }

    /// - Parameter lasting: true if the certificate is valid beyond the end of the test.
    private func origin(lasting: Bool, http2: Bool = false) throws -> (NginxOrigin, TestIdentity) {
        let validity: TestPKI.Validity = lasting ? .current : .window(.seconds(-3600), .seconds(3))
        let leaf = try self.pki.leaf(dns: ["localhost"], signedBy: self.root, validity: validity)
        return (try NginxOrigin(https: [leaf], http2: http2), leaf)
    }

    private func stage(
        _ leaf: TestIdentity, pinsEnd action: PinExpiry.Action? = nil, keeping: Bool = true
    ) throws -> SessionStage {
        let policy = try SecurityPolicy(
            pinning: action == nil ? .none : .publicKey, pins: action == nil ? [] : [leaf.pin],
            roots: .only([self.root.certificate]), pinExpiry: action.map { PinExpiry(at: self.end, action: $0) })
        var configuration = SessionConfiguration()
        if !keeping { configuration.idleConnections = 0 }
        return try SessionStage(policy: policy, configuration: configuration)
    }

    private func asked(_ origin: NginxOrigin, method: String = "GET") -> SessionRequest {
        request(origin.httpsPort, "/connection", method: method, scheme: .https, host: "localhost")
    }

    /// Asks over and over until it is refused. Whatever is asked after the end must be.
    private func answersUntilRefused(
        _ stage: SessionStage, _ origin: NginxOrigin
    ) async throws -> (answers: [Answer], refusal: SessionError?) {
        var answers: [Answer] = []
        while true {
            let begun = UnixTime.now
            do {
                answers.append(try await stage.fetch(self.asked(origin)))
            } catch let error as SessionError {
                return (answers, error)
            }
            guard begun < self.end else { return (answers, nil) }
        }
    }

    @Test(arguments: [false, true])
    func `LOOK-20 a kept connection serves no longer than its certificate is valid`(http2: Bool) async throws {
        let (origin, leaf) = try self.origin(lasting: false, http2: http2)
        let (answers, refusal) = try await self.answersUntilRefused(try self.stage(leaf), origin)
        #expect(answers.contains { $0.metrics.reusedConnection })
        #expect(
            refusal?.code == .untrusted && refusal?.verdict?.error?.problem == .expired,
            "\(String(describing: refusal))")
        #expect(UnixTime.now >= self.end)
    }

    @Test(arguments: [false, true])
    func `LOOK-20 a kept connection serves no longer than its pins hold`(http2: Bool) async throws {
        let (origin, leaf) = try self.origin(lasting: true, http2: http2)
        let (answers, refusal) = try await self.answersUntilRefused(try self.stage(leaf, pinsEnd: .fail), origin)
        #expect(answers.contains { $0.metrics.reusedConnection })
        #expect(refusal?.verdict?.error?.code == .pinMismatch, "\(String(describing: refusal))")
        #expect(UnixTime.now >= self.end)
    }

    @Test(arguments: [false, true])
    func `LOOK-20 a session is not resumed when its verdict has run out`(lasting: Bool) async throws {
        let (origin, leaf) = try self.origin(lasting: lasting)
        let stage = try self.stage(leaf, pinsEnd: lasting ? .fail : nil, keeping: false)
        let (answers, refusal) = try await self.answersUntilRefused(stage, origin)
        let texts = answers.map(\.text)
        #expect(texts.contains { $0.hasSuffix("r") }, "none was resumed before the end: \(texts.prefix(3))")
        #expect(refusal?.code == .untrusted, "\(String(describing: refusal))")
        #expect(UnixTime.now >= self.end)
    }

    @Test(arguments: [false, true])
    func `LOOK-20 a request that finds a verdict run out goes over a connection of its own`(http2: Bool) async throws {
        let (origin, leaf) = try self.origin(lasting: true, http2: http2)
        let stage = try self.stage(leaf, pinsEnd: .system)
        func connection(_ method: String) async throws -> Substring? {
            let body = UploadSource.bytes(ByteBuffer(string: "once"))
            let answer = try await stage.fetch(self.asked(origin, method: method), from: method == "POST" ? body : nil)
            #expect(answer.head.status == 200)
            return answer.text.split(separator: " ").first
        }
        let first = try await connection("GET")
        while UnixTime.now < self.end {
            let used = try await connection("GET")
            // One that began in time may have been sent too late for the first connection.
            if UnixTime.now < self.end { #expect(used == first) }
        }
        // One that must not be sent twice.
        let second = try await connection("POST")
        #expect(second != first)
        for method in ["GET", "POST", "GET"] { #expect(try await connection(method) == second) }
    }

    @Test func `LOOK-20 a request that waits unsent is not sent to a peer whose verdict has run out`() async throws {
        let leaf = try self.pki.leaf(dns: ["localhost"], signedBy: self.root)
        let side = try TLSServerSide(leaf, speaksHTTP2: true)
        let first = Watched(FirstConnection.serves)
        let origin = try RawOrigin { connection in
            try connection.stream.secure(as: side)
            var peer = try HTTP2Peer(connection.stream)
            while connection.number > 0 { try peer.answer(try peer.nextRequest().stream, "new") }
            try peer.answer(try peer.nextRequest().stream, "first")
            try peer.allow(streams: 0)
            try peer.settle()
            first.change { $0 = .isFull }
            if (try? peer.nextRequest()) != nil { first.change { $0 = .isAskedInSpiteOfThat } }
        }
        let stage = try self.stage(leaf, pinsEnd: .system)
        let asked = request(origin.port, "/", scheme: .https, host: "localhost")
        #expect(try await stage.fetch(asked).text == "first")
        _ = try await first.reach("a connection without room") { $0 == .isFull }
        async let waiting = stage.fetch(asked)
        while UnixTime.now < self.end { await Task.yield() }
        // The next request finds the verdict run out.
        #expect(try await stage.fetch(asked).text == "new")
        #expect(try await waiting.text == "new")
        #expect(first.current == .isFull)
    }

    private enum FirstConnection { case serves, isFull, isAskedInSpiteOfThat }
}
