// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// Measures for how long the machine slept. The clock of the loops stands still meanwhile, but origins close idle connections, and
/// devices on the way forget them.
struct SleepMeter {
    /// Shorter times are inaccurate: the time of a loop is that of the beginning of its turn.
    private static let least = TimeAmount.seconds(1)

    /// The sleep since the start of the machine, in nanoseconds, as far as it was reported; nil before the first look.
    private var reported: Int64?

    /// Returns the time for which the machine slept since the last look, or zero.
    ///
    /// - Parameters:
    ///   - now: the time of the loop.
    ///   - total: the time since the start of the machine, sleep included, in nanoseconds.
    mutating func slept(until now: NIODeadline, total: Int64 = SleepMeter.total) -> TimeAmount {
        let sleep = total - Int64(clamping: now.uptimeNanoseconds)
        guard let reported, reported < sleep else {
            self.reported = sleep
            return .zero
        }
        let new = TimeAmount.nanoseconds(sleep - reported)
        guard new >= Self.least else { return .zero }
        self.reported = sleep
        return new
    }

    /// The time since the start of the machine (CLOCK_BOOTTIME of clock_gettime(2)).
    private static var total: Int64 {
        var time = timespec()
        guard clock_gettime(CLOCK_BOOTTIME, &time) == 0 else {
            preconditionFailure("BUG: the kernel has no clock that counts sleep (errno \(errno))")
        }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
