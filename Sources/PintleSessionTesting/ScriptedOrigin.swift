// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// An HTTP/1.1 server on 127.0.0.1, inside the test's process, that answers by a test's script and records the requests.
///
///     let origin = try ScriptedOrigin(["GET /users/1": .json(User(name: "Ada"))])
///     let api = try HTTPSession(base: origin.url)
///     let user = try await api.get("users/1", as: User.self)
///     #expect(origin.requests.map(\.target) == ["/users/1"])
///     await origin.stop()
///
/// Requests travel through sockets, so a program is tested with real connections, time limits and failures. The system
/// chooses the port, so any number of origins can run at the same time. An origin ends with ``stop()``, or when it is
/// released; it runs on the threads that SwiftNIO shares in the process and leaves none behind.
///
/// A request's body may have 64 MiB; a longer one is answered with 413, and bytes that are not HTTP/1.1 with 400. Neither
/// is recorded.
public final class ScriptedOrigin: Sendable {
    /// The TCP port that the system chose.
    public let port: Int
    private let core: ScriptedOriginCore
    private let listener: any Channel

    /// Starts an origin that calls a closure for each answer.
    ///
    /// - Parameter answer: called with each request, for several connections at once. Its task is cancelled when the
    ///   connection ends. If it throws, the response is 500 with the error as text.
    /// - Throws: ``ScriptedOriginError`` with `cannotListen` if the system has no port or descriptor left.
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
    /// A request that matches no route is answered with 404 and a text that names the request and the routes; it is
    /// recorded like all others.
    ///
    /// - Parameter routes: the answers by method and target, written as on the wire: `"GET /users?page=2"`.
    /// - Throws: ``ScriptedOriginError`` with `cannotListen` if the system has no port or descriptor left.
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

    /// The base URL of the origin's targets, with a slash at its end: `http://127.0.0.1:40123/`.
    public var url: String { "http://127.0.0.1:\(self.port)/" }

    // MARK: Requests received

    /// The requests received so far, in the order in which they were complete. A request is recorded before it is answered.
    public var requests: [Request] { self.core.requests }

    /// The number of connections accepted so far, including those that have ended and those without a request.
    public var connectionCount: Int { self.core.connectionCount }

    /// Waits until at least `count` requests were received.
    ///
    /// - Returns: all requests received by then, in the order in which they were complete.
    /// - Throws: ``ScriptedOriginError`` with `stopped` if the origin ends first, and with `cancelled` if the task is
    ///   cancelled.
    public func requests(count: Int) async throws(ScriptedOriginError) -> [Request] {
        try await self.core.requests(count: count)
    }

    // MARK: The end

    /// Ends the origin: accepts no more connections, and closes the open ones at once. Returns after all are closed. The
    /// recorded requests stay. A second call does nothing.
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
