// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Decisions on the destination of a download, and the result when it gets there.
@Suite(.timeLimit(.minutes(15))) struct DestinationTests {
    let origin: NginxOrigin
    let folder: TemporaryFolder
    let growing: TemporaryFolder

    init() throws {
        self.origin = try NginxOrigin()
        self.folder = try TemporaryFolder()
        self.growing = try TemporaryFolder()
    }

    private var out: String { self.folder.path("out") }
    private var hello: [UInt8] { Array("hello\n".utf8) }
    private var wanted: SessionRequest { request(self.origin.httpPort, "/hello") }

    private func stage(hooks: (any HookSet)? = nil) throws -> SessionStage {
        var configuration = SessionConfiguration()
        configuration.temporaryFolder = self.growing.path
        return try SessionStage(configuration: configuration, hooks: hooks)
    }

    @Test func `TDL-17 the destination is chosen with the whole file and the response`() async throws {
        let stage = try self.stage()
        let (seen, out, growing) = (Watched<[UInt8]?>(nil), self.out, self.growing)
        let result = try await stage.session.download(
            self.wanted,
            to: .choosing { file, head in
                seen.change { $0 = growing.bytes(String(file.dropFirst(growing.path.count + 1))) }
                return "\(out).\(head.status)"
            })
        #expect(seen.current == self.hello && result.file == "\(out).200")
        #expect(self.folder.bytes("out.200") == self.hello && self.growing.names.isEmpty)
    }

    @Test func `TDL-13 TDL-17 without a destination the file stays where it is`() async throws {
        let stage = try self.stage()
        for destination in [DownloadDestination.temporary, .choosing { _, _ in nil }] {
            let result = try await stage.session.download(self.wanted, to: destination)
            let file = try #require(result.file)
            #expect(file.hasPrefix("\(self.growing.path)/"))
            #expect(self.growing.bytes(String(file.dropFirst(self.growing.path.count + 1))) == self.hello)
        }
        #expect(self.growing.names.count == 2)
    }

    @Test func `a choice that fails is the task's error, and nothing stays`() async throws {
        let stage = try self.stage()
        let error = await sessionError {
            _ = try await stage.session.download(self.wanted, to: .choosing { _, _ in throw Unwanted() })
        }
        #expect(error?.code == .hookFailed && error?.underlying is Unwanted && self.growing.names.isEmpty)
    }

    @Test func `SES-42 SES-44 the hook's destination goes first, and the task's is not asked`() async throws {
        let stage = try self.stage(hooks: PlacingHooks { _ in self.out })
        let events = stage.session.eventStream()
        let isAsked = Watched(false)
        let result = try await stage.session.download(
            self.wanted,
            to: .choosing { _, _ in
                isAsked.change { $0 = true }
                return nil
            })
        #expect(result.file == self.out && self.folder.bytes("out") == self.hello && !isAsked.current)
        #expect(await self.ends(in: events) == ["moved to \(self.out)", "completed"])
    }

    @Test func `SES-43 a hook without a destination leaves it to the task`() async throws {
        let stage = try self.stage(hooks: PlacingHooks { _ in nil })
        let result = try await stage.session.download(self.wanted, to: .file(self.out))
        #expect(result.file == self.out && self.folder.bytes("out") == self.hello)
    }

    @Test func `a hook that fails is the task's error`() async throws {
        let stage = try self.stage(hooks: PlacingHooks { _ in throw Unwanted() })
        let error = await sessionError { _ = try await stage.session.download(self.wanted, to: .temporary) }
        #expect(error?.code == .hookFailed && error?.underlying is Unwanted && self.growing.names.isEmpty)
    }

    @Test func `TDL-15 TDL-18 a move is an event, before the end`() async throws {
        let stage = try self.stage()
        let events = stage.session.eventStream()
        _ = try await stage.session.download(self.wanted, to: .file(self.out))
        #expect(await self.ends(in: events) == ["moved to \(self.out)", "completed"])
    }

    @Test func `TDL-15 TDL-16 a move that fails is an event and an error, and the whole file is kept and named`()
        async throws
    {
        let stage = try self.stage()
        let events = stage.session.eventStream()
        let place = self.folder.path("a/b/c")
        let error = await sessionError {
            _ = try await stage.session.download(self.wanted, to: .choosing { _, _ in place })
        }
        let kept = try #require(self.growing.names.first)
        #expect(self.growing.bytes(kept) == self.hello && self.growing.names.count == 1)
        #expect(
            error?.description == "\(place) cannot take the download, which is kept in \(self.growing.path)/\(kept) "
                + "(no such file or folder)")
        #expect(
            await self.ends(in: events) == ["not moved from \(self.growing.path)/\(kept) to \(place)", "completed"])
    }

    @Test func `TDL-16 a file that is there is replaced, or not, as it was asked for`() async throws {
        let stage = try self.stage()
        try self.folder.write("older", to: "out")
        let task = try stage.session.downloadTask(self.wanted, to: .file(self.out, replacingExisting: false))
        task.resume()
        let error = await sessionError { _ = try await task.value() }
        #expect(error?.code == .cannotWrite && error?.cause == "it is there already" && task.partialDownload == nil)
        #expect(self.folder.bytes("out") == Array("older".utf8) && self.folder.bytes("out.part") == self.hello)
        #expect(self.folder.names == ["out", "out.part", "out.part.json"])
        _ = try await stage.session.download(self.wanted, to: .file(self.out))
        #expect(self.folder.bytes("out") == self.hello && self.folder.names == ["out"])
        let new = self.folder.path("new")
        _ = try await stage.session.download(self.wanted, to: .file(new, replacingExisting: false))
        #expect(self.folder.bytes("new") == self.hello && self.folder.names == ["new", "out"])
    }

    @Test func `SES-40 a data task becomes a download with its handler and its progress`() async throws {
        let bytes = sampleBytes(500_000)
        try self.origin.serve(bytes, as: "big")
        let hooks = BecomingHooks(.file(self.out))
        let stage = try self.stage(hooks: hooks)
        let task = try stage.session.dataTask(request(self.origin.httpPort, "/files/big"))
        #expect(task.kind == .data && stage.session.dataTasks.count == 1)
        task.resume()
        let result = try await task.value()
        #expect(task.kind == .download && result.file == self.out && result.body.readableBytes == 0)
        #expect(self.folder.bytes("out") == bytes && task.progress.fractionReceived == 1)
        #expect(hooks.notices.current == ["became", "500000 bytes written"])
    }

    @Test func `SES-41 the hook for bytes is called when they are counted`() async throws {
        let hooks = BytesHooks()
        let stage = try self.stage(hooks: hooks)
        _ = try await stage.session.data(for: self.wanted)
        #expect(hooks.counts.current == [6, 6])
    }

    @Test func `a task that cannot become a download fails, and holds no connection`() async throws {
        try self.origin.serve(sampleBytes(3_000_000), as: "big")
        let stage = try self.stage(hooks: BecomingHooks(.file("/nonexistent/out")))
        let task = try stage.session.dataTask(request(self.origin.httpPort, "/files/big"))
        task.resume()
        let error = await sessionError { _ = try await task.value() }
        #expect(error?.code == .cannotWrite && stage.session.runningTransfers() == 0)
    }

    private func ends(in events: AsyncStream<SessionEvent>) async -> [String] {
        var ends: [String] = []
        for await event in events {
            switch event {
            case .taskResumed, .taskSuspended, .sessionInvalidated, .operationStarted, .operationStopped: continue
            case .downloadMoved(_, let place): ends.append("moved to \(place)")
            case .downloadMoveFailed(_, let file, let place, _): ends.append("not moved from \(file) to \(place)")
            case .taskCompleted: return ends + ["completed"]
            }
        }
        return ends
    }
}

