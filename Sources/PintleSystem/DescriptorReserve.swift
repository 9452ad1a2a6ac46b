// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Keeps the last descriptors of the process free for what cannot go on without one.
///
/// Where libdispatch, which runs Swift's tasks, cannot open a file of /proc (its monitor of threads does), it ends the process. So
/// what can be refused, such as a client, is refused before there is none left. The kernel gives the lowest number that is free: one
/// near the limit says that nearly all are taken.
package enum DescriptorReserve {
    /// Below this number nothing is asked: no process that serves has so low a limit.
    private static let low: Int32 = 20

    private struct Holders: Sendable {
        var giveUp: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
        /// When they were asked last.
        var asked: ContinuousClock.Instant?
    }

    private static let holders = Locked(Holders())
    /// How often holders are asked: what they close takes a moment, and a queue of clients asks again and again.
    private static let interval = Duration.milliseconds(50)

    /// Takes a new descriptor, or closes it where it is one of the last: a quarter of the limit on open files, 128 at most. If
    /// there are too few, those that hold some idly are asked to close them.
    ///
    /// - Parameter descriptor: as the system has returned it, with `errno` if that is -1.
    /// - Returns: the descriptor; -1, with `errno` EMFILE, in the place of one of the last.
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

    /// Tells whether a new descriptor is one of the last, as ``admitted(_:)`` does, but leaves it open.
    package static func isReserved(_ descriptor: Int32) -> Bool {
        guard descriptor >= Self.low else { return false }
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
        guard UInt64(descriptor) >= limit.rlim_cur - min(128, limit.rlim_cur / 4) else { return false }
        self.askHolders()
        return true
    }

    /// Gives a reserved descriptor back to the reserve if there is another one by now.
    ///
    /// - Returns: the descriptor that takes its place; nil if there is none, and the given one stays open.
    package static func exchanged(_ descriptor: Int32) -> Int32? {
        let other = self.admitted(fcntl(descriptor, F_DUPFD_CLOEXEC, 0))
        guard other >= 0 else { return nil }
        close(descriptor)
        return other
    }

    /// Has somebody who may hold descriptors idly be told when there are too few.
    ///
    /// - Parameter giveUp: called on any thread, also while a loop waits for it: it only has the work begin.
    /// - Returns: what the holder keeps; it is asked no more when that is gone.
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

    /// Asks those that hold descriptors idly to close them.
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
