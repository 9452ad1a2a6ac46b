// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleCacheStore
internal import PintleSession

/// The bytes of a body on a disk.
protocol BodyStorage: Sendable {
    /// Reads bytes that are stored.
    ///
    /// - Parameters:
    ///   - offset: the place of the first one.
    ///   - count: the most that are wanted.
    /// - Returns: at least one byte.
    func bytes(at offset: UInt64, upTo count: Int) async throws(SessionError) -> ByteBuffer
}

/// That of an entry.
extension DiskCache.Reader: BodyStorage {
    func bytes(at offset: UInt64, upTo count: Int) async throws(SessionError) -> ByteBuffer {
        do throws(DiskCacheError) { return try await self.read(offset: offset, upTo: count) } catch {
            throw SessionError(error)
        }
    }
}

/// That of one which is being written.
extension DiskCache.Writer: BodyStorage {
    func bytes(at offset: UInt64, upTo count: Int) async throws(SessionError) -> ByteBuffer {
        do throws(DiskCacheError) { return try await self.read(offset: offset, upTo: count) } catch {
            throw SessionError(error)
        }
    }
}

extension SessionError {
    /// A body that breaks off, since its disk does not have it any more.
    fileprivate init(_ error: DiskCacheError) { self.init(.truncated, error.description) }
}
