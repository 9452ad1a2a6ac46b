// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleSession
internal import PintleSystem

/// Appends a body to a file, which is locked from the beginning of the body to its end.
actor FileSink: BodySink {
    private let path: String
    private var file: OpenFile?
    /// The length of the file before the body, in bytes.
    private var base: UInt64 = 0
    private var count: UInt64 = 0

    init(path: String) { self.path = path }

    func write(_ bytes: ByteBuffer) async throws {
        let file = try await self.opened()
        let offset = self.base + self.count
        try await ThreadPool.shared.result { () throws(SessionError) in
            try DownloadFile.write(bytes, to: file.descriptor, at: offset, file.path)
        }
        self.count += UInt64(bytes.readableBytes)
    }

    func restart() async throws {
        let file = try await self.opened()
        let base = self.base
        try await ThreadPool.shared.result { () throws(SessionError) in
            guard ftruncate(file.descriptor, off_t(base)) == 0 else { throw .cannotWrite(file.path, errno) }
        }
        self.count = 0
    }

    func close() {
        // Unlocked before the file is closed: a caller that hears of the end may append to it at once.
        if let file { flock(file.descriptor, LOCK_UN) }
        self.file = nil
    }

    private func opened() async throws(SessionError) -> OpenFile {
        if let file { return file }
        let path = self.path
        let (file, length) = try await ThreadPool.shared.result { () throws(SessionError) -> (OpenFile, UInt64) in
            let (file, _) = try DownloadFile.openLocked(path)
            let end = lseek(file.descriptor, 0, SEEK_END)
            guard end >= 0 else { throw .cannotWrite(path, errno) }
            return (file, UInt64(end))
        }
        self.file = file
        self.base = length
        return file
    }
}
