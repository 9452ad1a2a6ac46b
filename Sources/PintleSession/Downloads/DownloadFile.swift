// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import NIOCore
internal import PintleMessage

/// The file in which a download grows, locked against a second one. It belongs to the task that writes it.
final class DownloadFile {
    let path: String
    /// The bytes that are written.
    private(set) var offset: UInt64 = 0
    private let file: OpenFile
    private let url: String?
    /// What the sidecar says; nil where there is nothing that a later task could go on with.
    private var part: PartialDownload?
    /// Whether there is nothing to add to the file, so that it is not removed whatever becomes of its task.
    private var isWhole = false

    /// How many bytes may be lost when the machine stops: the sidecar is written again when so many have reached the
    /// disk.
    private static let noteInterval: UInt64 = 8 << 20

    private init(path: String, file: OpenFile, url: String?) {
        self.path = path
        self.file = file
        self.url = url
    }

    /// Opens or makes the file.
    ///
    /// - Parameter url: what a GET of which begins with the bytes of the file; nil where no later task can go on.
    /// - Throws: ``SessionError`` with `cannotWrite`, naming the file and the system's reason.
    static func open(_ path: String, of url: String?) async throws(SessionError) -> DownloadFile {
        let file = try await BlockingWork.run { () throws(SessionError) -> OpenFile in try Self.openLocked(path) }
        return DownloadFile(path: path, file: file, url: url)
    }

    /// Opens or makes a regular file that nobody else writes.
    static func openLocked(_ path: String) throws(SessionError) -> OpenFile {
        while true {
            if let file = try Self.openLockedOnce(path) { return file }
        }
    }

