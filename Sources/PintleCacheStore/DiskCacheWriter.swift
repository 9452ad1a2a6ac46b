// SPDX-License-Identifier: Apache-2.0

package import NIOCore
internal import PintleSystem

extension DiskCache {
    /// An entry that is being written: its body comes in pieces, one call after the other. One that is neither committed nor
    /// abandoned is abandoned with its last reference.
    package final class Writer: Sendable {
        private struct Body: Sendable {
            var encoder: BodyEncoder
            /// Nil when the entry was committed or given up.
            var file: BodyFile?
        }

        /// The entry without its body.
        private let entry: Entry
        private let cache: DiskCache
        // Held while a block is written: calls come one after the other.
        private let body: Locked<Body>

        init(_ entry: Entry, _ file: BodyFile, _ cache: DiskCache) {
            self.entry = entry
            self.cache = cache
            self.body = Locked(Body(encoder: BodyEncoder(header: entry.header), file: file))
        }

        deinit { self.abandon() }

        /// Appends bytes to the body. They are written in blocks, so that not every call waits for the disk.
        ///
        /// - Throws: `noSpace`, `device`, `tooLarge`, `busy`; the entry is abandoned then.
        package func append(_ bytes: ByteBuffer) async throws(DiskCacheError) {
            let length = self.body.withLock { $0.encoder.length } + UInt64(bytes.readableBytes)
            do throws(DiskCacheError) {
                try await self.cache.reserve(self.entry, length: length)
                let isTaken = self.body.withLock { body in
                    guard body.file != nil, body.encoder.hasRoom(for: bytes.readableBytes) else { return false }
                    var blocks: [UInt8] = []
                    bytes.withUnsafeReadableBytes { body.encoder.encode($0, into: &blocks) }
                    return true
                }
                if isTaken { return }
                try await self.write { encoder, blocks in
                    bytes.withUnsafeReadableBytes { encoder.encode($0, into: &blocks) }
                }
            } catch {
                self.giveUp(error)
                throw error
            }
        }

        /// Makes the entry count: from now on it is found, also by a process that is started after this one was killed.
        ///
        /// - Parameter replaced: entries that go at the same moment, such as the response of which this is a newer one.
        /// - Returns: the entry.
        /// - Throws: errors of the disk; `gone` where a removal has come meanwhile. The entry is abandoned then.
        @discardableResult
        package func commit(replacing replaced: [Entry] = []) async throws(DiskCacheError) -> Entry {
            do throws(DiskCacheError) {
                try await self.write { encoder, blocks in encoder.finish(into: &blocks) }
                let entry = self.entry.with(length: self.body.withLock { $0.encoder.length })
                try await self.cache.commit(entry, replacing: replaced)
                self.body.withLock { $0.file = nil }
                return entry
            } catch {
                self.giveUp(error)
                throw error
            }
        }

        /// Gives the entry up, and removes what was written of it. Does not wait; nothing comes of a second time.
        package func abandon() { self.giveUp(nil) }

        private func giveUp(_ error: DiskCacheError?) {
            let wasOpen = self.body.withLock { body in
                defer { body.file = nil }
                return body.file != nil
            }
            if wasOpen { self.cache.giveUp(self.entry.header, error) }
        }

        /// Has the blocks written that `encode` makes.
        private func write(
            _ encode: @escaping @Sendable (inout BodyEncoder, inout [UInt8]) -> Void
        ) async throws(DiskCacheError) {
            try await self.cache.files.result { () throws(DiskCacheError) in
                try self.body.withLock { body throws(DiskCacheError) in
                    guard let file = body.file else { throw .gone(self.entry.url) }
                    var blocks: [UInt8] = []
                    encode(&body.encoder, &blocks)
                    do throws(SystemError) {
                        try file.write(blocks)
                    } catch {
                        throw DiskCacheError(error, self.cache.folder.file(of: self.entry.header), "written")
                    }
                }
            }
        }
    }
}

extension DiskCache.Entry {
    fileprivate func with(length: UInt64) -> DiskCache.Entry {
        DiskCache.Entry(
            id: self.id, key: self.key, url: self.url, head: self.head, length: length, tags: self.tags,
            generation: self.generation)
    }
}
