// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Downloads whose server does not keep its word.
@Suite(.timeLimit(.minutes(15))) struct BrokenDownloadTests {
    let stage: SessionStage
    let folder: TemporaryFolder

    init() throws {
        self.stage = try SessionStage()
        self.folder = try TemporaryFolder()
    }

    /// The way in which a body of ten bytes ends after its fifth.
    enum Break: String, Sendable, CaseIterable {
        case closed, reset, chunkCut, silence

        var framing: String { self == .chunkCut ? "Transfer-Encoding: chunked" : "Content-Length: 10" }
        var start: String { self == .chunkCut ? "a\r\n01234" : "01234" }
        var code: SessionError.Code { self == .silence ? .timeout : .truncated }
    }

    private func origin(_ kind: Break, fields: String) throws -> RawOrigin {
        try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\n\(kind.framing)\r\n\(fields)\r\n\(kind.start)")
            switch kind {
            case .closed, .chunkCut: return
            // The reset may overtake bytes that were sent before.
            case .reset: connection.stream.reset()
            case .silence: _ = try connection.waitForEnd()
            }
        }
    }

    private func task(_ origin: RawOrigin) throws -> SessionTask {
        let wanted = request(origin.port, "/big", timeout: .seconds(2))
        return try self.stage.session.downloadTask(wanted, to: .file(self.folder.path("out")))
    }

    @Test(arguments: [Break.closed, .chunkCut, .silence])
    func `a body that ends early is an error, and its part is kept`(kind: Break) async throws {
        let origin = try self.origin(kind, fields: "ETag: \"v1\"\r\n")
        let task = try self.task(origin)
        task.resume()
        let error = await sessionError { _ = try await task.value() }
        #expect(error?.code == kind.code && task.error?.code == kind.code)
        #expect(task.partialDownload?.offset == 5 && task.partialDownload?.validator == "\"v1\"")
        #expect(self.folder.names == ["out.part", "out.part.json"])
        #expect(self.folder.bytes("out.part") == Array("01234".utf8))
        #expect(task.partialDownload?.length == (kind == .chunkCut ? nil : 10))
    }

    @Test(arguments: Break.allCases)
    func `without a validator nothing is kept of it`(kind: Break) async throws {
        let origin = try self.origin(kind, fields: "")
        let task = try self.task(origin)
        task.resume()
        let error = await sessionError { _ = try await task.value() }
        #expect(kind == .reset ? error != nil : error?.code == kind.code)
        #expect(task.partialDownload == nil && self.folder.names.isEmpty)
    }

    @Test func `a connection that breaks before the head leaves nothing`() async throws {
        let origin = try RawOrigin { connection in _ = try connection.readRequest() }
        let task = try self.task(origin)
        task.resume()
        #expect(await sessionError { _ = try await task.value() }?.code == .connectionBroken)
        #expect(self.folder.names.isEmpty)
    }

    @Test func `bytes behind the announced length are not part of the file`() async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n0123456789")
            _ = try connection.waitForEnd()
        }
        let task = try self.task(origin)
        task.resume()
        _ = try await task.value()
        #expect(self.folder.bytes("out") == Array("01234".utf8) && self.folder.names == ["out"])
    }

    @Test(arguments: ["18446744073709551615", "9223372036854775807", "99999999999999999999", "-5", "5, 6"])
    func `a length that cannot be is an error`(length: String) async throws {
        let origin = try RawOrigin { connection in
            _ = try connection.readRequest()
            try connection.send("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: \(length)\r\n\r\n01234")
        }
        let task = try self.task(origin)
        task.resume()
        let code = await sessionError { _ = try await task.value() }?.code
        #expect([.truncated, .malformedResponse].contains(code) && self.folder.bytes("out") == nil)
    }

    @Test func `the time that a task is given counts for downloads, and what has come is kept`() async throws {
        var configuration = SessionConfiguration()
        configuration.resourceTimeout = .seconds(2)
        let stage = try SessionStage(configuration: configuration)
        let origin = try self.origin(.silence, fields: "ETag: \"v1\"\r\n")
        let task = try stage.session.downloadTask(request(origin.port), to: .file(self.folder.path("out")))
        task.resume()
        #expect(await sessionError { _ = try await task.value() }?.code == .timeout)
        #expect(task.partialDownload?.offset == (task.progress.received == 5 ? 5 : nil))
    }
}