private struct Unwanted: Error {}

private struct PlacingHooks: HookSet {
    private let place: @Sendable (String) throws -> String?

    init(_ place: @escaping @Sendable (String) throws -> String?) { self.place = place }

    var sessionHooks: SessionHooks {
        SessionHooks { hooks in
            hooks.finishedDownload = { [place] _, temporaryFile, _ in try place(temporaryFile) }
        }
    }
}

private struct BytesHooks: HookSet {
    let counts = Watched<[UInt64]>([])

    var sessionHooks: SessionHooks {
        SessionHooks { hooks in
            hooks.receivedBody = { [counts] task, bytes in
                let counted = task.progress.received
                counts.change { $0 += [UInt64(bytes.readableBytes), counted] }
            }
        }
    }
}

private struct BecomingHooks: HookSet {
    let notices = Watched<[String]>([])
    private let destination: DownloadDestination

    init(_ destination: DownloadDestination) { self.destination = destination }

    var sessionHooks: SessionHooks {
        SessionHooks { [notices, destination] hooks in
            hooks.receivedResponse = { _, _ in .becomeDownload(destination) }
            hooks.becameDownload = { _ in notices.change { $0.append("became") } }
            hooks.wroteDownload = { _, _, progress in
                guard progress.fractionReceived == 1 else { return }
                notices.change { $0.append("\(progress.received) bytes written") }
            }
            hooks.receivedBody = { _, _ in notices.change { $0.append("kept in memory") } }
        }
    }
}
