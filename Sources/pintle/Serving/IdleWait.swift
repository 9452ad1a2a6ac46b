// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy

/// Waits until no exchange has been active for some time: `pintle wait`.
struct IdleWait {
    let activity: Activity
    let wait: ControlRequest.Wait

    /// The time between two looks at the counters: traffic must not pay for the few who wait.
    private static let interval = Duration.milliseconds(20)

    /// Blocks the thread.
    ///
    /// - Returns: nil if the peer has gone.
    func answer(to peer: ControlConnection) -> ControlAnswer? {
        let (start, first) = (ContinuousClock.now, self.started)
        var (quietSince, seen) = (start, first)
        while true {
            let (now, open) = (ContinuousClock.now, self.activity.openExchanges)
            let started = self.started
            // An exchange that began and ended between two looks has changed the number of those that began.
            if open > 0 || started != seen { (quietSince, seen) = (now, started) }
            if open == 0, quietSince.duration(to: now) >= self.wait.idle {
                return ControlAnswer(code: ProcessExit.success.rawValue)
            }
            if let timeout = self.wait.timeout, start.duration(to: now) >= timeout {
                let sentence =
                    "it was not quiet for \(self.wait.idle.spelled) within \(timeout.spelled): \(started - first) exchanges "
                    + "have begun, and \(open) are active"
                return ControlAnswer(code: ProcessExit.found.rawValue, lines: [sentence])
            }
            guard case .timeUp = peer.wait(limit: Self.interval) else { return nil }
        }
    }

    private var started: Int { self.activity.counters.snapshot().overall.started }
}
