// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Origins that choose HTTP/2, and then ask for HTTP/1.1 (RFC 9113 §7, HTTP_1_1_REQUIRED).
struct HTTP1RequiredTests {
    private let root: TestIdentity
    private let leaf: TestIdentity
    private let stage: SessionStage

    init() throws {
        self.root = try TestPKI().root()
        self.leaf = try TestPKI().leaf(ip: ["127.0.0.1"], signedBy: self.root)
        self.stage = try SessionStage(
            policy: SecurityPolicy(pinning: .none, roots: .only([self.root.certificate])),
            configuration: SessionConfiguration())
    }

    /// An origin whose first connection follows `script` in HTTP/2. On the others it would choose HTTP/2 as well, if that was
    /// offered, and answers with the length of each request's body.
    private func origin(_ script: @escaping @Sendable (inout HTTP2Peer) throws -> Void) throws -> RawOrigin {
        let side = try TLSServerSide(self.leaf, speaksHTTP2: true)
        return try RawOrigin { connection in
            try connection.stream.secure(as: side)
            if connection.number == 0 {
                var peer = try HTTP2Peer(connection.stream)
                try script(&peer)
                _ = try connection.waitForEnd()
                return
            }
            while true {
                let request = try connection.readRequest()
                connection.stream.forgetTaken()
                try connection.send(response("\(request.body.count)"))
            }
        }
    }

    @Test(arguments: ["GET", "POST"])
    func `a request is sent again over HTTP 1, and so are those after it`(method: String) async throws {
        let origin = try self.origin { peer in
            let request = try peer.nextRequest()
            try peer.reset(request.stream, .http11Required)
        }
        let source = method == "GET" ? nil : UploadSource.bytes(ByteBuffer(string: "body"))
        for _ in 0..<2 {
            let answer = try await self.stage.fetch(
                request(origin.port, method: method, scheme: .https), from: source)
            #expect(answer.text == (method == "GET" ? "0" : "4") && answer.metrics.httpVersion == "1.1")
        }
        #expect(origin.connections.count == 2)
    }

    @Test func `other requests on the connection are answered there`() async throws {
        let origin = try self.origin { peer in
            let (first, second) = (try peer.nextRequest(), try peer.nextRequest())
            try peer.reset(first.stream, .http11Required)
            try peer.settle()
            try peer.answer(second.stream, "2")
        }
        let tasks = try (0..<2).map { _ in try self.stage.session.dataTask(request(origin.port, scheme: .https)) }
        for task in tasks { task.resume() }
        var answers: [String] = []
        for task in tasks { answers.append(try await task.value().text) }
        #expect(answers.sorted() == ["0", "2"])
        #expect(origin.connections.count == 2)
    }

    @Test func `an origin that asks for it within an answer has broken the answer off`() async throws {
        let origin = try self.origin { peer in
            let request = try peer.nextRequest()
            try peer.begin(request.stream)
            try peer.reset(request.stream, .http11Required)
        }
        let error = await self.stage.failure(of: request(origin.port, scheme: .https))
        #expect(error?.code == .truncated, "\(String(describing: error))")
        #expect(origin.connections.count == 1)
    }
}
