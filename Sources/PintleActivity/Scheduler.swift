// SPDX-License-Identifier: Apache-2.0

/// The clock and the timers that ``Activity`` uses; the owner of the event loops provides them.
package struct Scheduler: Sendable {
    /// Stops a timer; harmless if it has fired. Must not wait for a firing that is in progress.
    package typealias Cancellation = @Sendable () -> Void

    /// Returns the current time.
    package let now: @Sendable () -> ContinuousClock.Instant
    /// Runs a closure once after a delay, on any thread.
    package let schedule: @Sendable (Duration, @escaping @Sendable () -> Void) -> Cancellation

    /// Creates a scheduler from a clock and a function that starts timers.
    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        schedule: @escaping @Sendable (Duration, @escaping @Sendable () -> Void) -> Cancellation
    ) {
        self.now = now
        self.schedule = schedule
    }
}
