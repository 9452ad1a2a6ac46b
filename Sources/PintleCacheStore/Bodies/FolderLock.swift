// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import PintleSystem

/// The right to use a cache's folder; one process has it at a time. The kernel releases it when the process ends, for whatever
/// reason.
final class FolderLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock, or throws at once if another process has it.
    init(_ folder: CacheFolder) throws(DiskCacheError) {
        let descriptor = try folder.openLock()
        self.descriptor = descriptor
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let error = SystemError.last
            if error.code == EINTR { continue }
            guard error.code == EWOULDBLOCK else { throw DiskCacheError(error, folder.lock, "locked") }
            let process = FileBytes.text(folder.lock).prefix { $0 != "\n" }
            throw DiskCacheError(
                .inUse,
                "\(folder.path) is the cache of another process\(process.isEmpty ? "" : " (\(process.prefix(20)))"); "
                    + "give each its own folder, or stop that one")
        }
        // Only for the error message above: the lock is valid even if the process id cannot be written.
        if ftruncate(descriptor, 0) == 0 {
            _ = Array("\(getpid())\n".utf8).withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        }
    }

    deinit {
        // A forked child that has not executed its command yet has the descriptor, too.
        flock(self.descriptor, LOCK_UN)
        close(self.descriptor)
    }
}
