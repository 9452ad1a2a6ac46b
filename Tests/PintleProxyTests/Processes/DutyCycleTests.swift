// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import PintleProxy

/// The pauses of work that may use a share of a processor only.
struct DutyCycleTests {
    private var cycle = DutyCycle(share: 0.1, burst: .milliseconds(100))
    private let start = ContinuousClock.now

    @Test mutating func `a burst needs no pause, and what exceeds it is paid for`() {
        for _ in 0..<10 { #expect(self.cycle.spent(.milliseconds(10), at: self.start) == .zero) }
        #expect(self.cycle.spent(.milliseconds(10), at: self.start) == .milliseconds(100))
    }

    @Test mutating func `time that passes is saved up, but not beyond a burst`() {
        #expect(self.cycle.spent(.milliseconds(100), at: self.start) == .zero)
        // A second of rest is worth as much work as a burst.
        #expect(self.cycle.spent(.milliseconds(100), at: self.start + .seconds(1)) == .zero)
        #expect(self.cycle.spent(.milliseconds(100), at: self.start + .seconds(100)) == .zero)
        #expect(self.cycle.spent(.milliseconds(1), at: self.start + .seconds(100)) == .milliseconds(10))
    }

    @Test mutating func `work without end gets its share`() {
        var (now, worked) = (self.start, Duration.zero)
        while now - self.start < .seconds(100) {
            worked += .milliseconds(7)
            now += .milliseconds(7) + self.cycle.spent(.milliseconds(7), at: now + .milliseconds(7))
        }
        #expect(worked > .seconds(9) && worked < .seconds(11), "\(worked)")
    }
}
