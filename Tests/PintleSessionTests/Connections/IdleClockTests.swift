// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import PintleSession

/// The clock of idle connections, by clocks that the tests hold.
struct IdleClockTests {
    private static let second: Int64 = 1_000_000_000

    private static func at(_ second: Int64) -> NIODeadline { .uptimeNanoseconds(UInt64(second * Self.second)) }

    /// Looks at a second of the loop's time, before which the machine slept for some seconds in all.
    ///
    /// - Returns: the time by which the clock is ahead of the loop's.
    private func look(_ clock: inout IdleClock, at second: Int64, slept: Double) -> TimeAmount {
        let now = Self.at(second)
        return clock.time(at: now, total: second * Self.second + Int64(slept * Double(Self.second))) - now
    }

    @Test func `it goes as that of the loop while the machine is awake, whenever it slept before`() {
        var clock = IdleClock()
        for second: Int64 in [100, 101, 5000] { #expect(self.look(&clock, at: second, slept: 70) == .zero) }
    }

    @Test func `it goes on while the machine sleeps, again and again`() {
        var clock = IdleClock()
        #expect(self.look(&clock, at: 100, slept: 0) == .zero)
        #expect(self.look(&clock, at: 100, slept: 40) == .seconds(40))
        #expect(self.look(&clock, at: 110, slept: 40) == .seconds(40))
        #expect(self.look(&clock, at: 111, slept: 80) == .seconds(80))
        #expect(clock.loopTime(at: Self.at(300)) == Self.at(220))
    }

    @Test func `a turn that has lasted for a while is no sleep, and hides none`() {
        var clock = IdleClock()
        #expect(self.look(&clock, at: 100, slept: 0.5) == .zero)
        #expect(self.look(&clock, at: 101, slept: 0) == .zero)
        #expect(self.look(&clock, at: 102, slept: 0.75) == .zero)
        #expect(self.look(&clock, at: 103, slept: 1) == .seconds(1))
    }

    @Test func `by the clocks of this machine it does not go back`() {
        var clock = IdleClock()
        let first = clock.time(at: .now())
        #expect(clock.time(at: .now()) >= first)
    }
}
