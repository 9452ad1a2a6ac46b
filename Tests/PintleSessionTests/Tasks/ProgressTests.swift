// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// The progress that a task reports.
@Suite(.timeLimit(.minutes(15))) struct ProgressTests {
    private let stage: SessionStage
    private let folder: TemporaryFolder

    init() throws {
        self.stage = try SessionStage()
        self.folder = try TemporaryFolder()
    }

    /// Every step that a reader of the stream sees, to its end.
    private func steps(of task: SessionTask) async throws -> [TaskProgress] {
        let stream = task.progressStream
        task.resume()
        var steps: [TaskProgress] = []
        for await step in stream { steps.append(step) }
        _ = try await task.value()
        return steps
    }

    @Test func `TDL-01 progress begins with nothing moved and nothing known`() async throws {
        let task = try self.stage.session.dataTask(request(1))
        var steps = task.progressStream.makeAsyncIterator()
        let first = try #require(await steps.next())
        #expect(first.sent == 0 && first.received == 0 && first == task.progress)
        #expect(first.expectedToSend == nil && first.expectedToReceive == nil)
        #expect(task.progress.fractionSent == nil && task.progress.fractionReceived == nil)
        task.cancel()
        #expect(await steps.next() == nil)
    }

    @Test(arguments: [SessionTask.Kind.data, .download])
    func `TDL-02 TDL-03 TDL-05 TDL-06 a response's progress grows up to 1`(kind: SessionTask.Kind) async throws {
        let bytes = [UInt8].pattern(2_000_000)
        let nginx = try NginxOrigin()
        try nginx.serve(bytes, as: "big")
        let asked = request(nginx.httpPort, "/files/big")
        let task =
            kind == .data
            ? try self.stage.session.dataTask(asked)
            : try self.stage.session.downloadTask(asked, to: .file("\(self.folder.path)/out"))
        let steps = try await self.steps(of: task)
        #expect(steps.map(\.received) == steps.map(\.received).sorted())
        #expect(steps.last?.fractionReceived == 1 && steps.last?.received == UInt64(bytes.count))
        #expect(task.progress == steps.last && task.progress.expectedToReceive == UInt64(bytes.count))
        #expect(steps.allSatisfy { ($0.fractionReceived ?? 0) <= 1 })
    }

    @Test func `TDL-04 TDL-05 TDL-07 a body's progress grows up to 1`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        for (count, fromFile) in [(20_000, false), (1_000_000, false), (1_000_000, true)] {
            let bytes = [UInt8].pattern(count)
            let source: UploadSource =
                fromFile ? .file(path: try self.folder.write(bytes, to: "up")) : .bytes(ByteBuffer(bytes: bytes))
            let task = try self.stage.session.uploadTask(request(origin.port, method: "PUT"), from: source)
            let steps = try await self.steps(of: task)
            #expect(steps.map(\.sent) == steps.map(\.sent).sorted())
            #expect(steps.last?.fractionSent == 1 && steps.last?.sent == UInt64(count))
            #expect(steps.last?.expectedToSend == UInt64(count) && steps.last?.received == 4)
        }
    }

    @Test func `TDL-06 a response of unknown length is counted, and has no fraction`() async throws {
        let origin = try RawOrigin(
            answering: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        let task = try self.stage.session.dataTask(request(origin.port))
        let last = try await self.steps(of: task).last
        #expect(last?.received == 5 && last?.expectedToReceive == nil && last?.fractionReceived == nil)
    }

    @Test func `TDL-06 an empty response is whole`() async throws {
        let origin = try RawOrigin(answering: response(""))
        let task = try self.stage.session.dataTask(request(origin.port))
        #expect(try await self.steps(of: task).last?.fractionReceived == 1)
    }

    @Test func `TDL-06 the bodies of redirects and challenges are not counted`() async throws {
        let origin = try origin { request in
            request.target == "/go" ? answer(302, ["Location: /there"], "0123456789") : answer(200, [], "there")
        }
        let task = try self.stage.session.dataTask(request(origin.port, "/go"))
        let steps = try await self.steps(of: task)
        #expect(steps.last?.received == 5 && steps.allSatisfy { $0.received <= 5 })
    }

    @Test func `TDL-05 who comes late sees how it ended`() async throws {
        let origin = try RawOrigin(answering: response("done"))
        let task = try self.stage.session.dataTask(request(origin.port))
        task.resume()
        _ = try await task.value()
        var steps: [TaskProgress] = []
        for await step in task.progressStream { steps.append(step) }
        #expect(steps.map(\.received) == [4])
    }
}
