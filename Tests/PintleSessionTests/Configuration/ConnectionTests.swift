// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleLoop
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Connections: how a session makes, marks and shares them.
@Suite(.timeLimit(.minutes(15))) struct ConnectionTests {
    private func stage(
        policy: SecurityPolicy = .default, _ change: (inout SessionConfiguration) -> Void
    ) throws -> SessionStage {
        var configuration = SessionConfiguration()
        change(&configuration)
        return try SessionStage(policy: policy, configuration: configuration)
    }

    @Test(arguments: [(SessionConfiguration.HTTPVersion.automatic, "2"), (.http1, "1.1"), (.http2, "2")])
    func `over TLS the versions are those that the configuration allows`(
        version: SessionConfiguration.HTTPVersion, spoken: String
    ) async throws {
        let pki = TestPKI()
        let root = try pki.root()
        let nginx = try NginxOrigin(https: [pki.leaf(ip: ["127.0.0.1"], signedBy: root)], http2: true)
        let policy = try SecurityPolicy(pinning: .none, roots: .only([root.certificate]))
        let stage = try self.stage(policy: policy) { $0.httpVersion = version }
        let result = try await stage.data(for: request(nginx.httpsPort, "/hello", scheme: .https))
        #expect(result.text == "hello\n" && result.metrics.transactions.first?.httpVersion == spoken)
        let upload = try await stage.data(
            for: request(nginx.httpsPort, "/store/x", method: "PUT", scheme: .https),
            from: .bytes(ByteBuffer(bytes: [UInt8].pattern(300_000))))
        #expect(upload.status == 201 && nginx.stored("x") == .pattern(300_000))
    }

    @Test func `HTTP 2 is spoken in clear text where it is known`() async throws {
        let nginx = try NginxOrigin(http2: true)
        let stage = try self.stage { $0.httpVersion = .http2 }
        let result = try await stage.data(for: request(nginx.httpPort, "/hello"))
        #expect(result.text == "hello\n" && result.metrics.transactions.first?.httpVersion == "2")
    }

    @Test func `many requests share one connection of HTTP 2`() async throws {
        let pki = TestPKI()
        let root = try pki.root()
        let nginx = try NginxOrigin(https: [pki.leaf(ip: ["127.0.0.1"], signedBy: root)], http2: true)
        let stage = try self.stage(policy: SecurityPolicy(pinning: .none, roots: .only([root.certificate]))) { _ in }
        let asked = request(nginx.httpsPort, "/connection", scheme: .https)
        let numbers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await stage.data(for: asked).text } }
            var numbers: Set<Substring> = []
            for try await text in group { numbers.insert(text.prefix { $0 != " " }) }
            return numbers
        }
        #expect(numbers.count == 1)
    }

    @Test(arguments: [
        ("timeout=3600, max=5", 1), ("TIMEOUT=60", 1), ("max=5", 1), ("timeout=", 1), ("timeout=0s", 1),
        ("timeout=-0", 1), ("timeout=0000000000", 1), ("timeout=0", 2), ("max=5, Timeout=0", 2),
    ])
    func `a kept connection is not used when its origin may have closed it, as the origin has said`(
        keepAlive: String, connections: Int
    ) async throws {
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                try connection.send(response("done", fields: "Keep-Alive: \(keepAlive)\r\n"))
            }
        }
        let stage = try self.stage { _ in }
        for _ in 0..<2 { #expect(try await stage.data(for: request(origin.port)).text == "done") }
        #expect(origin.connections.count == connections)
    }

    @Test func `tasks beyond the connections of a host wait for one`() async throws {
        let mayAnswer = Watched(false)
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                try mayAnswer.wait(for: "leave to answer") { $0 }
                try connection.send(response("done"))
            }
        }
        let stage = try self.stage { $0.connectionsPerHost = 2 }
        let tasks = try (0..<6).map { _ in try stage.session.dataTask(request(origin.port)) }
        for task in tasks { task.resume() }
        try await origin.reachRequests(2)
        #expect(stage.session.runningTransfers() == 6 && origin.connections.count == 2)
        // One that waits can be cancelled.
        tasks[5].cancel()
        #expect(await sessionError { _ = try await tasks[5].value() }?.code == .cancelled)
        mayAnswer.change { $0 = true }
        for task in tasks[..<5] { #expect(try await task.value().text == "done") }
        #expect(origin.connections.count == 2 && origin.requests.count == 5)
    }

    @Test(arguments: ServiceType.allCases)
    func `packets are marked with the code point of their service`(type: ServiceType) async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(response("done"))
            _ = try connection.waitForEnd()
        }
        let port = origin.port
        let stage = try self.stage { $0.serviceType = type }
        _ = try await stage.data(for: request(port))
        // The connection is kept, so the kernel can be asked about it.
        #expect(OwnSockets.typeOfService(towards: port) == Int32(type.codePoint) << 2)
    }

    @Test func `requests of another service have a connection of their own, whose packets are marked for it`()
        async throws
    {
        let origin = try RawOrigin { connection in
            while true {
                _ = try connection.readRequest()
                try connection.send(response("done"))
            }
        }
        let stage = try self.stage { _ in }
        var wanted = request(origin.port)
        wanted.serviceType = .voice
        for _ in 0..<2 { _ = try await stage.data(for: wanted) }
        #expect(origin.connections.count == 1)
        #expect(OwnSockets.typeOfService(towards: origin.port) == 46 << 2)
        for _ in 0..<2 { _ = try await stage.data(for: request(origin.port)) }
        #expect(origin.connections.count == 2)
    }

    /// Fails unless the connection to a port sends small writes at once, and asks a silent peer each minute if it is there.
    private func expectOptions(towards port: Int) {
        let tcp = Int32(IPPROTO_TCP)
        #expect(OwnSockets.option(TCP_NODELAY, of: tcp, towards: port) == 1)
        #expect(OwnSockets.option(SO_KEEPALIVE, of: SOL_SOCKET, towards: port) == 1)
        #expect(OwnSockets.option(TCP_KEEPIDLE, of: tcp, towards: port) == 60)
        #expect(OwnSockets.option(TCP_KEEPINTVL, of: tcp, towards: port) == 60)
    }

    @Test func `connections send small writes at once, and ask a silent peer each minute`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send(response("done"))
            _ = try connection.waitForEnd()
        }
        let stage = try self.stage { _ in }
        _ = try await stage.data(for: request(origin.port))
        self.expectOptions(towards: origin.port)
    }

    @Test func `the bare connections of tunnels that were verified do so, too`() throws {
        let origin = try RawOrigin { connection in _ = try connection.waitForEnd() }
        let (engine, made) = (try Engine(threads: 1), Watched<Int32?>(nil))
        defer { engine.stop() }
        let (loop, address) = (engine.loops[0], try SocketAddress(ipAddress: "127.0.0.1", port: origin.port))
        loop.execute {
            Dialler(address: address, timeLimit: .seconds(3600), loop: loop).start { outcome in
                made.change { $0 = (try? outcome.get()) ?? -1 }
            }
        }
        let descriptor = try #require(try made.wait(for: "the connection") { $0 != nil })
        defer { close(descriptor) }
        self.expectOptions(towards: origin.port)
    }

    @Test func `connections leave by the interface of the configuration`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try self.stage { $0.interface = "lo" }
        #expect(try await stage.data(for: request(origin.port)).text == "done")
        let error = try await self.stage { $0.interface = "nowhere0" }.failure(of: request(origin.port))
        #expect(
            error?.code == .connectFailure && error?.message.contains("nowhere0") == true,
            "\(String(describing: error))")
        #expect(origin.connections.count == 1)
    }

    @Test func `additional fields are added where a request has none of their name`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try self.stage {
            $0.additionalFields = ["X-One": "1", "X-Two": "a", "x-two": "b", "User-Agent": "ua"]
        }
        _ = try await stage.data(for: request(origin.port, fields: ["x-one": "own"]))
        let seen = try #require(origin.requests.first)
        #expect(seen.head.values("X-One") == ["own"] && seen.head.values("X-Two") == ["a", "b"])
        #expect(seen["User-Agent"] == "ua")
    }

    @Test func `an idle connection is used again, unless its server has closed it`() async throws {
        let origin = try RawOrigin { connection in
            for _ in 0..<2 {
                _ = try connection.readRequest()
                try connection.send(response("done"))
            }
        }
        let stage = try self.stage { _ in }
        for _ in 0..<4 { #expect(try await stage.data(for: request(origin.port)).text == "done") }
        #expect(origin.connections.count == 2)
    }

    @Test func `no connection is kept where none may be idle`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let stage = try self.stage { $0.idleConnections = 0 }
        for _ in 0..<3 { #expect(try await stage.data(for: request(origin.port)).text == "done") }
        #expect(origin.connections.count == 3)
    }

    @Test func `the environment's proxy is not obeyed`() async {
        // A separate process: the environment belongs to all tests.
        await #expect(processExitsWith: .success) {
            setenv("http_proxy", "http://127.0.0.1:9", 1)
            let origin = try RawOrigin(answering: response("direct"))
            #expect(try await SessionStage().data(for: request(origin.port)).text == "direct")
        }
    }
}
