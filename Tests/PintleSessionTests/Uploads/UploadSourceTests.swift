// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// Sources of the bytes of a body, and their faults.
@Suite(.timeLimit(.minutes(15))) struct UploadSourceTests {
    let stage: SessionStage
    let folder: TemporaryFolder
    let origin: RawOrigin

    init() throws {
        self.stage = try SessionStage()
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin(answering: response("done"))
    }

    private func send(_ source: UploadSource, fields: Fields = Fields()) async throws -> Message {
        let wanted = request(self.origin.port, method: "POST", fields: fields)
        let result = try await self.stage.session.data(for: wanted, from: source)
        #expect(result.response.status == 200)
        return try await self.origin.reachRequests(1)[0]
    }

    private func failure(of source: UploadSource, fields: Fields = Fields()) async -> SessionError? {
        await sessionError { _ = try await self.send(source, fields: fields) }
    }

    // MARK: Bytes and files

    @Test func `TDL-04 a file is sent with its length, and its progress ends at one`() async throws {
        let bytes = sampleBytes(3_000_000)
        let path = try self.folder.write(bytes, to: "up")
        symlink(path, self.folder.path("link"))
        let task = try self.stage.session.uploadTask(
            request(self.origin.port, method: "PUT"), from: .file(path: self.folder.path("link")))
        task.resume()
        _ = try await task.value()
        let seen = self.origin.requests[0]
        #expect(seen.body == bytes && seen["Content-Length"] == "3000000")
        #expect(task.progress.sent == 3_000_000 && task.progress.fractionSent == 1)
    }

    @Test func `empty bodies have a length of zero, or no chunk`() async throws {
        let path = try self.folder.write([], to: "empty")
        let once = AsyncStream<ByteBuffer> { $0.finish() }
        let sources: [UploadSource] = [
            .bytes(ByteBuffer()), .file(path: path), .multipart(MultipartForm()), .stream(BodyStream(once, length: 0)),
            .stream(BodyStream { AsyncStream<ByteBuffer> { $0.finish() } }),
            .stream(BodyStream(Self.pieces("", "", ""))),
        ]
        for (number, source) in sources.enumerated() {
            _ = try await self.send(source)
            let seen = self.origin.requests[number]
            #expect(seen.body == [], "source \(number)")
            #expect(seen["Content-Length"] == (number < 4 ? "0" : nil), "source \(number)")
            #expect(seen["Transfer-Encoding"] == (number < 4 ? nil : "chunked"), "source \(number)")
        }
    }

    @Test func `what is no regular file is an error before anything is asked`() async throws {
        mkfifo(self.folder.path("pipe"), 0o600)
        symlink(self.folder.path("loop"), self.folder.path("loop"))
        try self.folder.write("a file", to: "file")
        let expected = [
            "missing": "cannot be read (no such file or folder)",
            "": "is not a regular file; send it as a stream",
            "pipe": "is not a regular file; send it as a stream",
            "loop": "cannot be read (too many symbolic links)",
            "file/below": "cannot be read (not a folder)",
        ]
        for (name, words) in expected {
            let path = self.folder.path(name)
            let error = await self.failure(of: .file(path: path))
            #expect(error?.code == .unreadableSource && error?.description == "\(path) \(words)")
        }
        #expect(self.origin.connections.isEmpty)
    }

    @Test(.enabled(if: geteuid() != 0, "root may read everything"))
    func `a file that may not be read is an error`() async throws {
        let path = try self.folder.write("secret", to: "secret")
        chmod(path, 0)
        #expect(await self.failure(of: .file(path: path))?.description == "\(path) cannot be read (permission denied)")
    }

    /// A change of a file of 32 MiB, more than sockets buffer, while it is sent.
    enum Change: Int64, Sendable, CaseIterable {
        case shrinks = 1_000_000
        case grows = 50_000_000
    }

    @Test(arguments: Change.allCases)
    func `a file that shrinks while it is sent is an error, one that grows is sent as it was`(
        change: Change
    ) async throws {
        let size: Int64 = 32 << 20
        let path = try self.folder.write([], to: "up")
        #expect(truncate(path, off_t(size)) == 0)
        let (goesOn, taken) = (Watched(false), Watched<Int64?>(nil))
        let origin = try RawOrigin { connection in
            _ = try connection.readRequestHead()
            try goesOn.wait(for: "the file to change") { $0 }
            var count: Int64 = 0
            while count < size, let piece = try connection.stream.readSome() { count += Int64(piece.count) }
            taken.change { $0 = count }
            try connection.send(response("done"))
            _ = try connection.waitForEnd()
        }
        let task = try self.stage.session.uploadTask(
            request(origin.port, method: "PUT"), from: .file(path: path))
        task.resume()
        _ = try await origin.reachRequests(1)
        #expect(truncate(path, off_t(change.rawValue)) == 0)
        goesOn.change { $0 = true }
        let error = await sessionError { _ = try await task.value() }
        switch change {
        case .shrinks:
            #expect(error?.message == "\(path) became shorter, or unreadable, while it was sent")
            #expect(error?.code == .unreadableSource && task.progress.sent < UInt64(size))
        case .grows:
            #expect(error == nil && task.progress.sent == UInt64(size) && taken.current == size)
        }
        #expect(self.stage.session.runningTransfers() == 0)
    }

    // MARK: Streams

    private static func pieces(_ texts: String...) -> AsyncStream<ByteBuffer> {
        AsyncStream { feed in
            for text in texts { feed.yield(ByteBuffer(string: text)) }
            feed.finish()
        }
    }

    @Test func `a stream of the right length is sent with it, one without goes chunked`() async throws {
        let seen = try await self.send(.stream(BodyStream(Self.pieces("ab", "", "cde"), length: 5)))
        #expect(seen.text == "abcde" && seen["Content-Length"] == "5")
        _ = try await self.send(.stream(BodyStream(Self.pieces("ab", "cde"))))
        #expect(self.origin.requests[1].text == "abcde" && self.origin.requests[1]["Content-Length"] == nil)
    }

    @Test func `SES-34 a Content-Length gives a stream its length, and the hook the total`() async throws {
        let hooks = SentHooks()
        let stage = try SessionStage(hooks: hooks)
        for fields in [["Content-Length": "5"], [:]] as [Fields] {
            _ = try await stage.session.data(
                for: request(self.origin.port, method: "POST", fields: fields),
                from: .stream(BodyStream(Self.pieces("abcde"))))
        }
        #expect(self.origin.requests.map { $0["Content-Length"] } == ["5", nil])
        #expect(self.origin.requests.map(\.text) == ["abcde", "abcde"])
        #expect(hooks.totals.current == [5, nil])
    }

    @Test(arguments: [
        (6, "only 5"), (4, "more"), (UInt64(Int64.max), "only 5"),
    ])
    func `a stream of another length than it promised is an error`(length: UInt64, what: String) async throws {
        let error = await self.failure(of: .stream(BodyStream(Self.pieces("abc", "de"), length: length)))
        #expect(error?.code == .unreadableSource)
        #expect(error?.message == "the body was to have \(length) bytes, and has \(what)")
        let declared = await self.failure(
            of: .stream(BodyStream(Self.pieces("abc", "de"))), fields: ["Content-Length": "\(length)"])
        #expect(declared?.message == error?.message)
        #expect(self.origin.requests.isEmpty && self.stage.session.runningTransfers() == 0)
    }

    @Test func `a stream that throws is an error, behind which is its own`() async throws {
        struct Dry: Error {}
        let source = AsyncThrowingStream<ByteBuffer, any Error> { feed in
            feed.yield(ByteBuffer(string: "abc"))
            feed.finish(throwing: Dry())
        }
        let error = await self.failure(of: .stream(BodyStream(source)))
        #expect(error?.code == .unreadableSource && error?.underlying is Dry)
        #expect(error?.message == "the stream of the body failed: Dry()")
        #expect(self.origin.requests.isEmpty && self.stage.session.runningTransfers() == 0)
    }

    @Test func `a stream that was read by another task is an error`() async throws {
        let body = BodyStream(Self.pieces("abc"))
        _ = try await self.send(.stream(body))
        let error = await self.failure(of: .stream(body))
        #expect(error?.message == "the stream of the body was read by an earlier task")
    }

    // MARK: Forms

    @Test func `a form is sent with its type and length, files read as they are sent`() async throws {
        var form = MultipartForm()
        form.append(name: "text", text: "hello")
        try form.append(name: "file", file: self.folder.write(sampleBytes(500_000), to: "a.bin"))
        let seen = try await self.send(.multipart(form))
        #expect(seen["Content-Type"] == form.contentType && seen["Content-Length"] == "\(seen.body.count)")
        let start = "--\(form.boundary)\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\nhello\r\n"
        #expect(seen.body.starts(with: start.utf8))
        #expect(seen.body.suffix(500_000 + form.boundary.utf8.count + 8).starts(with: sampleBytes(500_000)))
        let own = try await self.stage.session.data(
            for: request(self.origin.port, method: "POST", fields: ["Content-Type": "multipart/mixed; boundary=x"]),
            from: .multipart(form))
        #expect(own.response.status == 200)
        #expect(self.origin.requests[1].head.values("Content-Type") == ["multipart/mixed; boundary=x"])
    }

    @Test func `a file that has changed since it was put into a form is an error`() async throws {
        var form = MultipartForm()
        let path = try self.folder.write("0123456789", to: "a.txt")
        try form.append(name: "file", file: path)
        try self.folder.write("012", to: "a.txt")
        let error = await self.failure(of: .multipart(form))
        #expect(error?.message == "\(path) has 3 bytes; it had 10 when the form was made")
        #expect(error?.code == .unreadableSource && self.origin.requests.isEmpty)
        try self.folder.remove("a.txt")
        #expect(await self.failure(of: .multipart(form))?.code == .unreadableSource)
    }

    @Test func `a part that streams may be of unknown length, or throw`() async throws {
        struct Dry: Error {}
        var form = MultipartForm()
        try form.append(
            name: "s", stream: .init(length: nil) { Self.parts([[1, 2], [], [3]], failure: nil) }, fileName: "s")
        let seen = try await self.send(.multipart(form))
        #expect(seen["Transfer-Encoding"] == "chunked")
        #expect(seen.body.suffix(form.boundary.utf8.count + 11).starts(with: [1, 2, 3]))
        try form.append(
            name: "bad", stream: .init(length: nil) { Self.parts([[1]], failure: Dry()) }, fileName: "s")
        #expect(await self.failure(of: .multipart(form))?.underlying is Dry)
        try form.append(name: "closed", stream: .init(length: nil) { throw Dry() }, fileName: "s")
        #expect(await self.failure(of: .multipart(form))?.underlying is Dry)
    }

    private static func parts(
        _ pieces: [[UInt8]], failure: (any Error)?
    ) -> AsyncThrowingStream<[UInt8], any Error> {
        AsyncThrowingStream { feed in
            for piece in pieces { feed.yield(piece) }
            feed.finish(throwing: failure)
        }
    }
}

private struct SentHooks: HookSet {
    let totals = Watched<[UInt64?]>([])

    var sessionHooks: SessionHooks {
        SessionHooks { hooks in
            hooks.sentBody = { [totals] _, _, progress in totals.change { $0.append(progress.expectedToSend) } }
        }
    }
}
