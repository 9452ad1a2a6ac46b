// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleSystem

/// Sends signs of life as long as every loop takes its turns, so that one stuck loop is noticed.
final class Watchdog: @unchecked Sendable {
    // Why @unchecked holds: the variables are only accessed on the first loop's thread.
    private let loops: [Loop]
    private let interval: TimeAmount
    private let sign: @Sendable () -> Void
    private var timer: LoopTimer?
    /// The number of loops that have not answered yet.
    private var missing = 0

    /// - Parameter interval: the time within which a sign is due; signs are sent after half of it.
    init(_ loops: [Loop], interval: Duration, sign: @escaping @Sendable () -> Void) {
        self.loops = loops
        self.interval = .nanoseconds(max(1_000_000, interval.wholeNanoseconds / 2))
        self.sign = sign
    }

    func start() {
        self.loops[0].execute {
            self.timer = LoopTimer { [weak self] in self?.ask() }
            self.ask()
        }
    }

    func stop() {
        self.loops[0].execute {
            if let timer = self.timer { self.loops[0].disarm(timer) }
            self.timer = nil
        }
    }

    private func ask() {
        guard let timer else { return }
        self.loops[0].arm(timer, at: self.loops[0].turnTime + self.interval)
        guard self.missing == 0 else { return }
        self.missing = self.loops.count
        for loop in self.loops { loop.execute { self.loops[0].execute { self.answered() } } }
    }

    private func answered() {
        self.missing -= 1
        if self.missing == 0, self.timer != nil { self.sign() }
    }
}
