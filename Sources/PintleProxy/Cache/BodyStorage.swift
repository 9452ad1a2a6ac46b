// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCacheStore
internal import PintleSession

/// The bytes of a body on disk.
protocol BodyStorage: Sendable {
    /// Reads stored bytes.
    ///
    /// - Parameters:
    ///   - offset: the offset of the first byte.
    ///   - count: the most bytes to return.
    /// - Returns: at least one byte.
    func bytes(at offset: UInt64, upTo count: Int) async throws(SessionError) -> ByteBuffer
}

/// The body of a complete entry.
extension DiskCache.Reader: BodyStorage {
    func bytes(at offset: UInt64, upTo count: Int) async throws(SessionError) -> ByteBuffer {
        do throws(DiskCacheError) { return try await self.read(offset: offset, upTo: count) } catch {
            throw SessionError(error)
        }
    }
}

/// The body of an entry that is still being written.
extension DiskCache.Writer: BodyStorage {
    func bytes(at offset: UInt64, upTo count: Int) async throws(SessionError) -> ByteBuffer {
        do throws(DiskCacheError) { return try await self.read(offset: offset, upTo: count) } catch {
            throw SessionError(error)
        }
    }
}

extension SessionError {
    /// The error for a body that breaks off because the disk cannot return it any more.
    fileprivate init(_ error: DiskCacheError) { self.init(.truncated, error.description) }
}
