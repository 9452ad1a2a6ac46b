// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import PintleSystem

/// The file of a listening Unix socket: made only if no process listens on it, and removed at the end.
///
/// A locked file beside it, `PATH.lock`, exists as long as the process listens. Without it, two processes that find a
/// left-over socket would both remove it, and one of them would remove the other's new one.
final class UnixSocketFile {
    private let path: String
    private let lock: LockFile
    private let identity: FileIdentity

    private init(path: String, lock: LockFile, identity: FileIdentity) {
        self.path = path
        self.lock = lock
        self.identity = identity
    }

    /// Binds a new socket to `path`; only this user may connect to it.
    ///
    /// - Throws: `IOError`: EADDRINUSE if a process listens or the file is no socket, otherwise the code of the call that
    ///   failed.
    static func bind(_ path: String) throws -> (descriptor: Int32, file: UnixSocketFile) {
        let address = try SocketAddress(pathOfSocket: path)
        let lock = try LockFile(CompanionFile.lock.path(beside: path))
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        do {
            guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
            // The file gets the mode of the socket, less the umask: the mode belongs to this socket, the umask to the whole
            // process.
            guard fchmod(descriptor, 0o600) == 0 else { throw IOError(errnoCode: errno, reason: "fchmod") }
            if !Self.isBound(descriptor, address) {
                guard errno == EADDRINUSE else { throw IOError(errnoCode: errno, reason: "bind") }
                try Self.removeLeftOver(path, address)
                guard Self.isBound(descriptor, address) else { throw IOError(errnoCode: errno, reason: "bind") }
            }
            guard let identity = FileIdentity(path) else { throw IOError(errnoCode: errno, reason: "lstat") }
            return (descriptor, UnixSocketFile(path: path, lock: lock, identity: identity))
        } catch {
            if descriptor >= 0 { close(descriptor) }
            lock.release()
            throw error
        }
    }

    /// Removes the file from its folder, unless the path names another file by now.
    func remove() {
        if FileIdentity(self.path) == self.identity { unlink(self.path) }
        self.lock.release()
    }

    private static func isBound(_ descriptor: Int32, _ address: SocketAddress) -> Bool {
        address.withSockAddr { Glibc.bind(descriptor, $0, socklen_t($1)) } == 0
    }

    private static func removeLeftOver(_ path: String, _ address: SocketAddress) throws {
        let inUse = IOError(errnoCode: EADDRINUSE, reason: "bind")
        guard FileIdentity(path)?.isSocket == true else { throw inUse }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
        defer { close(probe) }
        guard address.withSockAddr({ connect(probe, $0, socklen_t($1)) }) != 0, errno == ECONNREFUSED else {
            throw inUse
        }
        unlink(path)
    }
}

/// The identity of the file at a path.
private struct FileIdentity: Equatable {
    let device: dev_t
    let number: ino_t
    let isSocket: Bool

    init?(_ path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    init(_ status: stat) {
        self.device = status.st_dev
        self.number = status.st_ino
        self.isSocket = status.st_mode & S_IFMT == S_IFSOCK
    }
}

/// A lock file that one process at a time holds; the kernel releases the lock when the process dies.
private struct LockFile {
    private let path: String
    private let descriptor: Int32

    /// - Throws: `IOError`: EADDRINUSE if another process holds the lock.
    init(_ path: String) throws {
        self.path = path
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "open") }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let code = errno
                close(descriptor)
                throw IOError(errnoCode: code == EWOULDBLOCK ? EADDRINUSE : code, reason: "flock")
            }
            var status = stat()
            // The process that held the lock before may have removed the file meanwhile; then this lock excludes no other
            // process.
            if fstat(descriptor, &status) == 0, FileIdentity(path) == FileIdentity(status) {
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
    }

    func release() {
        unlink(self.path)
        close(self.descriptor)
    }
}
