// SPDX-License-Identifier: Apache-2.0

internal import PintleCoding

extension DiskCache {
    /// A stored response, as the index has it. The body is read with ``DiskCache/reader(of:)``.
    package struct Entry: Sendable, Hashable {
        /// A number that no other entry of the index ever has; higher ones are newer.
        package let id: Int64
        /// What the entry is found by.
        package let key: String
        /// The URL, for removals; several keys may have the same.
        package let url: String
        /// Whatever the writer keeps beside the body; the cache does not look into it.
        package let head: [UInt8]
        /// The body's bytes.
        package let length: UInt64
        /// Names by which entries are removed together, sorted.
        package let tags: [String]
        /// The index that knows the entry.
        let generation: UInt64

        var header: BodyHeader { BodyHeader(generation: self.generation, id: self.id) }

        /// The CRC-32 of what the row says: SQLite has no checksums of its own.
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

        /// The bytes of disk that the entry counts for.
        var cost: UInt64 {
            EntryCost.bytes(
                length: self.length, key: self.key.utf8.count, url: self.url.utf8.count, head: self.head.count,
                tags: self.tags.map(\.utf8.count))
        }
    }

    /// How much there is.
    package struct Statistics: Sendable, Hashable {
        /// The bytes of disk that the entries take, with their share of the index.
        package var bytes: UInt64
        /// The number of entries.
        package var entries: Int

        package init(bytes: UInt64 = 0, entries: Int = 0) {
            self.bytes = bytes
            self.entries = entries
        }
    }

    /// An event that the operator should know of. Each is told once, and not for each request that meets it.
    package enum Event: Sendable, Hashable, CustomStringConvertible {
        /// The index was damaged: it is now at `place`, and the cache is empty.
        case indexReplaced(place: String, reason: String)
        /// Nothing can be written; told once until something is written again.
        case writingFails(DiskCacheError)
        /// Writing works again.
        case writingWorks(folder: String)
        /// An entry's bytes were not those that were written; it was removed.
        case entryDamaged(url: String)

        /// A sentence for the log, without a full stop.
        package var description: String {
            switch self {
            case .indexReplaced(let place, let reason):
                "the index of the cache was damaged (\(reason)); it is now \(place), and an empty one takes its place"
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
        /// The most entries of one key: with one more the oldest one goes.
        package static let variants = 32
        /// The most entries that are being written at a time.
        package static let writers = 256
    }
}

/// An estimate, on the high side, of what an entry takes from the disk.
enum EntryCost {
    /// The unit in which file systems give out space.
    private static let page: UInt64 = 4096
    /// A file's own record in its file system, and the fixed parts of the rows of the index.
    private static let fixed: UInt64 = 512
    private static let fixedOfTag: UInt64 = 64

    static func bytes(length: UInt64, key: Int, url: Int, head: Int, tags: [Int]) -> UInt64 {
        let file = (BodyLayout.fileSize(ofLength: length) + Self.page - 1) / Self.page * Self.page
        // Each text is in its row and in an index; pages of the index are two thirds full.
        let row = head + 2 * (key + url) + 2 * tags.reduce(0, +)
        return file + UInt64(row) * 3 / 2 + Self.fixed + UInt64(tags.count) * Self.fixedOfTag
    }
}
