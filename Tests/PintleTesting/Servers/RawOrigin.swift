// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// A raw TCP server that remembers every byte it receives and answers as a script says: for origins that do what no proper
/// server would.
///
/// The script runs once for each connection, on its own thread; when it returns, the connection is closed.
package final class RawOrigin: Sendable {
    /// One connection, with the operations that a script has.
    package struct Connection: Sendable {
        /// The socket.
        package let stream: SocketStream
        /// The number of the connection, from zero in the order of acceptance.
        package let number: Int
        fileprivate let requests: Watched<[Message]>

        /// Reads a request with its body, and remembers it.
        package func readRequest() throws -> Message {
            let request = try self.stream.readRequest()
            self.requests.change { $0.append(request) }
            return request
        }

        /// Remembers a request whose body is read in another way, or never.
        package func readRequestHead() throws -> MessageHead {
            let head = try self.stream.readHead()
            self.requests.change { $0.append(Message(head: head, body: [], trailers: [])) }
            return head
        }

        package func send(_ text: String) throws { try self.stream.send(text) }

        /// Waits until the peer has ended the connection.
        package func waitForEnd() throws -> SocketStream.Ending { try self.stream.readToEnd().ending }
    }

    package typealias Script = @Sendable (Connection) throws -> Void

    private struct State: Sendable {
        var connections: [SocketStream] = []
        var running = 0
        var isStopped = false
    }

    /// The port on which it listens, on 127.0.0.1.
    package let port: Int
    private let descriptor: Int32
    private let state = Watched(State())
    private let seen = Watched<[Message]>([])
    private let acceptorEnded = Watched(false)

    /// Listens on a port that the system chooses.
    package init(_ script: @escaping Script) throws {
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard LoopbackAddress.bind(self.descriptor, port: 0) == 0, listen(self.descriptor, 256) == 0 else {
            throw TestFailure("a scripted origin cannot listen: errno \(errno)")
        }
        self.port = LoopbackAddress.port(of: self.descriptor)
        let (descriptor, state, seen, ended) = (self.descriptor, self.state, self.seen, self.acceptorEnded)
        Thread.detachNewThread {
            Self.acceptAll(on: descriptor, state, seen, script)
            ended.change { $0 = true }
        }
    }

    /// Answers every request on every connection with the same bytes.
    package convenience init(answering response: String) throws {
        try self.init { connection in
            while true {
                _ = try connection.readRequest()
                try connection.send(response)
            }
        }
    }

    deinit { self.stop() }

    /// The requests that were read, in the order of their arrival.
    package var requests: [Message] { self.seen.current }

    /// The connections that were accepted.
    package var connections: [SocketStream] { self.state.current.connections }

    /// Waits until this many requests were read.
    @discardableResult
    package func waitForRequests(_ count: Int) throws -> [Message] {
        try self.seen.wait(for: "\(count) requests") { $0.count >= count }
    }

    /// Waits until this many requests were read, without blocking a thread of Swift's tasks.
    @discardableResult
    package func reachRequests(_ count: Int) async throws -> [Message] {
        try await self.seen.reach("\(count) requests") { $0.count >= count }
    }

    /// Waits until every script has returned, so that every connection is closed.
    package func waitUntilQuiet() throws { try self.state.wait(for: "the scripts to end") { $0.running == 0 } }

    /// Closes everything and waits for the threads to end.
    package func stop() {
        let isFirst = self.state.change { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        guard isFirst else { return }
        shutdown(self.descriptor, Int32(SHUT_RDWR))
        _ = try? self.acceptorEnded.wait(for: "the acceptor to end") { $0 }
        close(self.descriptor)
        for connection in self.state.current.connections { connection.interrupt() }
        _ = try? self.waitUntilQuiet()
    }

    private static func acceptAll(
        on descriptor: Int32, _ state: Watched<State>, _ seen: Watched<[Message]>, _ script: @escaping Script
    ) {
        while true {
            let accepted = Glibc.accept(descriptor, nil, nil)
            if accepted < 0, errno == EINTR || errno == ECONNABORTED { continue }
            guard accepted >= 0 else { return }
            _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
            _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
            let stream = SocketStream(descriptor: accepted)
            let number = state.change { state in
                state.connections.append(stream)
                state.running += 1
                return state.connections.count - 1
            }
            Thread.detachNewThread {
                // A script ends with an error when its peer leaves; the recorded requests are what matters.
                try? script(Connection(stream: stream, number: number, requests: seen))
                stream.close()
                state.change { $0.running -= 1 }
            }
        }
    }
}
