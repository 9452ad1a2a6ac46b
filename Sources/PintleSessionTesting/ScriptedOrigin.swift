// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// An HTTP/1.1 server on 127.0.0.1, inside of the test's process, that gives the answers a test scripts and records
/// what it is asked.
///
///     let origin = try ScriptedOrigin(["GET /users/1": .json(User(name: "Ada"))])
///     let api = try HTTPSession(base: origin.url)
///     let user = try await api.get("users/1", as: User.self)
///     #expect(origin.requests.map(\.target) == ["/users/1"])
///     await origin.stop()
///
/// Requests travel through sockets, so a program is tested with the connections, time limits and failures that it has
/// in earnest. The system chooses the port: any number of origins run beside each other. An origin ends with
/// ``stop()``, or when it is let go; it runs on the threads that SwiftNIO shares in the process and leaves none behind.
///
/// A request's body may have 64 MiB; a longer one is answered 413, what is no HTTP/1.1 400, and neither is recorded.
public final class ScriptedOrigin: Sendable {
    /// The TCP port that the system chose.
    public let port: Int
    private let core: ScriptedOriginCore
    private let listener: any Channel

    /// Starts an origin that asks a closure for each answer.
    ///
    /// - Parameter answer: called with each request, for several connections at once. Its task is cancelled when the
    ///   connection ends. What it throws is answered 500, with the error as text.
    /// - Throws: ``ScriptedOriginError`` with `cannotListen` when the system has no port or descriptor left.
    public init(
        answer: @escaping @Sendable (_ request: Request) async throws -> Answer
    ) throws(ScriptedOriginError) {
        let core = ScriptedOriginCore(answer: answer)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try core.accept(channel) }
            }
        do {
            let listener = try bootstrap.bind(host: "127.0.0.1", port: 0).wait()
            guard let port = listener.localAddress?.port else { throw ChannelError.unknownLocalAddress }
            (self.core, self.listener, self.port) = (core, listener, port)
        } catch {
            throw ScriptedOriginError(
                .cannotListen, "no port of 127.0.0.1 can be listened on; close what is not needed any more: \(error)")
        }
    }

    /// Starts an origin with one answer for each request line.
    ///
    /// A request that no route fits is answered 404, with a text that names the request and the routes; it is recorded
    /// like all others.
    ///
    /// - Parameter routes: answers by method and target, spelled as they are on the wire: `"GET /users?page=2"`.
    /// - Throws: ``ScriptedOriginError`` with `cannotListen` when the system has no port or descriptor left.
    public convenience init(_ routes: [String: Answer]) throws(ScriptedOriginError) {
        try self.init(answer: Self.choice(of: routes))
    }

    deinit { self.close() }

    private static func choice(of routes: [String: Answer]) -> @Sendable (Request) async throws -> Answer {
        { request in
            if let answer = routes[request.description] { return answer }
            let known = routes.keys.sorted().map { "  \($0)\n" }.joined()
            return .text(
                "No route fits: \(request)\n"
                    + (known.isEmpty ? "This origin has no routes.\n" : "The routes of this origin:\n\(known)"),
                status: 404)
        }
    }

    /// What the origin's targets are below, with a slash at its end: `http://127.0.0.1:40123/`.
    public var url: String { "http://127.0.0.1:\(self.port)/" }

    // MARK: What came

    /// The requests up to now, in the order in which they were complete. One is here before its answer is made.
    public var requests: [Request] { self.core.requests }

    /// How many connections were accepted up to now, those that have ended and those without a request among them.
    public var connectionCount: Int { self.core.connectionCount }

    /// Waits until at least `count` requests have come.
    ///
    /// - Returns: all that have come by then, in the order in which they were complete.
    /// - Throws: ``ScriptedOriginError`` with `stopped` when the origin ends before, and with `cancelled` when the task
    ///   does.
    public func requests(count: Int) async throws(ScriptedOriginError) -> [Request] {
        try await self.core.requests(count: count)
    }

    // MARK: The end

    /// Ends the origin: takes no more connections and closes those that there are, whatever is under way on them.
    /// Returns when all are closed. What was recorded stays. Nothing more comes of a second call.
    public func stop() async {
        for channel in self.close() { try? await channel.closeFuture.get() }
    }

    @discardableResult
    private func close() -> [any Channel] {
        let channels = [self.listener] + self.core.stop()
        for channel in channels { channel.close(promise: nil) }
        return channels
    }
}
