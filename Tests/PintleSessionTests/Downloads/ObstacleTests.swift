// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleMessage
import PintleSession
import PintleTesting
import Testing

/// Destinations to which a download cannot be written.
@Suite(.timeLimit(.minutes(15))) struct ObstacleTests {
    let stage: SessionStage
    let origin: NginxOrigin
    let folder: TemporaryFolder

    init() throws {
        self.stage = try SessionStage()
        self.origin = try NginxOrigin()
        self.folder = try TemporaryFolder()
    }

    private var out: String { self.folder.path("out") }
    private var hello: [UInt8] { Array("hello\n".utf8) }

    private func failure(
        to destination: DownloadDestination, _ path: String = "/hello", in stage: SessionStage? = nil
    ) async -> SessionError? {
        await sessionError {
            _ = try await (stage ?? self.stage).session.download(
                request(self.origin.httpPort, path), to: destination)
        }
    }

    @Test func `a folder that is missing is an error before anything is asked`() async throws {
        let origin = try RawOrigin(answering: response("hello"))
        let place = self.folder.path("missing/out")
        let error = await sessionError {
            _ = try await self.stage.session.download(request(origin.port), to: .file(place))
        }
        #expect(error?.code == .cannotWrite)
        #expect(error?.description == "\(place).part cannot be written (no such file or folder)")
        #expect(origin.connections.isEmpty)
    }

    @Test func `a folder that may not be written is an error`() async throws {
        // Here even root makes no files.
        let error = await self.failure(to: .file("/sys/pintle"))
        #expect(error?.code == .cannotWrite && error?.message == "/sys/pintle.part cannot be written")
        #expect(["permission denied", "not permitted", "the file system is read-only"].contains(error?.cause))
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a file system"))
    func `a file system that is read-only is an error`() async throws {
        let disk = try SmallDisk(in: self.folder, bytes: 65536, options: UInt(MS_RDONLY))
        let error = await self.failure(to: .file("\(disk.path)/out"))
        #expect(error?.code == .cannotWrite && error?.cause == "the file system is read-only")
    }

    @Test func `a folder in the file's place is an error, and the whole file is kept`() async throws {
        mkdir(self.out, 0o700)
        let error = await self.failure(to: .file(self.out))
        #expect(error?.code == .cannotWrite && error?.cause == "it is a folder")
        #expect(
            self.folder.bytes("out.part") == self.hello && self.folder.names == ["out", "out.part", "out.part.json"])
    }

    @Test func `a link where the download grows is not followed`() async throws {
        try self.folder.write("precious", to: "precious")
        symlink(self.folder.path("precious"), self.folder.path("out.part"))
        let error = await self.failure(to: .file(self.out))
        #expect(error?.code == .cannotWrite && error?.cause == "too many symbolic links")
        #expect(self.folder.bytes("precious") == Array("precious".utf8))
        #expect(self.folder.names == ["out.part", "precious"])
    }

    @Test func `a pipe or a folder where the download grows is an error, and stays`() async throws {
        mkfifo(self.folder.path("out.part"), 0o600)
        let error = await self.failure(to: .file(self.out))
        #expect(error?.code == .cannotWrite && error?.message == "\(self.out).part is not a regular file")
        mkdir(self.folder.path("new.part"), 0o700)
        #expect(await self.failure(to: .file(self.folder.path("new")))?.code == .cannotWrite)
        #expect(self.folder.names == ["new.part", "out.part"])
    }

    @Test func `a link in the file's place is replaced, and what it leads to stays`() async throws {
        try self.folder.write("precious", to: "precious")
        symlink(self.folder.path("precious"), self.out)
        _ = try await self.stage.session.download(request(self.origin.httpPort, "/hello"), to: .file(self.out))
        #expect(self.folder.bytes("out") == self.hello && self.folder.bytes("precious") == Array("precious".utf8))
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a file system"))
    func `a full disk is an error, and what was noted while there was room is kept`() async throws {
        let disk = try SmallDisk(in: self.folder, bytes: 12 << 20)
        try self.origin.serve(sampleBytes(16 << 20), as: "big")
        let task = try self.stage.session.downloadTask(
            request(self.origin.httpPort, "/files/big"), to: .file("\(disk.path)/out"))
        task.resume()
        let error = await sessionError { _ = try await task.value() }
        #expect(error?.description == "\(disk.path)/out.part cannot be written (no space left on the device)")
        let part = try #require(task.partialDownload)
        #expect(part.offset >= 8 << 20 && part.offset <= 12 << 20 && part.length == 16 << 20)
        #expect(disk.names == ["out.part", "out.part.json"])
        // There is room again.
        #expect(mount("tmpfs", disk.path, "tmpfs", UInt(MS_REMOUNT), "size=\(20 << 20)") == 0)
        let again = try await self.stage.session.download(
            request(self.origin.httpPort, "/files/big"), to: .file("\(disk.path)/out"))
        #expect(again.response.status == 206 && disk.names == ["out"])
        #expect(fileBytes("\(disk.path)/out") == sampleBytes(16 << 20))
    }

    @Test func `a limit on the size of files is an error, and what had room is gone on with elsewhere`() async throws {
        try self.origin.serve(sampleBytes(1 << 20), as: "big")
        await #expect(processExitsWith: .success) { [port = self.origin.httpPort as Int, out = self.out as String] in
            // The limit belongs to the process, and its signal would end it.
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 500_000, rlim_max: 500_000)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let stage = try SessionStage()
            let error = await sessionError {
                _ = try await stage.session.download(request(port, "/files/big"), to: .file(out))
            }
            #expect(error?.code == .cannotWrite && error?.cause == "the file is too large")
        }
        #expect(self.folder.names == ["out.part", "out.part.json"])
        let again = try await self.stage.session.download(
            request(self.origin.httpPort, "/files/big"), to: .file(self.out))
        #expect(again.response.status == 206 && self.folder.bytes("out") == sampleBytes(1 << 20))
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a file system"))
    func `a disk that is full at once leaves nothing behind`() async throws {
        let disk = try SmallDisk(in: self.folder, bytes: 64 << 10)
        try self.origin.serve(sampleBytes(1 << 20), as: "big")
        let error = await self.failure(to: .file("\(disk.path)/out"), "/files/big")
        #expect(error?.code == .cannotWrite && error?.cause == "no space left on the device" && disk.names.isEmpty)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a file system"))
    func `a destination on another file system gets the whole file in one step`() async throws {
        let disk = try SmallDisk(in: self.folder, bytes: 4 << 20)
        var configuration = SessionConfiguration()
        configuration.temporaryFolder = try self.growing()
        let stage = try SessionStage(configuration: configuration)
        let bytes = sampleBytes(1 << 20)
        try self.origin.serve(bytes, as: "big")
        let place = "\(disk.path)/out"
        _ = try await stage.session.download(
            request(self.origin.httpPort, "/files/big"), to: .choosing { _, _ in place })
        #expect(fileBytes(place) == bytes && disk.names == ["out"])
        let error = await self.failure(
            to: .choosing(replacingExisting: false) { _, _ in place }, "/files/big", in: stage)
        #expect(error?.cause == "it is there already" && disk.names == ["out"])
        #expect(self.folder.names.filter { $0 != "disk" } == ["growing"])
        #expect((try? FileManager.default.contentsOfDirectory(atPath: self.folder.path("growing")))?.count == 1)
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a file system"))
    func `a file that must not be replaced takes no second name on the way to its own`() async throws {
        // The folder, the part and its note: there is no room for a link, as there is none on file systems without.
        let disk = try SmallDisk(in: self.folder, bytes: 1 << 20, files: 3)
        try self.origin.serve([1, 2, 3], as: "small")
        let (wanted, out) = (request(self.origin.httpPort, "/files/small"), "\(disk.path)/out")
        _ = try await self.stage.session.download(wanted, to: .file(out, replacingExisting: false))
        #expect(disk.names == ["out"])
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a file system"))
    func `a destination that has no room on another file system is an error, and the whole file is kept`() async throws
    {
        let disk = try SmallDisk(in: self.folder, bytes: 256 << 10)
        var configuration = SessionConfiguration()
        configuration.temporaryFolder = try self.growing()
        let stage = try SessionStage(configuration: configuration)
        let bytes = sampleBytes(1 << 20)
        try self.origin.serve(bytes, as: "big")
        let place = "\(disk.path)/out"
        let error = await self.failure(to: .choosing { _, _ in place }, "/files/big", in: stage)
        #expect(error?.code == .cannotWrite && error?.cause == "no space left on the device" && disk.names.isEmpty)
        let kept = try #require(FileManager.default.contentsOfDirectory(atPath: self.folder.path("growing")).first)
        #expect(self.folder.bytes("growing/\(kept)") == bytes && error?.message.contains(kept) == true)
    }

    private func growing() throws -> String {
        let path = self.folder.path("growing")
        mkdir(path, 0o700)
        return path
    }
}
