// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct SmokeTests {
    let stage: SessionStage
    let folder: TemporaryFolder

    init() throws {
        self.stage = try SessionStage()
        self.folder = try TemporaryFolder()
    }

    @Test func `data`() async throws {
        let origin = try NginxOrigin(locations: "location = /go { return 302 /hello; }\n")
        let result = try await self.stage.session.data(for: request(origin.httpPort, "/go"))
        #expect(String(buffer: result.body) == "hello\n" && result.metrics.redirectCount == 1)
        #expect(result.metrics.transactions.count == 2 && self.stage.session.tasks.isEmpty)
    }

    @Test func `download and resume`() async throws {
        let origin = try NginxOrigin(locations: "location /slow/ { alias \(self.folder.path)/; limit_rate 200k; }\n")
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        try origin.serve(bytes, as: "big")
        try self.folder.write(bytes, to: "big")
        let path = "\(self.folder.path)/out"
        let result = try await self.stage.session.download(request(origin.httpPort, "/files/big"), to: .file(path))
        #expect(result.file == path && Files.bytes(path) == bytes)
        let task = try self.stage.session.downloadTask(request(origin.httpPort, "/slow/big"), to: .file(path + "2"))
        let progress = task.progressStream
        task.resume()
        for await step in progress where step.received > 100_000 { break }
        let part = await task.cancelKeepingPart()
        #expect(part != nil && task.state == .completed && task.error?.code == .cancelled)
        let again = try self.stage.session.downloadTask(request(origin.httpPort, "/slow/big"), to: .file(path + "2"))
        again.resume()
        _ = try await again.value()
        #expect(again.response?.status == 206 && Files.bytes(path + "2") == bytes)
    }

    @Test func `suspend, resume, invalidate`() async throws {
        let origin = try ScriptedOrigin(answering: response("done"))
        let stage = try SessionStage()
        let events = stage.session.eventStream()
        let task = try stage.session.dataTask(request(origin.port))
        #expect(task.state == .suspended && stage.session.tasks.count == 1)
        task.resume()
        task.suspend()
        task.resume()
        #expect(try await String(buffer: task.value().body) == "done")
        await stage.session.finishTasksAndInvalidate()
        var names: [String] = []
        for await event in events { names.append("\(event)".prefix { $0 != "(" }.description) }
        #expect(names == ["taskResumed", "taskSuspended", "taskResumed", "taskCompleted", "sessionInvalidated"])
    }

    @Test func `upload file`() async throws {
        let origin = try NginxOrigin()
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        let path = try self.folder.write(bytes, to: "up")
        let result = try await self.stage.session.data(
            for: request(origin.httpPort, "/store/x", method: "PUT"), from: .file(path: path))
        #expect(result.response.status == 201 && origin.stored("x") == bytes)
    }
}

enum Files {
    static func bytes(_ path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { Array($0) } }
}
