// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The time that processors have spent.
package enum ProcessorTime {
    /// The processor time of this thread so far. It does not pass while the thread waits.
    package static var ofThread: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
