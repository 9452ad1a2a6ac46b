// SPDX-License-Identifier: Apache-2.0

internal import PintleCoding

extension DiskCache {
    /// A stored response in its index. ``DiskCache/reader(of:)`` opens its body.
    package struct Entry: Sendable, Hashable {
        /// A number that is unique in the index; newer entries have higher ones.
        package let id: Int64
        /// The key for ``DiskCache/entries(for:)``.
        package let key: String
        /// The URL, for removals; several keys may have the same.
        package let url: String
        /// Bytes that the writer stores next to the body; the cache does not interpret them.
        package let head: [UInt8]
        /// The length of the body in bytes.
        package let length: UInt64
        /// Names for removals of several entries, sorted.
        package let tags: [String]
        /// The generation of the index to which the entry belongs.
        let generation: UInt64

        var header: BodyHeader { BodyHeader(generation: self.generation, id: self.id) }

        /// The CRC-32 of the row's content, because SQLite has no checksums of its own.
        var checksum: UInt32 {
            var checksum = CRC32()
            checksum.update(self.id)
            checksum.update(self.length)
            for text in [self.key, self.url] {
                checksum.update(UInt64(text.utf8.count))
                checksum.update(Array(text.utf8))
            }
            checksum.update(self.head)
            return checksum.value
        }

        /// The bytes of disk that the entry is estimated to take.
        var cost: UInt64 {
            EntryCost.bytes(
                length: self.length, key: self.key.utf8.count, url: self.url.utf8.count, head: self.head.count,
                tags: self.tags.map(\.utf8.count))
        }
    }

    /// The size and the number of the stored entries.
    package struct Statistics: Sendable, Hashable {
        /// The bytes of disk that the entries take, including their share of the index.
        package var bytes: UInt64
        /// The number of entries.
        package var entries: Int

        package init(bytes: UInt64 = 0, entries: Int = 0) {
            self.bytes = bytes
            self.entries = entries
        }
    }

    /// An event for the operator. Each is reported once, and not again for each request that it affects.
    package enum Event: Sendable, Hashable, CustomStringConvertible {
        /// The index was damaged, or could not record a removal; it was moved to `place`, and the cache is empty.
        case indexReplaced(place: String, reason: String)
        /// Nothing can be written; reported once until writing works again.
        case writingFails(DiskCacheError)
        /// Writing works again.
        case writingWorks(folder: String)
        /// An entry's bytes were damaged; it was removed.
        case entryDamaged(url: String)

        /// A sentence for the log, without a full stop.
        package var description: String {
            switch self {
            case .indexReplaced(let place, let reason):
                "the index of the cache cannot be used (\(reason)); it is now \(place), and an empty one takes its place"
            case .writingFails(let error): "\(error); answers are passed on and not stored until that has changed"
            case .writingWorks(let folder): "\(folder): the cache is written again"
            case .entryDamaged(let url): "the stored answer for \(url) was damaged and is removed"
            }
        }
    }

    /// The limits of single entries.
    package struct Limits: Sendable, Hashable {
        /// The longest head in bytes.
        package static let head = 256 * 1024
        /// The longest key, URL or tag in bytes.
        package static let text = 64 * 1024
        /// The most tags of an entry.
        package static let tags = 256
        /// The most entries of one key; one more replaces the oldest.
        package static let variants = 32
        /// The most entries that are being written at a time.
        package static let writers = 256
    }
}

/// A generous estimate of the disk space of an entry.
enum EntryCost {
    /// The unit in bytes in which file systems allocate space.
    private static let page: UInt64 = 4096
    /// A file's record in its file system, and the fixed parts of the rows in the index, in bytes.
    private static let fixed: UInt64 = 512
    private static let fixedOfTag: UInt64 = 64

    static func bytes(length: UInt64, key: Int, url: Int, head: Int, tags: [Int]) -> UInt64 {
        let file = (BodyLayout.fileSize(ofLength: length) + Self.page - 1) / Self.page * Self.page
        // Each text is in its row and in an index of the database; pages of the database are two thirds full.
        let row = head + 2 * (key + url) + 2 * tags.reduce(0, +)
        return file + UInt64(row) * 3 / 2 + Self.fixed + UInt64(tags.count) * Self.fixedOfTag
    }
}
