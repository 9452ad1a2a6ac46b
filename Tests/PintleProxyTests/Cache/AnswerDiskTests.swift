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

    private func open(mostWithRemovals: Int = 48 << 20) async throws -> AnswerDisk {
        let cache = try await DiskCache.open("\(self.folder.path)/cache", capacity: 100 << 20) { _ in }
        return AnswerDisk(cache, mostWithRemovals: mostWithRemovals)
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
        await self.purge(.all, on: disk)
        await disk.close()
    }

    @discardableResult
    private func purge(_ selection: AnswerStore.Selection, on disk: AnswerDisk) async -> Int {
        let removal = disk.begin(selection, isCounted: true)
        return await withCheckedContinuation { done in disk.carryOut(removal) { done.resume(returning: $0) } }
    }

    private func find(_ number: Int, on disk: AnswerDisk) async -> StoredAnswerOnDisk? {
        await disk.find(self.key(number)) { $0.isEmpty ? nil : 0 }
    }

    @Test func `LOOK-89 what is not to be removed is read while removals wait`() async throws {
        let disk = try await self.open()
        for number in 0..<2 { disk.keep(Self.answer, at: self.key(number), for: Self.request) }
        while disk.waitingBytes > 0 { await Task.yield() }
        let removals = [.url(self.key(0).url), .tag("news"), .prefix("http://b.test/")]
            .map { disk.begin($0, isCounted: true) }
        #expect(await self.find(0, on: disk) == nil)
        #expect(await self.find(1, on: disk) != nil)
        for removal in removals {
            await withCheckedContinuation { done in disk.carryOut(removal) { _ in done.resume() } }
        }
        disk.keep(Self.answer, at: self.key(0), for: Self.request)
        while disk.waitingBytes > 0 { await Task.yield() }
        #expect(await self.find(0, on: disk) != nil)
        await disk.close()
    }

    @Test func `LOOK-67 an older answer is not read while a newer one waits to be written`() async throws {
        let disk = try await self.open()
        for number in 0..<2 { disk.keep(Self.answer, at: self.key(number), for: Self.request) }
        while disk.waitingBytes > 0 { await Task.yield() }
        // They take the disk longer than the look at it.
        for number in 2..<2000 { disk.keep(Self.answer, at: self.key(number), for: Self.request) }
        disk.keep(Self.answer, at: self.key(0), for: Self.request)
        #expect(await self.find(0, on: disk) == nil)
        #expect(await self.find(1, on: disk) != nil)
        while disk.waitingBytes > 0 { await Task.yield() }
        #expect(await self.find(0, on: disk) != nil)
        await disk.close()
    }

    @Test func `LOOK-67 a body written as it came is reported when the disk answers with it`() async throws {
        let disk = try await self.open()
        let cache = disk.cache
        let writer = try await cache.write(
            DiskCache.key(partition: "p", url: self.key(0).url), url: self.key(0).url,
            head: Self.answer.response.encoded(), tags: [], length: 1)
        try await writer.append(ByteBuffer(string: "a"))
        try await writer.finish()
        let waiting = await withCheckedContinuation { told in
            disk.keep(Self.answer, at: self.key(0), for: Self.request, writtenBy: writer) { [weak disk] in
                told.resume(returning: disk?.waitingBytes)
            }
        }
        #expect(waiting == 0)
        #expect(await self.find(0, on: disk) != nil)
        await disk.close()
    }

    @Test func `LOOK-89 removals that wait are counted, and there are only so many`() async throws {
        let disk = try await self.open(mostWithRemovals: 64 << 10)
        disk.keep(Self.answer, at: self.key(0), for: Self.request)
        while disk.waitingBytes > 0 { await Task.yield() }
        var removals = [disk.begin(.url(self.key(1).url), isCounted: false)]
        let waiting = disk.waitingBytes
        #expect(waiting > 0)
        // A waiting removal covers equal ones, until an entry is written that it may miss.
        removals.append(disk.begin(.url(self.key(1).url), isCounted: false))
        #expect(disk.waitingBytes == waiting)
        removals += (2..<1000).map { disk.begin(.url(self.key($0).url), isCounted: false) }
        #expect(disk.waitingBytes > 60 << 10 && disk.waitingBytes <= 64 << 10)
        // There are more than can be remembered: all entries are removed, and none is read until then.
        #expect(await self.find(0, on: disk) == nil)
        for removal in removals { disk.carryOut(removal) { _ in } }
        while disk.cache.statistics.entries > 0 || disk.waitingBytes > 0 { await Task.yield() }
        // Everything is as before when the last one is done, which is a moment later.
        while disk.cache.statistics.entries == 0 {
            if disk.waitingBytes == 0 { disk.keep(Self.answer, at: self.key(0), for: Self.request) }
            await Task.yield()
        }
        while disk.waitingBytes > 0 { await Task.yield() }
        #expect(await self.find(0, on: disk) != nil)
        await disk.close()
    }

    @Test func `removals that are more than can be remembered remove everything`() async throws {
        let disk = try await self.open()
        disk.keep(Self.answer, at: self.key(0), for: Self.request)
        while disk.cache.statistics.entries == 0 { await Task.yield() }
        // Removals of other keys, so that this entry is removed only if all entries are.
        for number in 1..<60_000 { disk.remove(Self.answer, at: self.key(number)) }
        #expect(disk.waitingBytes <= 48 << 20)
        while disk.cache.statistics.entries > 0 { await Task.yield() }
        await disk.close()
    }
}
