// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleCacheStore

/// A response on disk whose body is open for reading.
struct StoredAnswerOnDisk: Sendable {
    let response: StoredResponse
    let reader: DiskCache.Reader

    /// Reads the body into memory.
    ///
    /// - Returns: nil if the body cannot be read.
    func inMemory() async -> KeptAnswer? {
        var pieces: [ByteBuffer] = []
        var count: UInt64 = 0
        while count < self.reader.entry.length {
            guard let piece = try? await self.reader.read(offset: count) else { return nil }
            count += UInt64(piece.readableBytes)
            pieces.append(piece)
        }
        return KeptAnswer(self.response, pieces)
    }

    /// The response with its body on disk.
    var onDisk: KeptAnswer {
        KeptAnswer(self.response, SharedBody(stored: self.reader, length: self.reader.entry.length))
    }
}
