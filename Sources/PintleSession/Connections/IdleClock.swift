// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// The clock by which idle connections age: that of the loops, and the time for which the machine slept. The loops' stands still
/// meanwhile, but origins close idle connections, and devices on the way forget them.
struct IdleClock {
    /// Shorter times are inaccurate: the time of a loop is that of the beginning of its turn.
    private static let least = TimeAmount.seconds(1)

    /// The sleep since the start of the machine, in nanoseconds, as far as it was looked at; nil before the first look.
    private var known: Int64?
    /// The sleep since the first look.
    private var sleep = TimeAmount.zero

    /// The time of this clock, which never goes back.
    ///
    /// - Parameters:
    ///   - now: the time of the loop.
    ///   - total: the time since the start of the machine, sleep included, in nanoseconds.
    mutating func time(at now: NIODeadline, total: Int64 = IdleClock.total) -> NIODeadline {
        let all = total - Int64(clamping: now.uptimeNanoseconds)
        guard let known, known < all else {
            self.known = all
            return now + self.sleep
        }
        let new = TimeAmount.nanoseconds(all - known)
        if new >= Self.least {
            self.known = all
            self.sleep = self.sleep + new
        }
        return now + self.sleep
    }

    /// The time of the loop at which this clock will have a time, unless the machine sleeps before.
    func loopTime(at time: NIODeadline) -> NIODeadline { time - self.sleep }

    /// The time since the start of the machine (CLOCK_BOOTTIME of clock_gettime(2)).
    private static var total: Int64 {
        var time = timespec()
        guard clock_gettime(CLOCK_BOOTTIME, &time) == 0 else {
            preconditionFailure("BUG: the kernel has no clock that counts sleep (errno \(errno))")
        }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
