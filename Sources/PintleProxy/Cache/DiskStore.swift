// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleCacheStore
internal import PintleMessage

/// The responses on disk. No event loop waits for it.
struct DiskStore: SecondTier {
    typealias Entry = CacheEntry<SharedBody>

    let cache: DiskCache

    var statistics: DiskCache.Statistics { self.cache.statistics }

    func close() async { await self.cache.close() }

    // MARK: Reading

    func find(_ key: CacheKey, choosing choose: @Sendable ([StoredResponse]) -> Int?) async -> DiskEntry? {
        let stored = await self.stored(key)
        guard !stored.isEmpty, let index = choose(stored.map(\.response)),
            let reader = try? await self.cache.reader(of: stored[index].entry)
        else { return nil }
        return DiskEntry(response: stored[index].response, reader: reader)
    }

    /// Finds the readable entries of a key, the newest first.
    private func stored(_ key: CacheKey) async -> [(entry: DiskCache.Entry, response: StoredResponse)] {
        let entries = (try? await self.cache.entries(for: Self.name(of: key))) ?? []
        return entries.compactMap { entry in
            StoredResponse(decoding: entry.head).flatMap { $0.heldLength == entry.length ? (entry, $0) : nil }
        }
    }

    // MARK: Changing

    func carryOut(_ change: CacheChange, at key: CacheKey?) async -> Int {
        // The clients have their responses even if the disk fails; the cache reports its errors once.
        switch (change, key) {
        case (.store(let entry, let request), let key?):
            let replaced = await self.entries(replacedBy: entry, key, for: request)
            if await !self.store(entry, key, replacing: replaced) { await self.remove(replaced) }
        case (.commit(let writer, let entry, let request), let key?):
            let replaced = await self.entries(replacedBy: entry, key, for: request)
            let committed = try? await writer.commit(head: entry.response.encoded(), replacing: replaced)
            if committed == nil { await self.remove(replaced) }
        case (.update(let entry, let response), let key?):
            for (old, stored) in await self.stored(key) {
                if stored.isLike(entry.response) {
                    await self.update(old, to: response)
                } else if stored.isLike(response) {
                    // If Vary has changed, the updated response takes the place of another one.
                    await self.remove([old])
                }
            }
        case (.remove(let entry), let key?): await self.remove(await self.entries(like: entry, key))
        case (.learn(let updates), let key?): await self.learn(updates, key)
        case (.purge(let selection), _): return await self.purge(selection)
        case (_, nil): preconditionFailure("BUG: a change has no key")
        }
        return 0
    }

    private func store(_ entry: Entry, _ key: CacheKey, replacing replaced: [DiskCache.Entry]) async -> Bool {
        do throws(DiskCacheError) {
            let writer = try await self.cache.write(
                Self.name(of: key), url: key.url, head: entry.response.encoded(), tags: entry.response.tags,
                length: UInt64(entry.byteCount))
            for piece in entry.body.whole ?? [] { try await writer.append(piece) }
            try await writer.commit(replacing: replaced)
            return true
        } catch {
            return false
        }
    }

    private func learn(
        _ updates: @Sendable ([StoredResponse]) -> [(place: Int, update: CacheUpdate)], _ key: CacheKey
    ) async {
        let stored = await self.stored(key)
        for (place, update) in updates(stored.map(\.response)) {
            switch update {
            case .store(let response): await self.update(stored[place].entry, to: response)
            case .answerOnce(_, _, keepsStored: true), .unrelated: break
            case .answerOnce, .outdated: await self.remove([stored[place].entry])
            }
        }
    }

    /// Replaces the head of an entry, or removes the entry: with its earlier head it could answer what it must not any more.
    private func update(_ entry: DiskCache.Entry, to response: StoredResponse) async {
        let updated = try? await self.cache.updateHead(of: entry, to: response.encoded(), tags: response.tags)
        if updated == nil { await self.remove([entry]) }
    }

    private func remove(_ entries: [DiskCache.Entry]) async {
        for entry in entries { _ = try? await self.cache.remove(entry) }
    }

    private func purge(_ selection: CacheSelection) async -> Int {
        let count =
            switch selection {
            case .url(let url): try? await self.cache.remove(url: url)
            case .prefix(let prefix): try? await self.cache.remove(prefix: prefix)
            case .tag(let tag): try? await self.cache.remove(tag: tag)
            case .all: try? await self.cache.removeAll()
            }
        return count ?? 0
    }

    /// The entries for the same requests.
    private func entries(like entry: Entry, _ key: CacheKey) async -> [DiskCache.Entry] {
        await self.entries(key) { $0.isLike(entry.response) }
    }

    /// The entries that a response replaces.
    private func entries(replacedBy entry: Entry, _ key: CacheKey, for request: RequestHead) async -> [DiskCache.Entry]
    {
        await self.entries(key) { ProxyCacheHost.rules.replaces(entry.response, $0, for: request) }
    }

    /// The entries that match, and those that cannot be decoded.
    private func entries(_ key: CacheKey, where isMeant: (StoredResponse) -> Bool) async -> [DiskCache.Entry] {
        let entries = (try? await self.cache.entries(for: Self.name(of: key))) ?? []
        return entries.filter { StoredResponse(decoding: $0.head).map(isMeant) ?? true }
    }

    private static func name(of key: CacheKey) -> String { DiskCache.key(partition: key.partition, url: key.url) }

    // MARK: Bodies that arrive

    func takes(_ length: UInt64?) -> Bool { (length ?? 0) < self.cache.largestEntry }

    func write(
        _ body: SharedBody, of response: StoredResponse, at key: CacheKey, length: UInt64?,
        done: @escaping @Sendable (DiskCache.Writer?) -> Void
    ) {
        let reader = body.openForStoring()
        Task {
            // Clients get the body even if the disk does not take it; the cache reports its errors once.
            let writer = try? await self.write(body, from: reader, of: response, at: key, length: length)
            body.storingEnded(reader)
            done(writer)
        }
    }

    /// - Returns: the writer of the body; nil if the body broke off.
    private func write(
        _ body: SharedBody, from reader: SharedBody.Reader, of response: StoredResponse, at key: CacheKey,
        length: UInt64?
    ) async throws(DiskCacheError) -> DiskCache.Writer? {
        let writer = try await self.cache.write(
            Self.name(of: key), url: key.url, head: response.encoded(), tags: response.tags, length: length)
        while true {
            let (signal, wake) = AsyncStream.makeStream(of: Void.self)
            switch body.next(reader, wake: { wake.finish() }) {
            case .piece(let piece): body.stored(try await writer.append(piece), in: writer)
            case .wait: for await _ in signal {}
            case .end(nil):
                try await writer.finish()
                body.stored(body.count, in: writer)
                return writer
            case .end: return nil
            }
        }
    }
}
