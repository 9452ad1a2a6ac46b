// SPDX-License-Identifier: Apache-2.0

/// Time as the activity of one proxy sees it: a clock and timers, given by whoever runs the event loops.
package struct Scheduler: Sendable {
    /// Stops a timer; harmless when it has fired. Must not wait for a firing that is under way.
    package typealias Cancellation = @Sendable () -> Void

    /// Reads the clock.
    package let now: @Sendable () -> ContinuousClock.Instant
    /// Runs a closure once after a delay, on any thread.
    package let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Cancellation

    /// Combines a clock and a way to run timers.
    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Cancellation
    ) {
        self.now = now
        self.schedule = schedule
    }
}
