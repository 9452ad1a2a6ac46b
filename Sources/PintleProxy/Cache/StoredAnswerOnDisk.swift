// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCache
internal import PintleCacheStore

/// An answer whose body is on disk, and open.
struct StoredAnswerOnDisk: Sendable {
    let response: StoredResponse
    let reader: DiskCache.Reader

    /// Reads the body.
    ///
    /// - Returns: nil where it cannot be read.
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

    /// The answer with its body on the disk.
    var onDisk: KeptAnswer {
        KeptAnswer(self.response, SharedBody(stored: self.reader, length: self.reader.entry.length))
    }
}
