// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintlePolicy
import Testing

@testable import PintleProxy

/// The time that clients have, by a clock that the tests hold.
struct ClientDeadlineTests {
    private static func timeouts(head: Int = 20, idle: Int = 60, body: Int = 900) -> Timeouts {
        var limits = LimitsConfiguration()
        (limits.headerTimeout, limits.idleTimeout) = (.seconds(head), .seconds(idle))
        limits.bodyTimeout = .seconds(body)
        return Timeouts(limits)
    }

    private static func at(_ second: Int) -> NIODeadline { .uptimeNanoseconds(UInt64(second) * 1_000_000_000) }

    /// A deadline with its clock.
    private struct Stage {
        var deadline = ClientDeadline()
        var now = 0
        var pendingBytes = 0
        var timeouts = ClientDeadlineTests.timeouts()

        mutating func expect(_ expectation: ClientDeadline.Expectation) {
            self.deadline.expect(
                expectation, at: ClientDeadlineTests.at(self.now), self.timeouts, pendingBytes: self.pendingBytes)
        }

        func step(hasReadArrivals: Bool = true) -> ClientDeadline.Step {
            self.deadline.step(
                at: ClientDeadlineTests.at(self.now), pendingBytes: self.pendingBytes, hasReadArrivals: hasReadArrivals)
        }
    }

    private static let times: [(ClientDeadline.Expectation, Int)] = [
        (.firstHead, 20), (.restOfHead, 20), (.nextHead, 60), (.body, 900), (.clientToRead, 900), (.clientToClose, 2),
    ]

    @Test(arguments: Self.times)
    func `each expectation has its time, to the moment`(expectation: ClientDeadline.Expectation, seconds: Int) {
        var stage = Stage()
        stage.now = 1000
        stage.expect(expectation)
        #expect(stage.deadline.end == Self.at(1000 + seconds))
        stage.now += seconds - 1
        #expect(stage.step() == .wait(until: Self.at(1000 + seconds)))
        stage.now += 1
        #expect(stage.step() == .late(expectation))
    }

    @Test func `nothing is late while it is the upstream's turn`() {
        var stage = Stage()
        stage.expect(.body)
        stage.expect(.nothing)
        stage.now = 1_000_000
        #expect(stage.deadline.end == nil && stage.step() == .none)
    }

    @Test func `a head that comes byte by byte does not get more time`() {
        var stage = Stage()
        stage.expect(.firstHead)
        for second in [5, 10, 19] {
            stage.now = second
            stage.expect(.restOfHead)
            #expect(stage.deadline.end == Self.at(20))
        }
        stage.now = 20
        #expect(stage.step() == .late(.restOfHead))
        // A later head has a time of its own.
        stage.expect(.nextHead)
        stage.now = 30
        stage.expect(.restOfHead)
        #expect(stage.deadline.end == Self.at(50))
    }

    @Test func `each byte of a body gives more time`() {
        var stage = Stage()
        for second in [0, 800, 1600] {
            stage.now = second
            stage.expect(.body)
        }
        #expect(stage.deadline.end == Self.at(2500))
    }

    @Test(arguments: [ClientDeadline.Expectation.firstHead, .nextHead, .restOfHead, .body])
    func `bytes that have arrived are read before a client is late`(expectation: ClientDeadline.Expectation) {
        var stage = Stage()
        stage.expect(expectation)
        stage.now = 1000
        #expect(stage.step(hasReadArrivals: false) == .readArrivals)
        #expect(stage.step() == .late(expectation))
        stage.expect(.nothing)
        #expect(stage.step() == .none)
    }

    @Test(arguments: [ClientDeadline.Expectation.clientToRead, .clientToClose])
    func `a client that reads slowly gets more time`(expectation: ClientDeadline.Expectation) {
        var stage = Stage()
        stage.pendingBytes = 5000
        stage.expect(expectation)
        #expect(stage.deadline.end == Self.at(900))
        stage.now = 900
        stage.pendingBytes = 4000
        #expect(stage.step(hasReadArrivals: false) == .renew(expectation))
        stage.expect(expectation)
        stage.now = 1800
        #expect(stage.step(hasReadArrivals: false) == .late(expectation))
    }

    @Test func `timeouts of another configuration hold from the next expectation on`() {
        var stage = Stage()
        stage.expect(.nextHead)
        stage.timeouts = Self.timeouts(head: 1, idle: 2)
        #expect(stage.deadline.end == Self.at(60))
        stage.expect(.nextHead)
        #expect(stage.deadline.end == Self.at(2))
    }

    @Test func `a client is idle from the end of its last answer`() {
        var stage = Stage()
        stage.now = 100
        stage.expect(.nextHead)
        #expect(stage.deadline.isIdle(since: Self.at(100), stage.timeouts))
        #expect(!stage.deadline.isIdle(since: Self.at(99), stage.timeouts))
        for (other, _) in Self.times where other != .nextHead {
            var stage = Stage()
            stage.expect(other)
            #expect(!stage.deadline.isIdle(since: Self.at(1000), stage.timeouts), "\(other)")
        }
    }
}
