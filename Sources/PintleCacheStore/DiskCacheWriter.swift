// SPDX-License-Identifier: Apache-2.0

package import NIOCore
internal import PintleSystem

extension DiskCache {
    /// An entry that is being written: its body comes in pieces, one call after the other. One that is neither committed nor
    /// abandoned is abandoned with its last reference.
    package final class Writer: Sendable {
        private struct Body: Sendable {
            var encoder: BodyEncoder
            /// False when the entry was committed or given up.
            var isOpen = true
        }

        /// The entry without its body.
        private let entry: Entry
        private let file: BodyFile
        private let cache: DiskCache
        // Held while a block is written: calls come one after the other.
        private let body: Locked<Body>

        init(_ entry: Entry, _ file: BodyFile, _ cache: DiskCache) {
            self.entry = entry
            self.file = file
            self.cache = cache
            self.body = Locked(Body(encoder: BodyEncoder(header: entry.header)))
        }

        deinit {
            self.abandon()
            // The last descriptor of a file that was removed frees its blocks, which may take its time.
            let file = self.file
            try? self.cache.files.run { withExtendedLifetime(file) {} }
        }

        /// Appends bytes to the body. They are written in blocks, so that not every call waits for the disk.
        ///
        /// - Returns: the number of the body's bytes, from the first one, that can be read by now.
        /// - Throws: `noSpace`, `device`, `tooLarge`, `busy`; the entry is abandoned then.
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

        /// Makes the entry count: from now on it is found, also by a process that is started after this one was killed.
        ///
        /// - Parameters:
        ///   - head: what is kept beside the body, where that is known only now; at most 256 KiB.
        ///   - replaced: entries that go at the same moment, such as the response of which this is a newer one.
        /// - Returns: the entry.
        /// - Throws: errors of the disk; `gone` where a removal has come meanwhile. The entry is abandoned then.
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

        /// Writes the last bytes, so that all of the body can be read. Nothing comes of a second time.
        ///
        /// - Throws: errors of the disk; the entry is abandoned then.
        package func finish() async throws(DiskCacheError) {
            do throws(DiskCacheError) {
                try await self.write { encoder, blocks in encoder.finish(into: &blocks) }
            } catch {
                self.giveUp(error)
                throw error
            }
        }

        /// Gives the entry up, and removes what was written of it. What can be read is read on. Does not wait; nothing comes of
        /// a second time.
        package func abandon() { self.giveUp(nil) }

        /// Reads a part of what was written, which is verified, whether the entry counts or not.
        ///
        /// - Parameters:
        ///   - offset: of the first byte wanted; lower than what ``append(_:)`` has returned, or than the length when it is finished.
        ///   - count: the most bytes wanted; there are never more than 256 KiB.
        /// - Returns: at least one byte.
        /// - Throws: `damagedEntry`, and what the system says.
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

        /// Has the blocks written that `encode` makes.
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
