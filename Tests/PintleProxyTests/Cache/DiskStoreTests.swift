// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleCache
import PintleCacheStore
import PintleMessage
import PintleSystem
import PintleTesting
import Testing

@testable import PintleProxy

/// Changes of the responses that a disk has for one key.
struct DiskStoreTests {
    private typealias Entry = CacheEntry<SharedBody>

    private static let key = CacheKey(partition: "p", url: "http://a.test/")
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func open() async throws -> DiskStore {
        DiskStore(cache: try await DiskCache.open("\(self.folder.path)/cache") { _ in })
    }

    private static func request(_ variant: String?) -> RequestHead {
        let fields: Fields = variant.map { ["X-Variant": $0] } ?? [:]
        return RequestHead(method: "GET", target: .origin(path: "/"), fields: fields)
    }

    private static func response(_ value: String, variant: String? = nil, tags: [String] = []) -> StoredResponse {
        let selecting = variant.map { [SelectingField(name: "x-variant", value: Array($0.utf8))] } ?? []
        return StoredResponse(
            head: ResponseHead(status: 200, fields: ["Cache-Control": "max-age=600", "X": value]), requestTime: .now(),
            responseTime: .now(), selecting: selecting, length: 1, tags: tags)
    }

    private static func entry(_ response: StoredResponse) -> Entry {
        Entry(response, BodyPieces([ByteBuffer(string: "a")]))
    }

    private func store(_ response: StoredResponse, _ variant: String? = nil, in store: DiskStore) async {
        _ = await store.carryOut(.store(Self.entry(response), Self.request(variant)), at: Self.key)
    }

    /// Updates a stored response; if by a response that bypassed the cache, it is the only one.
    ///
    /// - Parameter isLearnt: true for an update by a response that bypassed the cache.
    private func update(
        _ old: StoredResponse, to new: StoredResponse, isLearnt: Bool = false, in store: DiskStore
    ) async {
        let change: CacheChange =
            if isLearnt { .learn { _ in [(place: 0, update: .store(new))] } } else { .update(Self.entry(old), to: new) }
        _ = await store.carryOut(change, at: Self.key)
    }

    /// The stored responses, the newest first.
    private func responses(in store: DiskStore) async -> [StoredResponse] {
        let all = Locked<[StoredResponse]>([])
        _ = await store.find(Self.key) { stored in
            all.withLock { $0 = stored }
            return nil
        }
        return all.withLock { $0 }
    }

    @Test func `a 304 with another Vary replaces the head, and the response whose place it takes`() async throws {
        let store = try await self.open()
        let old = Self.response("old")
        await self.store(Self.response("other", variant: "b"), "b", in: store)
        await self.store(old, in: store)
        #expect(await self.responses(in: store).count == 2)
        let new = Self.response("new", variant: "b")
        await self.update(old, to: new, in: store)
        #expect(await self.responses(in: store) == [new])
        await store.close()
    }

    @Test(arguments: [true, false])
    func `a head that cannot be written leaves no earlier one`(isLearnt: Bool) async throws {
        let store = try await self.open()
        let old = Self.response("old")
        await self.store(old, in: store)
        #expect(await self.responses(in: store) == [old])
        // An entry of the disk has 256 tags at most.
        let new = Self.response("new", tags: (0..<300).map { "\($0)" })
        await self.update(old, to: new, isLearnt: isLearnt, in: store)
        #expect(await self.responses(in: store).isEmpty)
        await store.close()
    }

    @Test(arguments: [true, false])
    func `a response is removed by the tag that a later head has given it`(isLearnt: Bool) async throws {
        let store = try await self.open()
        let old = Self.response("old", tags: ["a"])
        await self.store(old, in: store)
        let new = Self.response("new", tags: ["b"])
        await self.update(old, to: new, isLearnt: isLearnt, in: store)
        #expect(await store.carryOut(.purge(.tag("a")), at: nil) == 0)
        #expect(await self.responses(in: store) == [new])
        #expect(await store.carryOut(.purge(.tag("b")), at: nil) == 1)
        #expect(await self.responses(in: store).isEmpty)
        await store.close()
    }

    @Test func `a client does not join the reading of a response whose head was replaced`() async throws {
        let store = try await self.open()
        let (old, new) = (Self.response("old"), Self.response("new"))
        await self.store(old, in: store)
        let first = try #require(await store.find(Self.key) { _ in 0 })
        await self.update(old, to: new, in: store)
        let second = try #require(await store.find(Self.key) { _ in 0 })
        #expect(first.reader.entry.id == second.reader.entry.id)
        let (loads, budget) = (DiskLoads(), BodyBudget(most: 100))
        let tasks = [first, second].map { found in loads.load(found) { budget.share(1, of: budget.most) } }
        #expect(await tasks[0]?.value?.entry.response == old)
        #expect(await tasks[1]?.value?.entry.response == new)
        await store.close()
    }
}
