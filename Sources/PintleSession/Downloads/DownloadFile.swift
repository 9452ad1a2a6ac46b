// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
package import NIOCore
internal import PintleMessage
internal import PintleSystem

/// The file in which a download grows, locked against other writers. It belongs to the task that writes it.
package final class DownloadFile {
    private let place: PartPlace
    var path: String { self.place.path }
    /// The number of bytes that are written.
    private(set) var offset: UInt64 = 0
    private let file: OpenFile
    private let url: String?
    /// The content of the sidecar; nil if a later task could not continue with this file.
    private var part: PartialDownload?
    /// True if the task has made the file or begun to write it; only then may the task remove it.
    private var isOurs: Bool
    /// True if the file is complete, so that it is not removed even if its task fails.
    private var isWhole = false

    /// The number of bytes that may be lost if the machine stops: the sidecar is written again each time this many more
    /// have reached the disk.
    private static let noteInterval: UInt64 = 8 << 20

    private init(place: PartPlace, file: OpenFile, isNew: Bool, url: String?) {
        self.place = place
        self.file = file
        self.isOurs = isNew
        self.url = url
    }

    /// Opens or makes the file.
    ///
    /// - Parameter url: the file has the beginning of the response to a GET of this URL; nil if no later task can
    ///   continue it.
    /// - Throws: ``SessionError`` with `cannotWrite`: it names the file and the system's reason, or says that the file
    ///   was not left by a download.
    static func open(_ place: PartPlace, of url: String?) async throws(SessionError) -> DownloadFile {
        let (file, isNew) = try await ThreadPool.shared.resultForRun { () throws(SessionError) -> (OpenFile, Bool) in
            let (file, isNew) = try Self.openLocked(place.path, isTemporary: place.kind == .temporary)
            if !isNew, place.kind == .beside { try Self.checkOrigin(of: file) }
            return (file, isNew)
        }
        return DownloadFile(place: place, file: file, isNew: isNew, url: url)
    }

    /// Refuses a file that has content and no sidecar of a download: it may be a file of the user's.
    private static func checkOrigin(of file: OpenFile) throws(SessionError) {
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else { throw .cannotWrite(file.path, errno) }
        guard status.st_size == 0 || PartialDownload.note(beside: file.path) != nil else {
            throw SessionError(
                .cannotWrite,
                "\(file.path) is in the way, and no note says that a download has left it; move it away or remove it")
        }
    }

    /// Opens or makes a regular file that no other download writes.
    ///
    /// - Parameter isTemporary: true if it must be new, and accessible to this user only.
    package static func openLocked(
        _ path: String, isTemporary: Bool = false
    ) throws(SessionError) -> (file: OpenFile, isNew: Bool) {
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        while true {
            let new = PintleSystem.open(path, flags | O_CREAT | O_EXCL, isTemporary ? 0o600 : 0o666)
            guard new < 0, errno == EEXIST, !isTemporary else {
                guard new >= 0 else { throw .cannotWrite(path, errno) }
                if let file = try Self.lock(new, path) { return (file, true) }
                continue
            }
            let old = PintleSystem.open(path, flags)
            // Another download may have just moved or removed it.
            guard old >= 0 || errno == ENOENT else { throw .cannotWrite(path, errno) }
            if old >= 0, let file = try Self.lock(old, path) { return (file, false) }
        }
    }

    /// Locks the file.
    ///
    /// - Returns: nil if another download ended between opening and locking: the open file then has its final name and
    ///   must not be written.
    private static func lock(_ descriptor: Int32, _ path: String) throws(SessionError) -> OpenFile? {
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

    /// Returns the part that an earlier download of the same URL left in the file.
    ///
    /// - Parameter given: the part that the caller knows; it is used if there is no sidecar.
    func findLeftOver(_ given: PartialDownload? = nil) async throws(SessionError) -> PartialDownload? {
        guard let url = self.url else { return nil }
        let (path, file) = (self.path, self.file)
        let left = try await ThreadPool.shared.resultForRun { () throws(SessionError) -> PartialDownload? in
            let isNoted = access(PartialDownload.sidecar(of: path), F_OK) == 0
            let known = isNoted ? PartialDownload.note(beside: path) : given
            guard let part = known, part.isUsable(in: path), part.url == url, part.offset > 0 else { return nil }
            var status = stat()
            guard fstat(file.descriptor, &status) == 0, UInt64(status.st_size) >= part.offset else { return nil }
            return part
        }
        guard let left else { return nil }
        // Until the server has answered, this part is still valid.
        self.part = left
        self.offset = left.offset
        return left
    }

    /// Prepares the file for the body of `head`, whose bytes belong at `offset`; cuts off all bytes after that.
    ///
    /// - Parameter isDecoded: true if the bytes are not those that the server sent, so that no later task can continue.
    func begin(
        _ head: ResponseHead, length: UInt64?, at offset: UInt64, isDecoded: Bool
    ) async throws(SessionError) {
        self.offset = offset
        // A server that sends the rest has just confirmed the validator, and need not repeat it.
        if offset == 0 {
            let url = isDecoded ? nil : self.url
            self.part = url.flatMap { PartialDownload(of: $0, file: self.path, from: head, length: length) }
        }
        self.isOurs = true
        let (path, file) = (self.path, self.file)
        // A part that cannot be continued gets a sidecar too: the next download must know that it may replace the file.
        let note = self.isNoted ? self.part ?? PartialDownload(claiming: path) : nil
        try await ThreadPool.shared.resultForRun { () throws(SessionError) in
            guard ftruncate(file.descriptor, off_t(offset)) == 0 else { throw .cannotWrite(path, errno) }
            try note?.write()
        }
    }

    /// Appends `pieces`.
    func write(_ pieces: [ByteBuffer]) async throws(SessionError) {
        let (path, file, offset) = (self.path, self.file, self.offset)
        let (end, failure) = await ThreadPool.shared.resultForRun {
            var end = offset
            do throws(SessionError) {
                for piece in pieces {
                    try Self.write(piece, to: file.descriptor, at: end, path)
                    end += UInt64(piece.readableBytes)
                }
            } catch {
                return (end, SessionError?.some(error))
            }
            return (end, nil)
        }
        // A later task continues after the pieces that were written.
        self.offset = end
        if let failure { throw failure }
        // To note each piece would make the disk sync each time.
        guard self.isNoted, let part, self.offset - part.offset >= Self.noteInterval else { return }
        try await self.note()
    }

    /// True if a sidecar is kept while the file grows. In a temporary folder no later task could find it, but other
    /// users might.
    private var isNoted: Bool { self.place.kind != .temporary }

    /// Notes that a later task cannot use the bytes that have arrived.
    func forget() { self.part = nil }

    /// Ends an incomplete download, or a complete one that could not be moved.
    ///
    /// - Returns: the part for a later task, if `isKept` and there is anything to keep.
    func abandon(keeping isKept: Bool) async -> PartialDownload? {
        // If this fails, as on a full disk, the earlier sidecar is still valid.
        if isKept, self.isOurs, !self.isWhole { try? await self.note() }
        let left = isKept && !self.isWhole ? self.part.flatMap { $0.offset > 0 ? $0 : nil } : nil
        let (path, file, isOurs, isWhole) = (self.path, self.file, self.isOurs, self.isWhole)
        await ThreadPool.shared.resultForRun {
            // The sidecar of a complete file stays too: a later download may replace the file.
            if left == nil, isOurs, !isWhole {
                unlink(path)
                unlink(PartialDownload.sidecar(of: path))
            }
            // Unlocked before the file is closed: a caller that hears of the end may continue the download at once.
            _ = flock(file.descriptor, LOCK_UN)
        }
        return left
    }

    /// Returns the whole file, for a contract that checks it.
    ///
    /// - Throws: ``SessionError`` with `tooLarge` over `limit` bytes.
    func contents(upTo limit: Int) async throws(SessionError) -> [UInt8] {
        guard self.offset <= UInt64(limit) else {
            throw SessionError(.tooLarge, "the body is longer than the \(limit) bytes that can be checked")
        }
        let (path, count) = (self.path, Int(self.offset))
        return try await ThreadPool.shared.resultForRun { () throws(SessionError) -> [UInt8] in
            guard let bytes = FileBytes.read(path, upTo: count), bytes.count == count else {
                throw SessionError(.cannotWrite, "\(path) was changed while it was written")
            }
            return bytes
        }
    }

    /// Moves the whole file to `destination`, in one step.
    ///
    /// - Throws: ``SessionError`` with `cannotWrite`, saying in which file the download is kept.
    func move(to destination: String, replacing: Bool) async throws(SessionError) {
        self.isWhole = true
        let (path, file, isShared) = (self.path, self.file, self.place.kind != .beside)
        try await ThreadPool.shared.resultForRun { () throws(SessionError) in
            if isShared, let mode = FileMove.usualMode { fchmod(file.descriptor, mode) }
            guard fsync(file.descriptor) == 0 else { throw .cannotWrite(path, errno) }
            let code = FileMove.move(path, to: destination, replacing: replacing)
            guard code == 0 else {
                throw SessionError(
                    .cannotWrite, "\(destination) cannot take the download, which is kept in \(path)",
                    cause: SystemError(code).description)
            }
            unlink(PartialDownload.sidecar(of: path))
        }
    }

    /// Leaves the complete file where it is, and removes its sidecar.
    func settle() async {
        let path = self.path
        _ = await ThreadPool.shared.resultForRun { unlink(PartialDownload.sidecar(of: path)) }
    }

    /// Syncs the file and writes its sidecar with the new offset.
    private func note() async throws(SessionError) {
        // A download that cannot be continued has no sidecar.
        guard var part = self.part else { return }
        part.offset = self.offset
        let (path, file, noted) = (self.path, self.file, part)
        try await ThreadPool.shared.resultForRun { () throws(SessionError) in
            guard fdatasync(file.descriptor) == 0 else { throw .cannotWrite(path, errno) }
            try noted.write()
        }
        self.part = noted
    }

    /// Writes all of `bytes`, and continues after short writes.
    package static func write(
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
    package static func cannotWrite(_ path: String, _ code: Int32) -> SessionError {
        SessionError(.cannotWrite, "\(path) cannot be written", cause: SystemError(code).description)
    }
}
