// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleCacheStore

/// A response on disk whose body is open for reading.
struct DiskEntry: Sendable {
    let response: StoredResponse
    let reader: DiskCache.Reader

    /// Reads the body into memory.
    ///
    /// - Returns: nil if the body cannot be read.
    func inMemory() async -> CacheEntry<SharedBody>? {
        var bytes = BodyPieces()
        while UInt64(bytes.count) < self.reader.entry.length {
            guard let piece = try? await self.reader.read(offset: UInt64(bytes.count)) else { return nil }
            bytes.append(piece)
        }
        return CacheEntry(self.response, bytes)
    }

    /// The response with its body on disk.
    var onDisk: CacheEntry<SharedBody> {
        CacheEntry(self.response, onDisk: SharedBody(stored: self.reader, length: self.reader.entry.length))
    }
}
