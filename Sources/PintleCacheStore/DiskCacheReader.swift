// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import NIOCore
internal import PintleSystem

extension DiskCache {
    /// The open body of an entry. Several tasks may read it at once, and it stays readable when the entry is evicted.
    package final class Reader: Sendable {
        package let entry: Entry
        private let layout: BodyLayout
        private let file: BodyFile
        private let cache: DiskCache

        init(_ entry: Entry, _ layout: BodyLayout, _ file: BodyFile, _ cache: DiskCache) {
            self.entry = entry
            self.layout = layout
            self.file = file
            self.cache = cache
        }

        deinit {
            // Closing the last descriptor of a removed file frees its blocks, which may take time.
            let file = self.file
            try? self.cache.files.run { withExtendedLifetime(file) {} }
        }

        /// Reads a part of the body, and verifies every byte of it.
        ///
        /// - Parameters:
        ///   - offset: the offset of the first byte wanted.
        ///   - count: the most bytes wanted; the result has at most 256 KiB.
        /// - Returns: at least one byte, but none at the end of the body.
        /// - Throws: `damagedEntry` after removing the entry; other errors leave it in place.
        package func read(offset: UInt64, upTo count: Int = .max) async throws(DiskCacheError) -> ByteBuffer {
            let read = await self.cache.files.result { () -> Result<ByteBuffer?, SystemError> in
                Result { () throws(SystemError) in
                    try self.layout.piece(at: offset, upTo: count) { place, space throws(SystemError) in
                        try self.file.read(at: place, into: space)
                    }
                }
            }
            switch read {
            case .success(let piece?): return piece
            case .failure(let error) where error.code != EIO:
                throw DiskCacheError(error, self.cache.folder.file(of: self.entry.header), "read")
            case .success(nil), .failure:
                // A read error of the device is permanent.
                await self.cache.removeDamaged(self.entry)
                throw DiskCacheError(.damagedEntry, Event.entryDamaged(url: self.entry.url).description)
            }
        }
    }
}
