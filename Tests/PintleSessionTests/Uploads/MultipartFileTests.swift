// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import PintleMessage
import PintleSerialization
import PintleSession
import PintleTesting
import Testing

/// Forms that are written into a file first, and the ways in which a form is read.
@Suite(.timeLimit(.minutes(15))) struct MultipartFileTests {
    let stage: SessionStage
    let folder: TemporaryFolder
    let origin: RawOrigin

    init() throws {
        self.stage = try SessionStage()
        self.folder = try TemporaryFolder()
        self.origin = try RawOrigin(answering: response("done"))
    }

    private func form() throws -> MultipartForm {
        var form = MultipartForm()
        form.append(name: "text", text: "hello")
        try form.append(name: "file", file: self.folder.write(sampleBytes(5000), to: "a.bin"))
        try form.append(
            name: "stream", stream: .init(length: 3) { Self.pieces([[1], [], [2, 3]]) }, fileName: "s")
        return form
    }

    private static func pieces(
        _ pieces: [[UInt8]], failure: (any Error)? = nil
    ) -> AsyncThrowingStream<[UInt8], any Error> {
        AsyncThrowingStream { feed in
            for piece in pieces { feed.yield(piece) }
            feed.finish(throwing: failure)
        }
    }

    @Test func `MPS-01 MPS-02 MPS-04 MPS-10 a form read in pieces of any size is the same, and as long as it says`()
        async throws
    {
        let form = try self.form()
        for packet in [1, 7, 1024, 1_000_000] {
            var wanted = request(self.origin.port, method: "POST")
            wanted.throttle = try Throttle(packet: packet, delay: .zero)
            _ = try await self.stage.session.data(for: wanted, from: .multipart(form))
        }
        let seen = self.origin.requests
        #expect(seen.count == 4 && seen.allSatisfy { $0.body == seen[0].body })
        #expect(form.contentLength == UInt64(seen[0].body.count))
        #expect(seen.allSatisfy { $0["Content-Length"] == "\(seen[0].body.count)" })
    }

    @Test func `STF-01 STF-02 a form in a file is sent as the form is`() async throws {
        let form = try self.form()
        let path = try self.folder.write("an older file", to: "form")
        #expect(try await form.write(to: path) == form.contentLength)
        let fields: Fields = ["Content-Type": form.contentType]
        _ = try await self.stage.session.data(
            for: request(self.origin.port, method: "POST", fields: fields), from: .file(path: path))
        _ = try await self.stage.session.data(for: request(self.origin.port, method: "POST"), from: .multipart(form))
        let seen = self.origin.requests
        #expect(seen[0].body == seen[1].body)
        #expect(seen[0]["Content-Length"] == seen[1]["Content-Length"])
        #expect(seen[0]["Content-Type"] == seen[1]["Content-Type"])
    }

    @Test func `STF-02 a form of unknown length has one in a file, and a form without parts is empty`() async throws {
        var form = MultipartForm()
        #expect(try await form.write(to: self.folder.path("empty")) == 0)
        try form.append(
            name: "s", stream: .init(length: nil) { Self.pieces([[1, 2, 3]]) }, fileName: "s")
        let length = try await form.write(to: self.folder.path("form"))
        _ = try await self.stage.session.data(
            for: request(self.origin.port, method: "POST"), from: .file(path: self.folder.path("form")))
        #expect(self.origin.requests[0]["Content-Length"] == "\(length)")
        #expect(self.origin.requests[0].body.suffix(form.boundary.utf8.count + 11).starts(with: [1, 2, 3]))
    }

    @Test func `STF-03 STF-04 MPS-06 what fails on the way is the error, and leaves everything as it was`() async throws
    {
        struct Dry: Error {}
        var form = try self.form()
        let missing = self.folder.path("no/folder/form")
        let error = await sessionError { _ = try await form.write(to: missing) }
        #expect(error?.code == .cannotWrite && error?.message.contains(missing) == true)
        try form.append(
            name: "bad", stream: .init(length: nil) { Self.pieces([[1]], failure: Dry()) }, fileName: "s")
        let path = try self.folder.write("an older file", to: "kept/form")
        let failure = await sessionError { _ = try await form.write(to: path) }
        #expect(failure?.code == .unreadableSource && failure?.underlying is Dry)
        let list = try ChildProcess("/bin/sh", ["-c", "ls -A; cat form; echo"], folder: self.folder.path("kept"))
        #expect(try list.waitForExit() == 0)
        #expect(list.output == ["form", "an older file"])
    }
    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a file system"))
    func `STF-04 a disk that fills up is the error, and an older file stays`() async throws {
        let disk = try SmallDisk(in: self.folder, bytes: 65536)
        let path = "\(disk.path)/form"
        var form = MultipartForm()
        form.append(name: "small", text: "hello")
        try await form.write(to: path)
        let older = fileBytes(path)
        try form.append(name: "large", file: self.folder.write(sampleBytes(200_000), to: "large"))
        let error = await sessionError { _ = try await form.write(to: path) }
        #expect(error?.code == .cannotWrite && error?.cause == "no space left on the device")
        #expect(older != nil && fileBytes(path) == older)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["form"])
    }
}
