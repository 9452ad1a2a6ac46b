// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Bodies that are not there yet, and may never be.
@Suite(.timeLimit(.minutes(15))) struct WaitingSourceTests {
    /// A body of which only the first three bytes ever come.
    private struct Stuck {
        let body: BodyStream
        let feed: AsyncStream<ByteBuffer>.Continuation
        /// True if its reader has gone.
        let isLeft = Watched(false)

        init() {
            let (stream, feed) = AsyncStream.makeStream(of: ByteBuffer.self)
            feed.yield(ByteBuffer(string: "abc"))
            feed.onTermination = { [isLeft] _ in isLeft.change { $0 = true } }
            (self.body, self.feed) = (BodyStream(stream), feed)
        }
    }

    @Test func `a body that waits for its source keeps no other task waiting`() async throws {
        let stage = try SessionStage()
        let origin = try RawOrigin { connection in
            guard connection.number > 0 else {
                _ = try connection.readRequestHead()
                _ = try connection.waitForEnd()
                return
            }
            _ = try connection.readRequest()
            try connection.send(response("done"))
        }
        let stuck = Stuck()
        let task = try stage.session.uploadTask(request(origin.port, method: "POST"), from: .stream(stuck.body))
        task.resume()
        _ = try await origin.reachRequests(1)
        let other = try await stage.session.data(
            for: request(origin.port, method: "POST"), from: .bytes(ByteBuffer(string: "b")))
        #expect(String(buffer: other.body) == "done" && task.state == .running)
        task.cancel()
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
    }

    @Test func `cancelling ends a body that waits, and lets its source go`() async throws {
        let stage = try SessionStage()
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            _ = try connection.waitForEnd()
        }
        let stuck = Stuck()
        let task = try stage.session.uploadTask(request(origin.port, method: "POST"), from: .stream(stuck.body))
        task.resume()
        _ = try await origin.reachRequests(1)
        task.cancel()
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
        try await stuck.isLeft.reach("the stream's reader to go") { $0 }
        #expect(stage.session.tasks.isEmpty && stage.session.runningTransfers() == 0)
    }

    @Test func `a server that answers before it has the body is heard, and the source is let go`() async throws {
        let stage = try SessionStage()
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!")
            _ = try connection.waitForEnd()
        }
        let stuck = Stuck()
        let result = try await stage.session.data(
            for: request(origin.port, method: "POST"), from: .stream(stuck.body))
        #expect(result.response.status == 413 && String(buffer: result.body) == "no!")
        try await stuck.isLeft.reach("the stream's reader to go") { $0 }
        #expect(stage.session.runningTransfers() == 0)
    }

    @Test func `a large file is not sent on after an early refusal`() async throws {
        let (stage, folder) = (try SessionStage(), try TemporaryFolder())
        let path = try folder.write([], to: "up")
        try folder.grow("up", to: 256 << 20)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try connection.send("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!")
            while try connection.stream.readSome() != nil { connection.stream.forgetTaken() }
        }
        let task = try stage.session.uploadTask(request(origin.port, method: "PUT"), from: .file(path: path))
        task.resume()
        let result = try await task.value()
        #expect(result.response.status == 413 && task.progress.sent < 256 << 20)
        #expect(stage.session.runningTransfers() == 0)
    }

    /// The engine ignores SIGPIPE; a write to a connection that is gone is an error code.
    @Test func `a server that breaks the connection in the middle of a body is an error`() async throws {
        let (stage, folder) = (try SessionStage(), try TemporaryFolder())
        let path = try folder.write([], to: "up")
        try folder.grow("up", to: 64 << 20)
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            connection.stream.reset()
        }
        for _ in 0..<20 {
            let error = await sessionError {
                _ = try await stage.session.data(
                    for: request(origin.port, method: "PUT"), from: .file(path: path))
            }
            #expect(error?.code == .connectionBroken)
        }
        #expect(stage.session.runningTransfers() == 0)
    }

    @Test func `a body that waits for its source does not count as the server's silence`() async throws {
        let stage = try SessionStage()
        let origin = try RawOrigin(answering: response("done"))
        let stuck = Stuck()
        let slow = request(origin.port, method: "POST", timeout: .milliseconds(100))
        let task = try stage.session.uploadTask(slow, from: .stream(stuck.body))
        task.resume()
        // Another request that does time out tells that more than the time has passed.
        let silent = try RawOrigin { _ = try $0.waitForEnd() }
        for _ in 0..<3 {
            let error = await sessionError {
                _ = try await stage.session.data(for: request(silent.port, timeout: .milliseconds(100)))
            }
            #expect(error?.code == .timeout)
        }
        stuck.feed.yield(ByteBuffer(string: "def"))
        stuck.feed.finish()
        #expect(try await String(buffer: task.value().body) == "done" && origin.requests[0].text == "abcdef")
    }
}
