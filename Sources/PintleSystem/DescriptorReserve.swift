// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Keeps the last descriptors of the process free for what cannot go on without one.
///
/// Where libdispatch, which runs Swift's tasks, cannot open a file of /proc (its monitor of threads does), it ends the process. So
/// what can be refused, such as a client, is refused before there is none left. The kernel gives the lowest number that is free: one
/// near the limit says that nearly all are taken.
package enum DescriptorReserve {
    /// Below this number nothing is asked: no process has so low a limit.
    private static let low: Int32 = 40

    /// Takes a new descriptor, or closes it where it is one of the last: a quarter of the limit on open files, 128 at most.
    ///
    /// - Parameter descriptor: as the system has returned it.
    /// - Returns: the descriptor; -1, with `errno` EMFILE, in the place of one of the last.
    package static func admitted(_ descriptor: Int32) -> Int32 {
        guard descriptor >= Self.low else { return descriptor }
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return descriptor }
        guard UInt64(descriptor) >= limit.rlim_cur - min(128, limit.rlim_cur / 4) else { return descriptor }
        close(descriptor)
        errno = EMFILE
        return -1
    }
}
