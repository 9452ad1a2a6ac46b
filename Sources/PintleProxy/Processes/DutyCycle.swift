// SPDX-License-Identifier: Apache-2.0

/// Limits work to a share of a processor: time for work is saved up while there is none, up to a burst.
struct DutyCycle: Sendable {
    /// The processor time that may be spent per time that passes, above 0 and at most 1.
    let share: Double
    /// The most time that is saved up.
    let burst: Duration
    /// Negative if more was spent than was saved.
    private var saved: Duration
    private var last: ContinuousClock.Instant?

    init(share: Double, burst: Duration) {
        precondition(share > 0 && share <= 1, "BUG: \(share) is no share of a processor")
        (self.share, self.burst, self.saved) = (share, burst, burst)
    }

    /// Records work that has ended.
    ///
    /// - Parameter time: the processor time of the work.
    /// - Returns: the time for which no other work should begin.
    mutating func spent(_ time: Duration, at now: ContinuousClock.Instant) -> Duration {
        if let last { self.saved = min(self.burst, self.saved + (now - last) * self.share) }
        self.last = now
        self.saved -= time
        return self.saved < .zero ? self.saved / -self.share : .zero
    }
}
