// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Downloads that are resumed, from a server that supports ranges.
@Suite(.timeLimit(.minutes(15))) struct ResumeTests {
    let origin: NginxOrigin
    let served: TemporaryFolder
    let folder: TemporaryFolder
    let bytes = sampleBytes(1_000_000)

    init() throws {
        self.served = try TemporaryFolder()
        self.folder = try TemporaryFolder()
        try self.served.write(self.bytes, to: "big")
        // Slow enough for a test to stop it long before its end, even on a busy machine; the rest comes at once.
        let slowly = "alias \(self.served.path)/big; if ($http_if_range = '') { set $limit_rate 150k; }"
        self.origin = try NginxOrigin(
            locations: """
                location = /big { \(slowly) }
                location = /weak { \(slowly) etag off; add_header ETag 'W/"1"'; }
                location = /bare { \(slowly) etag off; add_header Last-Modified ""; }
                location = /dated { \(slowly) etag off; }
                location = /away { return 302 /big; }

                """)
    }

    private var out: String { self.folder.path("out") }

    private func task(_ path: String, in stage: SessionStage) throws -> SessionTask {
        try stage.session.downloadTask(request(self.origin.httpPort, path), to: .file(self.out))
    }

    /// Lets a task run until it has something, and no longer.
    private func begin(_ task: SessionTask, upTo count: UInt64 = 50_000) async {
        let progress = task.progressStream
        task.resume()
        for await step in progress where step.received >= count { return }
    }

    @Test func `HOP-06 a download that keeps its part goes on with it`() async throws {
        let hooks = ResumeHooks()
        let stage = try SessionStage(hooks: hooks)
        let task = try self.task("/big", in: stage)
        await self.begin(task)
        let part = try #require(await task.cancelKeepingPart())
        #expect(part.url == "http://127.0.0.1:\(self.origin.httpPort)/big" && part.file == "\(self.out).part")
        #expect(part.offset >= 50_000 && part.offset < 1_000_000 && part.length == 1_000_000)
        #expect(task.partialDownload == part && task.error?.code == .cancelled)
        let again = try stage.session.downloadTask(resuming: part, to: .file(self.out))
        again.resume()
        let result = try await again.value()
        #expect(result.response.status == 206 && self.folder.bytes("out") == self.bytes)
        #expect(result.response.fields["Content-Length"] == "\(1_000_000 - part.offset)")
        #expect(self.folder.names == ["out"] && again.progress.received == 1_000_000)
        #expect(again.progress.fractionReceived == 1 && hooks.resumed.current == [part.offset])
    }

    @Test func `a cancelled download to a file that is to be resumed is gone on with by the next`() async throws {
        let stage = try SessionStage()
        let task = try self.task("/big", in: stage)
        await self.begin(task)
        task.cancel()
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
        #expect(self.folder.names == ["out.part", "out.part.json"])
        let again = try self.task("/big", in: stage)
        again.resume()
        let result = try await again.value()
        #expect(result.response.status == 206 && self.folder.bytes("out") == self.bytes)
        #expect(self.folder.names == ["out"])
    }

    @Test func `a cancelled download that is not to be resumed leaves nothing, but can be asked to`() async throws {
        let stage = try SessionStage()
        let destination = DownloadDestination.file(self.out, resuming: false)
        let wanted = request(self.origin.httpPort, "/big")
        let task = try stage.session.downloadTask(wanted, to: destination)
        await self.begin(task)
        task.cancel()
        #expect(await sessionError { _ = try await task.value() }?.code == .cancelled)
        #expect(task.partialDownload == nil && self.folder.names.isEmpty)
        let second = try stage.session.downloadTask(wanted, to: destination)
        await self.begin(second)
        let part = try #require(await second.cancelKeepingPart())
        #expect(self.folder.names == ["out.part", "out.part.json"])
        let third = try stage.session.downloadTask(resuming: part, to: destination)
        third.resume()
        #expect(try await third.value().response.status == 206)
        #expect(self.folder.bytes("out") == self.bytes)
    }

    @Test func `the part of a download whose place was not chosen yet is gone on with`() async throws {
        var configuration = SessionConfiguration()
        configuration.temporaryFolder = self.folder.path
        let stage = try SessionStage(configuration: configuration)
        let (wanted, out) = (request(self.origin.httpPort, "/big"), self.out)
        let task = try stage.session.downloadTask(wanted, to: .temporary)
        await self.begin(task)
        let part = try #require(await task.cancelKeepingPart())
        let again = try stage.session.downloadTask(resuming: part, to: .choosing { _, _ in out })
        again.resume()
        #expect(try await again.value().response.status == 206)
        #expect(self.folder.bytes("out") == self.bytes && self.folder.names == ["out"])
    }

    @Test func `a file that has changed is begun again by the server itself`() async throws {
        let stage = try SessionStage()
        let task = try self.task("/big", in: stage)
        await self.begin(task)
        _ = await task.cancelKeepingPart()
        let newer = sampleBytes(700_001)
        try self.served.write(newer, to: "big")
        let again = try self.task("/big", in: stage)
        again.resume()
        let result = try await again.value()
        #expect(result.response.status == 200 && result.metrics.transactions.count == 1)
        #expect(self.folder.bytes("out") == newer && self.folder.names == ["out"])
    }

    @Test func `a date that is old enough is a validator too`() async throws {
        try setModificationDate(of: self.served.path("big"), to: 1_000_000_000)
        let stage = try SessionStage()
        let task = try self.task("/dated", in: stage)
        await self.begin(task)
        let part = try #require(await task.cancelKeepingPart())
        #expect(part.validator == "Sun, 09 Sep 2001 01:46:40 GMT")
        let again = try self.task("/dated", in: stage)
        again.resume()
        #expect(try await again.value().response.status == 206)
        #expect(self.folder.bytes("out") == self.bytes)
    }

    @Test(arguments: ["/weak", "/bare"])
    func `without a strong validator there is nothing to go on with`(path: String) async throws {
        let stage = try SessionStage()
        let task = try self.task(path, in: stage)
        await self.begin(task)
        #expect(await task.cancelKeepingPart() == nil && self.folder.names.isEmpty)
        let again = try self.task(path, in: stage)
        again.resume()
        #expect(try await again.value().response.status == 200)
        #expect(self.folder.bytes("out") == self.bytes)
    }

    @Test func `a part is gone on with across a redirect`() async throws {
        let stage = try SessionStage()
        let task = try self.task("/away", in: stage)
        await self.begin(task)
        let part = try #require(await task.cancelKeepingPart())
        #expect(part.url.hasSuffix("/away"))
        let again = try self.task("/away", in: stage)
        again.resume()
        let result = try await again.value()
        #expect(result.response.status == 206 && result.metrics.redirectCount == 1)
        #expect(self.folder.bytes("out") == self.bytes)
    }

    @Test func `nothing is left of a task that has not begun, has nothing yet, or is no download`() async throws {
        let stage = try SessionStage()
        let task = try self.task("/big", in: stage)
        #expect(await task.cancelKeepingPart() == nil && task.state == .completed)
        let origin = try RawOrigin { _ = try $0.waitForEnd() }
        let second = try stage.session.downloadTask(request(origin.port), to: .file(self.out))
        second.resume()
        #expect(await second.cancelKeepingPart() == nil)
        let data = try stage.session.dataTask(request(origin.port))
        data.resume()
        #expect(await data.cancelKeepingPart() == nil && self.folder.names.isEmpty)
    }

    @Test func `a download that was suspended keeps its part too`() async throws {
        let stage = try SessionStage()
        let task = try self.task("/big", in: stage)
        await self.begin(task)
        task.suspend()
        #expect(await task.cancelKeepingPart() != nil)
        let again = try self.task("/big", in: stage)
        again.resume()
        #expect(try await again.value().response.status == 206)
        #expect(self.folder.bytes("out") == self.bytes)
    }

    @Test func `a part that is gone fails the task that was to go on with it`() async throws {
        let stage = try SessionStage()
        let task = try self.task("/big", in: stage)
        await self.begin(task)
        let part = try #require(await task.cancelKeepingPart())
        try self.folder.remove("out.part")
        let error = await sessionError {
            let again = try stage.session.downloadTask(resuming: part, to: .file(self.out))
            again.resume()
            _ = try await again.value()
        }
        #expect(error?.message == "\(self.out).part is not the partial download that it was")
        #expect(error?.code == .cannotWrite && self.folder.names.isEmpty)
    }

    @Test func `what is no file is not replaced by one`() async throws {
        #expect(mkfifo(self.out, 0o600) == 0)
        let stage = try SessionStage()
        let error = await #expect(throws: SessionError.self) {
            try await stage.session.download(request(self.origin.httpPort, "/hello"), to: .file(self.out))
        }
        #expect(error?.code == .cannotWrite)
        var status = stat()
        #expect(lstat(self.out, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO, "it is still a pipe")
    }

    @Test func `a request with a range of its own gets just that, and nothing is added to it later`() async throws {
        let stage = try SessionStage()
        var wanted = request(self.origin.httpPort, "/big")
        wanted.fields.set("Range", "bytes=100000-899999")
        let task = try stage.session.downloadTask(wanted, to: .file(self.out))
        await self.begin(task)
        #expect(await task.cancelKeepingPart() == nil && self.folder.names.isEmpty)
        let result = try await stage.session.download(wanted, to: .file(self.out))
        #expect(result.response.status == 206 && self.folder.bytes("out") == Array(self.bytes[100_000..<900_000]))
    }
}

private struct ResumeHooks: HookSet {
    let resumed = Watched<[UInt64]>([])

    var sessionHooks: SessionHooks {
        SessionHooks { hooks in
            hooks.resumedDownload = { [resumed] _, offset, _ in resumed.change { $0.append(offset) } }
        }
    }
}
