// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleLoop
import PintleMessage
import PintleSession
import PintleTesting
import PintleTrust
import Testing

/// Connections that are made and handed over, and continue through libcurl if they use TLS.
struct ConnectionStreamTests {
    private static func site(http2: Bool = false) throws -> (NginxOrigin, SecurityPolicy) {
        let pki = TestPKI()
        let root = try pki.root()
        let origin = try NginxOrigin(
            https: [try pki.leaf(dns: ["localhost"], ip: ["127.0.0.1"], signedBy: root)], http2: http2)
        return (origin, try SecurityPolicy(pinning: .none, roots: .only([root.certificate])))
    }

    /// Connects, sends a raw request, and returns everything that comes until the end.
    private static func ask(_ stage: SessionStage, _ port: Int, _ scheme: Scheme) async throws -> String {
        let asking = Asking(stage, port, scheme)
        asking.begin()
        return try await asking.end()
    }

    @Test func `bytes go over TLS under the session's policy, and HTTP2 is not offered`() async throws {
        let (origin, policy) = try Self.site(http2: true)
        let stage = try SessionStage(policy: policy)
        #expect(try await Self.ask(stage, origin.httpsPort, .https).contains("host=by-hand"))
        let stranger = try SessionStage()
        #expect(try await Self.ask(stranger, origin.httpsPort, .https) == "untrusted")
    }

    @Test(arguments: [Scheme.http, .https])
    func `a session that keeps no connections, or few, makes them all the same`(scheme: Scheme) async throws {
        let (origin, policy) = try Self.site()
        var configuration = SessionConfiguration()
        configuration.idleConnections = 0
        configuration.connectionsPerHost = 1
        let stage = try SessionStage(policy: policy, configuration: configuration)
        let port = scheme == .http ? origin.httpPort : origin.httpsPort
        let open = (0..<3).map { _ in Asking(stage, port, scheme, asks: false) }
        for asking in open { asking.begin() }
        for asking in open { try await asking.connected.reach("a connection") { $0 } }
        #expect(try await Self.ask(stage, port, scheme).contains("host=by-hand"))
        let answer = try await stage.fetch(request(port, "/hello", scheme: scheme, host: "localhost"))
        #expect(answer.text == "hello\n")
        for asking in open { try asking.close() }
    }

    @Test func `a server hears that no more will come, and is heard out`() async throws {
        let (origin, policy) = try Self.site()
        let stage = try SessionStage(policy: policy)
        let asking = Asking(stage, origin.httpsPort, .https, finishes: true)
        asking.begin()
        #expect(try await asking.end().contains("host=by-hand"))
    }

    @Test func `closing the session ends what is open`() async throws {
        let (origin, policy) = try Self.site()
        let stage = try SessionStage(policy: policy)
        let asking = Asking(stage, origin.httpsPort, .https, asks: false)
        asking.begin()
        try await asking.connected.reach("a connection") { $0 }
        await stage.session.invalidateAndCancel()
        _ = try await asking.end()
    }

    @Test func `connections that come and go leave no descriptor`() async throws {
        let (origin, policy) = try Self.site()
        let stage = try SessionStage(policy: policy)
        _ = try await Self.ask(stage, origin.httpsPort, .https)
        let before = try stage.descriptors(to: origin.httpsPort)
        for _ in 0..<50 { _ = try await Self.ask(stage, origin.httpsPort, .https) }
        #expect(try stage.descriptors(to: origin.httpsPort) == before && before == 0)
    }
}

extension SessionStage {
    /// Returns the number of sockets of this process that lead to a port of this machine, after the loop's pending work.
    fileprivate func descriptors(to port: Int) throws -> Int {
        try self.engine.loops[0].submit { OwnSockets.count(towards: port) }.wait()
    }
}

/// Makes a connection on the loop, sends one request, and keeps the answer.
private final class Asking: TransferDelegate, ChannelInboundHandler, @unchecked Sendable {
    // Why @unchecked holds: the variables are touched on the loop's thread only; the test waits for the watched ones.
    typealias InboundIn = ByteBuffer

    let connected = Watched(false)
    private let text = Watched("")
    private let isOver = Watched(false)
    private let session: Session
    private let loop: Loop
    private let request: TransferRequest
    private let asks: Bool
    private let finishes: Bool
    private var channel: SocketChannel?

    init(_ stage: SessionStage, _ port: Int, _ scheme: Scheme, asks: Bool = true, finishes: Bool = false) {
        (self.session, self.loop) = (stage.session, stage.engine.loops[0])
        var request = TransferRequest(
            method: "GET", scheme: scheme, authority: Authority(host: "localhost", port: UInt16(port)), path: "/")
        request.connectOnly = true
        self.request = request
        self.asks = asks
        self.finishes = finishes
    }

    func begin() {
        self.loop.execute { _ = self.session.start(self.request, on: self.loop, delegate: self) }
    }

    func close() throws {
        try self.loop.submit { self.channel?.close0(error: ChannelError.eof, mode: .all, promise: nil) }.wait()
    }

    /// Returns the text up to the end, or throws the error of the transfer.
    func end() async throws -> String {
        try await self.isOver.reach("the end") { $0 }
        return self.text.current
    }

    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics) {
        self.text.change { $0 = error?.code.rawValue ?? "nothing" }
        self.isOver.change { $0 = true }
    }

    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        let channel = handoff.connection.makeChannel(on: self.loop)
        self.channel = channel
        do {
            try channel.pipeline.syncOperations.addHandler(self)
        } catch {
            self.isOver.change { $0 = true }
        }
        _ = channel.setOption(ChannelOptions.allowRemoteHalfClosure, value: self.finishes)
        channel.start()
        self.connected.change { $0 = true }
        guard self.asks else { return }
        let request = "GET /echo HTTP/1.1\r\nHost: by-hand\r\nConnection: close\r\n\r\n"
        channel.pipeline.syncOperations.writeAndFlush(NIOAny(ByteBuffer(string: request)), promise: nil)
        if self.finishes { channel.close0(error: ChannelError.eof, mode: .output, promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = self.unwrapInboundIn(data)
        self.text.change { $0 += String(decoding: bytes.readableBytesView, as: UTF8.self) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { context.close(promise: nil) }
    func channelInactive(context: ChannelHandlerContext) { self.isOver.change { $0 = true } }

    func originSent(interim head: ResponseHead) {}
    func originAnswered(_ head: ResponseHead, length: UInt64?) {}
    func originSent(_ bytes: UnsafeRawBufferPointer) {}
    func originSent(trailers fields: Fields) {}
    func originTookBody(_ count: Int) {}
}