    /// - Returns: nil where another download ended between the opening and the locking: the file that was opened has
    ///   its final name by then, and must not be written.
    private static func openLockedOnce(_ path: String) throws(SessionError) -> OpenFile? {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
        guard descriptor >= 0 else { throw .cannotWrite(path, errno) }
        let file = OpenFile(descriptor: descriptor, path: path)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SessionError(.cannotWrite, "\(path) is not a regular file")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw SessionError(.cannotWrite, "\(path) is being written by another download")
        }
        var named = stat()
        guard lstat(path, &named) == 0, named.st_dev == status.st_dev, named.st_ino == status.st_ino else { return nil }
        return file
    }

    /// What an earlier download of the same URL left in the file.
    func findLeftOver() async throws(SessionError) -> PartialDownload? {
        guard let url = self.url else { return nil }
        let (path, file) = (self.path, self.file)
        let left = try await BlockingWork.run { () throws(SessionError) -> PartialDownload? in
            guard let part = PartialDownload.read(beside: path), part.url == url, part.offset > 0 else { return nil }
            var status = stat()
            guard fstat(file.descriptor, &status) == 0, UInt64(status.st_size) >= part.offset else { return nil }
            return part
        }
        guard let left else { return nil }
        // Until the server has answered, this is still what there is.
        self.part = left
        self.offset = left.offset
        return left
    }

    /// Gets ready for the body of `head`, whose bytes belong at `offset`; what is behind it goes.
    func begin(_ head: ResponseHead, length: UInt64?, at offset: UInt64) async throws(SessionError) {
        self.offset = offset
        // A server that sends the rest has just confirmed the validator, and need not repeat it.
        if offset == 0 {
            self.part = self.url.flatMap { PartialDownload(of: $0, file: self.path, from: head, length: length) }
        }
        let (path, file, part) = (self.path, self.file, self.part)
        try await BlockingWork.run { () throws(SessionError) in
            guard ftruncate(file.descriptor, off_t(offset)) == 0 else { throw .cannotWrite(path, errno) }
            if let part { try part.write() } else { unlink(PartialDownload.sidecar(of: path)) }
        }
    }

    /// Appends `bytes`.
    func write(_ bytes: ByteBuffer) async throws(SessionError) {
        let (path, file, offset) = (self.path, self.file, self.offset)
        try await BlockingWork.run { () throws(SessionError) in
            try Self.write(bytes, to: file.descriptor, at: offset, path)
        }
        self.offset += UInt64(bytes.readableBytes)
        guard let part, self.offset - part.offset >= Self.noteInterval else { return }
        try await self.note()
    }

    /// What has arrived is of no use to a later task.
    func forget() { self.part = nil }

    /// Ends without the rest, or, where the file is whole, without its place.
    ///
    /// - Returns: what is left for a later task, where `isKept` and there is anything worth keeping.
    func abandon(keeping isKept: Bool) async -> PartialDownload? {
        // Where this fails, as on a full disk, what was noted earlier still holds.
        if isKept, !self.isWhole { try? await self.note() }
        let left = isKept && !self.isWhole ? self.part.flatMap { $0.offset > 0 ? $0 : nil } : nil
        let (path, file, isWhole) = (self.path, self.file, self.isWhole)
        _ = try? await BlockingWork.run {
            if left == nil {
                if !isWhole { unlink(path) }
                unlink(PartialDownload.sidecar(of: path))
            }
            // Not left to the closing of the file: who hears of the end may go on with it at once.
            _ = flock(file.descriptor, LOCK_UN)
        }
        return left
    }

    /// The whole file, for a contract that has to see it.
    ///
    /// - Throws: ``SessionError`` with `tooLarge` over `limit` bytes.
    func contents(upTo limit: Int) async throws(SessionError) -> [UInt8] {
        guard self.offset <= UInt64(limit) else {
            throw SessionError(.tooLarge, "the body is longer than the \(limit) bytes that can be checked")
        }
        let (path, count) = (self.path, Int(self.offset))
        return try await BlockingWork.run { () throws(SessionError) -> [UInt8] in
            guard let data = FileManager.default.contents(atPath: path), data.count == count else {
                throw SessionError(.cannotWrite, "\(path) was changed while it was written")
            }
            return Array(data)
        }
    }

    /// Moves the whole file to `destination`, in one step.
    ///
    /// - Throws: ``SessionError`` with `cannotWrite`, saying where the file still is.
    func move(to destination: String, replacing: Bool) async throws(SessionError) {
        self.isWhole = true
        let (path, file) = (self.path, self.file)
        try await BlockingWork.run { () throws(SessionError) in
            guard fsync(file.descriptor) == 0 else { throw .cannotWrite(path, errno) }
            let code = FileMove.move(path, to: destination, replacing: replacing)
            guard code == 0 else {
                throw SessionError(
                    .cannotWrite, "\(destination) cannot take the download, which is kept in \(path)",
                    cause: String(cString: strerror(code)))
            }
            unlink(PartialDownload.sidecar(of: path))
        }
    }

    /// Leaves the whole file where it is.
    func settle() async {
        let path = self.path
        _ = try? await BlockingWork.run { unlink(PartialDownload.sidecar(of: path)) }
    }

    /// Makes the disk and the sidecar agree on how much there is.
    private func note() async throws(SessionError) {
        guard var part = self.part else { return }
        part.offset = self.offset
        let (path, file, noted) = (self.path, self.file, part)
        try await BlockingWork.run { () throws(SessionError) in
            guard fdatasync(file.descriptor) == 0 else { throw .cannotWrite(path, errno) }
            try noted.write()
        }
        self.part = noted
    }

    static func write(
        _ bytes: ByteBuffer, to descriptor: Int32, at offset: UInt64, _ path: String
    ) throws(SessionError) {
        let code = bytes.withUnsafeReadableBytes { bytes -> Int32 in
            var done = 0
            while done < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count < 0 ? errno : EIO }
                done += count
            }
            return 0
        }
        guard code == 0 else { throw .cannotWrite(path, code) }
    }
}

extension SessionError {
    static func cannotWrite(_ path: String, _ code: Int32) -> SessionError {
        SessionError(.cannotWrite, "\(path) cannot be written", cause: String(cString: strerror(code)))
    }
}
