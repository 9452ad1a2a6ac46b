// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Keeps the last descriptors of the process free for code that cannot work without one.
///
/// libdispatch, which runs Swift's tasks, ends the process if it cannot open a file of /proc, as its monitor of threads
/// does. So requests that can be refused, such as those of new clients, are refused while a few are left. The
/// kernel returns the lowest free number, so one near the limit means that nearly all are taken.
package enum DescriptorReserve {
    /// Numbers below this one are never reserved: no serving process has so low a limit.
    private static let low: Int32 = 20

    private struct Holders: Sendable {
        var giveUp: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
        /// The time at which the holders were last asked.
        var asked: ContinuousClock.Instant?
    }

    private static let holders = Locked(Holders())
    /// The minimum time between two requests to holders: closing takes a moment, and a queue of clients would ask again and
    /// again.
    private static let interval = Duration.milliseconds(50)

    /// Returns a new descriptor, or closes it if it is one of the last: a quarter of the limit on open files, at most 128.
    /// In that case the holders of idle descriptors are asked to close them.
    ///
    /// - Parameter descriptor: the result of the system call, with `errno` if it is -1.
    /// - Returns: the descriptor; -1, with `errno` EMFILE, if it was one of the last.
    package static func admitted(_ descriptor: Int32) -> Int32 {
        guard descriptor >= 0 else {
            let code = errno
            if code == EMFILE || code == ENFILE { self.askHolders() }
            errno = code
            return descriptor
        }
        guard self.isReserved(descriptor) else { return descriptor }
        close(descriptor)
        errno = EMFILE
        return -1
    }

    /// True if a new descriptor is one of the last, as for ``admitted(_:)``, but leaves it open.
    package static func isReserved(_ descriptor: Int32) -> Bool {
        guard descriptor >= Self.low else { return false }
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
        guard UInt64(descriptor) >= limit.rlim_cur - min(128, limit.rlim_cur / 4) else { return false }
        self.askHolders()
        return true
    }

    /// Returns a reserved descriptor to the reserve if another one is free by now.
    ///
    /// - Returns: the descriptor that replaces it; nil if there is none, and the given one stays open.
    package static func exchanged(_ descriptor: Int32) -> Int32? {
        let other = self.admitted(fcntl(descriptor, F_DUPFD_CLOEXEC, 0))
        guard other >= 0 else { return nil }
        close(descriptor)
        return other
    }

    /// Registers a holder of idle descriptors, which is asked to close them if too few are left.
    ///
    /// - Parameter giveUp: called on any thread, also while a loop waits for it, so it must only start the work.
    /// - Returns: the registration, which the holder keeps; the holder is not asked any more after its end.
    package static func register(_ giveUp: @escaping @Sendable () -> Void) -> Registration {
        self.holders.withLock { holders in
            holders.last += 1
            holders.giveUp[holders.last] = giveUp
            return Registration(number: holders.last)
        }
    }

    package final class Registration: Sendable {
        private let number: UInt64

        fileprivate init(number: UInt64) { self.number = number }

        deinit { DescriptorReserve.holders.withLock { $0.giveUp[self.number] = nil } }
    }

    /// Asks the holders of idle descriptors to close them.
    package static func askHolders() {
        let asked = self.holders.withLock { holders -> [@Sendable () -> Void] in
            let now = ContinuousClock.now
            if let last = holders.asked, now - last < Self.interval { return [] }
            holders.asked = now
            return Array(holders.giveUp.values)
        }
        for giveUp in asked { giveUp() }
    }
}
