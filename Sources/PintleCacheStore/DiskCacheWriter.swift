// SPDX-License-Identifier: Apache-2.0

package import NIOCore
internal import PintleSystem

extension DiskCache {
    /// An entry that is being written. Its body is appended in pieces, one call after the other. If it is neither committed nor
    /// abandoned, the end of its last reference abandons it.
    package final class Writer: Sendable {
        private struct Body: Sendable {
            var encoder: BodyEncoder
            /// False when the entry was committed or abandoned.
            var isOpen = true
        }

        /// The entry without its body.
        private let entry: Entry
        private let file: BodyFile
        private let cache: DiskCache
        // Locked while a block is written: calls run one after the other.
        private let body: Locked<Body>

        init(_ entry: Entry, _ file: BodyFile, _ cache: DiskCache) {
            self.entry = entry
            self.file = file
            self.cache = cache
            self.body = Locked(Body(encoder: BodyEncoder(header: entry.header)))
        }

        deinit {
            self.abandon()
            // Closing the last descriptor of a removed file frees its blocks, which may take time.
            let file = self.file
            try? self.cache.files.run { withExtendedLifetime(file) {} }
        }

        /// Appends bytes to the body. They are written in blocks, so that only some calls wait for the disk.
        ///
        /// - Returns: the number of the body's bytes, counted from the first, that can be read now.
        /// - Throws: `noSpace`, `device`, `tooLarge`, `busy`; the entry is then abandoned.
        @discardableResult
        package func append(_ bytes: ByteBuffer) async throws(DiskCacheError) -> UInt64 {
            let length = self.body.withLock { $0.encoder.length } + UInt64(bytes.readableBytes)
            do throws(DiskCacheError) {
                try await self.cache.reserve(self.entry, length: length)
                let isTaken = self.body.withLock { body in
                    guard body.isOpen, body.encoder.hasRoom(for: bytes.readableBytes) else { return false }
                    var blocks: [UInt8] = []
                    bytes.withUnsafeReadableBytes { body.encoder.encode($0, into: &blocks) }
                    return true
                }
                if !isTaken {
                    try await self.write { encoder, blocks in
                        bytes.withUnsafeReadableBytes { encoder.encode($0, into: &blocks) }
                    }
                }
                return self.body.withLock { $0.encoder.sealedLength }
            } catch {
                self.giveUp(error)
                throw error
            }
        }

        /// Makes the entry valid: from now on it can be found, even by a process that is started after this one is killed.
        ///
        /// - Parameters:
        ///   - head: bytes stored next to the body, if they have changed since the beginning; at most 256 KiB.
        ///   - replaced: entries that are removed at the same moment, for example an older version of the response.
        /// - Returns: the entry.
        /// - Throws: errors of the disk; `gone` if a removal has covered the entry in the meantime. The entry is then
        ///   abandoned.
        @discardableResult
        package func commit(
            head: [UInt8]? = nil, replacing replaced: [Entry] = []
        ) async throws(DiskCacheError) -> Entry {
            do throws(DiskCacheError) {
                try await self.finish()
                let length = self.body.withLock { $0.encoder.length }
                let entry = Entry(
                    id: self.entry.id, key: self.entry.key, url: self.entry.url, head: head ?? self.entry.head,
                    length: length, tags: self.entry.tags, generation: self.entry.generation)
                guard entry.head.count <= Limits.head else { throw self.cache.tooLarge(entry.url) }
                try await self.cache.commit(entry, replacing: replaced)
                self.body.withLock { $0.isOpen = false }
                return entry
            } catch {
                self.giveUp(error)
                throw error
            }
        }

        /// Writes the last bytes, so that the whole body can be read. Idempotent.
        ///
        /// - Throws: errors of the disk; the entry is then abandoned.
        package func finish() async throws(DiskCacheError) {
            do throws(DiskCacheError) {
                try await self.write { encoder, blocks in encoder.finish(into: &blocks) }
            } catch {
                self.giveUp(error)
                throw error
            }
        }

        /// Abandons the entry, and removes its file. Readers of the written bytes can continue. Does not block. Idempotent.
        package func abandon() { self.giveUp(nil) }

        /// Reads and verifies a part of the written bytes, even before the commit.
        ///
        /// - Parameters:
        ///   - offset: the offset of the first byte wanted; less than the last result of ``append(_:)``, or than the length
        ///     after ``finish()``.
        ///   - count: the most bytes wanted; the result has at most 256 KiB.
        /// - Returns: at least one byte.
        /// - Throws: `damagedEntry`, and errors of the system.
        package func read(offset: UInt64, upTo count: Int = .max) async throws(DiskCacheError) -> ByteBuffer {
            let path = self.cache.folder.file(of: self.entry.header)
            return try await self.cache.files.result { () throws(DiskCacheError) in
                let length = self.body.withLock { $0.encoder.sealedLength }
                do throws(SystemError) {
                    let piece = try BodyLayout(header: self.entry.header, length: length)?.piece(
                        at: offset, upTo: count
                    ) {
                        place, space throws(SystemError) in
                        try self.file.read(at: place, into: space)
                    }
                    if let piece, piece.readableBytes > 0 { return piece }
                } catch {
                    throw DiskCacheError(error, path, "read")
                }
                throw DiskCacheError(.damagedEntry, Event.entryDamaged(url: self.entry.url).description)
            }
        }

        private func giveUp(_ error: DiskCacheError?) {
            let wasOpen = self.body.withLock { body in
                defer { body.isOpen = false }
                return body.isOpen
            }
            if wasOpen { self.cache.giveUp(self.entry.header, error) }
        }

        /// Writes the blocks that `encode` makes.
        private func write(
            _ encode: @escaping @Sendable (inout BodyEncoder, inout [UInt8]) -> Void
        ) async throws(DiskCacheError) {
            try await self.cache.files.result { () throws(DiskCacheError) in
                try self.body.withLock { body throws(DiskCacheError) in
                    guard body.isOpen else { throw .gone(self.entry.url) }
                    var blocks: [UInt8] = []
                    encode(&body.encoder, &blocks)
                    do throws(SystemError) {
                        try self.file.write(blocks)
                    } catch {
                        throw DiskCacheError(error, self.cache.folder.file(of: self.entry.header), "written")
                    }
                }
            }
        }
    }
}
