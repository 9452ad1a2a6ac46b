// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Files that a download has not made, or not begun to write, and those that only its user may read.
@Suite(.timeLimit(.minutes(15))) struct OwnershipTests {
    let stage: SessionStage
    let folder: TemporaryFolder
    private static let whole = "0123456789"

    init() throws {
        self.folder = try TemporaryFolder()
        var configuration = SessionConfiguration()
        configuration.temporaryFolder = self.folder.path
        self.stage = try SessionStage(configuration: configuration)
    }

    private var out: String { self.folder.path("out") }
    private var text: String? { self.folder.bytes("out").map { String(decoding: $0, as: UTF8.self) } }

    private func mode(_ name: String) -> mode_t {
        var status = stat()
        return stat(self.folder.path(name), &status) == 0 ? status.st_mode & 0o777 : 0
    }

    /// Sends half of its bytes, then nothing until the client goes; clients that ask for the rest get it.
    private func halfway(_ fields: String = "ETag: \"v1\"\r\n") throws -> RawOrigin {
        try RawOrigin { connection in
            if try connection.readRequest()["Range"] == "bytes=5-" {
                try connection.send(
                    "HTTP/1.1 206 Partial\r\nContent-Range: bytes 5-9/10\r\n\(fields)Content-Length: 5\r\n\r\n56789")
            } else {
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\(fields)\r\n01234")
                _ = try connection.waitForEnd()
            }
        }
    }

    private func begin(_ origin: RawOrigin, to destination: DownloadDestination) async throws -> SessionTask {
        let task = try self.stage.session.downloadTask(request(origin.port, "/big?key=secret"), to: destination)
        let progress = task.progressStream
        task.resume()
        for await step in progress where step.received >= 5 { break }
        return task
    }

    @Test func `a file that no download has left is refused before anything is asked, and stays`() async throws {
        try self.folder.write("somebody's", to: "out.part")
        let origin = try RawOrigin(answering: response(Self.whole))
        for resuming in [true, false] {
            let error = await sessionError {
                _ = try await self.stage.session.download(
                    request(origin.port), to: .file(self.out, resuming: resuming))
            }
            #expect(error?.code == .cannotWrite && error?.message.contains("move it away or remove it") == true)
        }
        #expect(self.folder.bytes("out.part") == Array("somebody's".utf8) && origin.connections.isEmpty)
        #expect(self.folder.names == ["out.part"])
    }

    /// A download that ends before there is a response that it may write.
    enum Failure: String, Sendable, CaseIterable {
        case otherURL, notResuming, post, refused
    }

    @Test(arguments: Failure.allCases)
    func `a download that fails before its response leaves an earlier part alone`(failure: Failure) async throws {
        let origin = try RawOrigin(answering: response("no").replacing("200 OK", with: "503 Later"))
        // No process listens on port 1; a port that is merely free now may soon belong to another test's server.
        let port = failure == .refused ? origin.port : 1
        try LeftOver(in: self.folder, of: port).write(Array("01234".utf8), length: 10)
        let note = self.folder.bytes("out.part.json")
        let wanted = request(port, failure == .otherURL ? "/other" : "/big", method: failure == .post ? "POST" : "GET")
        let error = await sessionError {
            _ = try await self.stage.session.download(
                wanted, to: .file(self.out, resuming: failure == .otherURL || failure == .post))
        }
        #expect(error?.code == (failure == .refused ? .rejected : .connectionRefused))
        #expect(self.folder.bytes("out.part") == Array("01234".utf8) && self.folder.bytes("out.part.json") == note)
    }

    @Test func `a part of another URL is replaced when the response begins`() async throws {
        let origin = try RawOrigin(answering: response(Self.whole))
        try LeftOver(in: self.folder, of: 1).write(Array("XXXXX".utf8), length: 10)
        _ = try await self.stage.session.download(request(origin.port, "/other"), to: .file(self.out))
        #expect(self.text == Self.whole && self.folder.names == ["out"])
    }

    @Test func `a part that is not what it was stays as it is`() async throws {
        let origin = try self.halfway()
        let part = try #require(await self.begin(origin, to: .file(self.out)).cancelKeepingPart())
        try LeftOver(in: self.folder, of: 1).write(Array("somebody's".utf8))
        let error = await sessionError {
            let task = try self.stage.session.downloadTask(resuming: part, to: .file(self.out))
            task.resume()
            _ = try await task.value()
        }
        #expect(error?.code == .cannotWrite && self.folder.bytes("out.part") == Array("somebody's".utf8))
        #expect(self.folder.names == ["out.part", "out.part.json"])
    }

    @Test func `a part without its note is gone on with, by what the caller knows`() async throws {
        let origin = try self.halfway()
        let part = try #require(await self.begin(origin, to: .file(self.out)).cancelKeepingPart())
        try self.folder.remove("out.part.json")
        let task = try self.stage.session.downloadTask(resuming: part, to: .file(self.out))
        task.resume()
        #expect(try await task.value().response.status == 206)
        #expect(self.text == Self.whole && self.folder.names == ["out"])
    }

    @Test func `a part without its note that is too short is refused, and stays`() async throws {
        let origin = try self.halfway()
        let part = try #require(await self.begin(origin, to: .file(self.out)).cancelKeepingPart())
        try self.folder.remove("out.part.json")
        try self.folder.write("0123", to: "out.part")
        let task = try self.stage.session.downloadTask(resuming: part, to: .file(self.out))
        task.resume()
        #expect(await sessionError { _ = try await task.value() }?.code == .cannotWrite)
        #expect(self.folder.bytes("out.part") == Array("0123".utf8) && self.folder.names == ["out.part"])
    }

    @Test func `a file that nobody can go on with is noted while it grows, so that a later download may replace it`()
        async throws
    {
        let origin = try self.halfway("")
        let task = try await self.begin(origin, to: .file(self.out))
        #expect(self.folder.names == ["out.part", "out.part.json"])
        // The files that kill -9 would leave.
        let (part, note) = try (#require(self.folder.bytes("out.part")), #require(self.folder.bytes("out.part.json")))
        #expect(await task.cancelKeepingPart() == nil && self.folder.names.isEmpty)
        try self.folder.write(part, to: "out.part")
        try self.folder.write(note, to: "out.part.json")
        let other = try RawOrigin(answering: response(Self.whole))
        _ = try await self.stage.session.download(request(other.port), to: .file(self.out))
        #expect(self.text == Self.whole && self.folder.names == ["out"])
    }

    // MARK: Access rights

    @Test func `what grows in the temporary folder is for its user only, and noted only when it is kept`() async throws
    {
        let origin = try self.halfway()
        let task = try await self.begin(origin, to: .temporary)
        #expect(self.folder.names.count == 1 && self.mode(self.folder.names[0]) == 0o600)
        let part = try #require(await task.cancelKeepingPart())
        #expect(part.offset == 5 && self.folder.names.count == 2)
        #expect(self.folder.names.map { self.mode($0) } == [0o600, 0o600])
        let again = try self.stage.session.downloadTask(resuming: part, to: .temporary)
        again.resume()
        #expect(try await again.value().response.status == 206)
        #expect(self.folder.names.count == 1 && self.mode(self.folder.names[0]) == 0o600)
    }

    @Test func `a file in its place has the mode that files have, wherever it grew, and its note has not`() async throws
    {
        close(open(self.folder.path("usual"), O_WRONLY | O_CREAT, 0o666))
        let origin = try self.halfway()
        let (out, usual) = (self.out, self.mode("usual"))
        #expect(usual & 0o077 != 0, "the umask hides what this is about")
        let part = try #require(await self.begin(origin, to: .temporary).cancelKeepingPart())
        let task = try self.stage.session.downloadTask(resuming: part, to: .choosing { _, _ in out })
        task.resume()
        #expect(try await task.value().file == out && self.mode("out") == usual)
        let other = try self.halfway()
        _ = try await self.begin(other, to: .file(self.folder.path("new"))).cancelKeepingPart()
        #expect(self.mode("new.part") == usual && self.mode("new.part.json") == 0o600)
    }
}
