// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCache
import PintleCacheStore
import PintleMessage
import PintleTesting
import Testing

@testable import PintleProxy

/// Answers and removals that come faster than a disk takes them.
@Suite(.timeLimit(.minutes(15))) struct AnswerDiskTests {
    private let folder: TemporaryFolder
    private static let answer = KeptAnswer(
        StoredResponse(
            head: ResponseHead(status: 200, fields: ["Cache-Control": "max-age=60"]), requestTime: .now(),
            responseTime: .now(), length: 1),
        [ByteBuffer(string: "a")])

    private static let request = RequestHead(method: "GET", target: .origin(path: "/"))

    init() throws { self.folder = try TemporaryFolder() }

    private func open() async throws -> AnswerDisk {
        AnswerDisk(try await DiskCache.open("\(self.folder.path)/cache", capacity: 100 << 20) { _ in })
    }

    private func key(_ number: Int) -> CacheKey { CacheKey(partition: "p", url: "http://a.test/\(number)") }

    @Test func `what waits to be written takes no more memory than it may, however small it is`() async throws {
        let disk = try await self.open()
        var most = 0
        for number in 0..<60_000 {
            disk.keep(Self.answer, at: self.key(number), for: Self.request)
            most = max(most, disk.waitingBytes)
        }
        #expect(most > 20 << 20 && most <= 32 << 20)
        // Nothing has to be written any more.
        await withCheckedContinuation { done in disk.purge(.all) { _ in done.resume() } }
        await disk.close()
    }

    @Test func `removals that are more than can be remembered remove everything`() async throws {
        let disk = try await self.open()
        disk.keep(Self.answer, at: self.key(0), for: Self.request)
        while disk.cache.statistics.entries == 0 { await Task.yield() }
        // Of others, so that this one goes only where all go.
        for number in 1..<60_000 { disk.remove(Self.answer, at: self.key(number)) }
        #expect(disk.waitingBytes <= 48 << 20)
        while disk.cache.statistics.entries > 0 { await Task.yield() }
        await disk.close()
    }
}
