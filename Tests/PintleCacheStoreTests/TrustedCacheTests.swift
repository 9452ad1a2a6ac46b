// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import PintleCacheStore
import PintleTesting
import Testing

/// Cache folders that another user could change.
@Suite(.timeLimit(.minutes(15))) struct TrustedCacheTests {
    private let place: CacheTrialFolder

    init() throws { self.place = try CacheTrialFolder() }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    @Test(arguments: [0o770 as mode_t, 0o707]) func `LOOK-97 a folder that others may write is refused`(mode: mode_t)
        async
    {
        mkdir(self.place.path, 0o700)
        chmod(self.place.path, mode)
        let error = await #expect(throws: DiskCacheError.self) { _ = try await self.place.open() }
        #expect(error?.code == .unusable && error?.description.contains("may change what is there") == true)
        #expect(error?.description.contains("`chmod ") == true)
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root may give files to others"), arguments: ["", "/index.sqlite", "/lock"])
    func `LOOK-97 a folder, an index and a lock of another user are refused`(what: String) async throws {
        await (try await self.place.open()).close()
        let path = self.place.path + what
        chown(path, 54_321, 54_321)
        let error = await #expect(throws: DiskCacheError.self) { _ = try await self.place.open() }
        #expect(error?.code == .unusable)
        #expect(error?.description.hasPrefix("\(path): it belongs to another user (54321)") == true)
    }

    @Test(arguments: ["index.sqlite", "index.sqlite-wal", "lock"])
    func `LOOK-97 a link in the place of a file is refused, and what it leads to stays`(name: String) async throws {
        let precious = try self.place.folder.write("precious", to: "precious")
        mkdir(self.place.path, 0o700)
        symlink(precious, "\(self.place.path)/\(name)")
        let error = await #expect(throws: DiskCacheError.self) { _ = try await self.place.open() }
        #expect(error?.code == .unusable && error?.description.contains("it is a link") == true)
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious")
    }

    @Test func `LOOK-97 nobody else can read an index, whatever the umask is and was`() async throws {
        let cache = try await self.place.open()
        try await cache.store("a", [1, 2, 3])
        let names = ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"]
        for name in names { #expect(self.mode("\(self.place.path)/\(name)") == 0o600, "\(name)") }
        await cache.close()
        chmod("\(self.place.path)/index.sqlite", 0o644)
        let again = try await self.place.open()
        #expect(self.mode("\(self.place.path)/index.sqlite") == 0o600)
        #expect(try await again.body("a") == [1, 2, 3])
        await again.close()
    }

    @Test func `LOOK-97 a link among the bodies has nothing removed or written elsewhere`() async throws {
        let cache = try await self.place.open()
        for number in 0..<3 { try await cache.store("u\(number)", [UInt8(number)]) }
        await cache.close()
        // Each body's folder becomes a link to one with the same names.
        let elsewhere = "\(self.place.folder.path)/elsewhere"
        mkdir(elsewhere, 0o700)
        let bodies = try self.place.bodies().map(URL.init(fileURLWithPath:))
        #expect(bodies.count == 3)
        for body in bodies {
            rename(body.path, "\(elsewhere)/\(body.lastPathComponent)")
            rmdir(body.deletingLastPathComponent().path)
            symlink(elsewhere, body.deletingLastPathComponent().path)
        }
        let before = try FileManager.default.contentsOfDirectory(atPath: elsewhere).sorted()
        let again = try await self.place.open()
        await again.waitForSweep()
        await #expect(throws: DiskCacheError.self) { _ = try await again.body("u0") }
        _ = try await again.removeAll()
        #expect(again.statistics.entries == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere).sorted() == before)
        await again.close()
    }
}
