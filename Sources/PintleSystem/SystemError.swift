// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An error number of the system (`errno`), with a text of Pintle's own, which depends on no locale and no C library.
package struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error number (`errno`).
    package let code: Int32

    package init(_ code: Int32) { self.code = code }

    /// The error of the system call that this thread has just made.
    package static var last: SystemError { SystemError(errno) }

    /// A few words that can follow a colon or stand in parentheses.
    package var description: String { Self.words[self.code] ?? "the system's error \(self.code)" }

    private static let words: [Int32: String] = [
        EPERM: "not permitted", ENOENT: "no such file or folder", EINTR: "interrupted", EIO: "the device failed",
        ENXIO: "nobody reads it", EBADF: "it is closed", EAGAIN: "not at the moment", ENOMEM: "out of memory",
        EACCES: "permission denied", EBUSY: "in use", EEXIST: "it is there already",
        EXDEV: "it is on another file system", ENODEV: "no such device", ENOTDIR: "not a folder",
        EISDIR: "it is a folder", EINVAL: "not valid", ENFILE: "too many open files in the system",
        EMFILE: "too many open files", ETXTBSY: "the program is running", EFBIG: "the file is too large",
        ENOSPC: "no space left on the device", EROFS: "the file system is read-only", EMLINK: "too many links",
        EPIPE: "nobody reads it", ENAMETOOLONG: "the name is too long", ELOOP: "too many symbolic links",
        ENOTEMPTY: "the folder is not empty", EDQUOT: "the disk quota is used up", EOVERFLOW: "too large",
        ENOTSUP: "not supported", ENOSYS: "not supported by this kernel", ENOTSOCK: "not a socket",
        EPROTONOSUPPORT: "the protocol is not supported", EAFNOSUPPORT: "the kind of address is not supported",
        EADDRINUSE: "address already in use", EADDRNOTAVAIL: "not an address of this machine",
        ENETDOWN: "the network is down", ENETUNREACH: "no route to the network", EHOSTUNREACH: "no route to the host",
        EHOSTDOWN: "the host is down", ECONNABORTED: "the connection was given up",
        ECONNRESET: "the connection was reset", ECONNREFUSED: "connection refused", ENOBUFS: "out of buffers",
        ENOTCONN: "not connected", ETIMEDOUT: "no answer in time", EDESTADDRREQ: "no address is given",
        EMSGSIZE: "the message is too long", ESTALE: "the file is gone from its server",
    ]
}
