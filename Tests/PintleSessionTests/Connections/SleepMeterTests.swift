// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import PintleSession

/// The time for which a machine slept, by clocks that the tests hold.
struct SleepMeterTests {
    private static let second: Int64 = 1_000_000_000

    /// Looks at a second of the loop's time, before which the machine slept for some seconds in all.
    private func look(_ meter: inout SleepMeter, at time: Int64, slept: Double) -> TimeAmount {
        meter.slept(
            until: .uptimeNanoseconds(UInt64(time * Self.second)),
            total: time * Self.second + Int64(slept * Double(Self.second)))
    }

    @Test func `a machine that was awake has not slept, whenever it slept before`() {
        var meter = SleepMeter()
        for time: Int64 in [100, 101, 5000] { #expect(self.look(&meter, at: time, slept: 70) == .zero) }
    }

    @Test func `each sleep is told once`() {
        var meter = SleepMeter()
        #expect(self.look(&meter, at: 100, slept: 0) == .zero)
        #expect(self.look(&meter, at: 100, slept: 3600) == .seconds(3600))
        #expect(self.look(&meter, at: 110, slept: 3600) == .zero)
        #expect(self.look(&meter, at: 111, slept: 3660) == .seconds(60))
    }

    @Test func `a turn that has lasted for a while is no sleep, and hides none`() {
        var meter = SleepMeter()
        #expect(self.look(&meter, at: 100, slept: 0.5) == .zero)
        #expect(self.look(&meter, at: 101, slept: 0) == .zero)
        #expect(self.look(&meter, at: 102, slept: 0.75) == .zero)
        #expect(self.look(&meter, at: 103, slept: 1) == .seconds(1))
    }

    @Test func `the clocks of this machine do not say that it sleeps while a test runs`() {
        var meter = SleepMeter()
        #expect(meter.slept(until: .now()) == .zero)
        #expect(meter.slept(until: .now()) == .zero)
    }
}
