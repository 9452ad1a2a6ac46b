// SPDX-License-Identifier: Apache-2.0

/// An event that happens once, with the work to do then.
package final class Latch: Sendable {
    /// The work to do; nil after the event.
    private let waiting = Locked<[@Sendable () -> Void]?>([])

    package init() {}

    /// True from the moment of the event on, before any work is done.
    package var hasHappened: Bool { self.waiting.withLock { $0 == nil } }

    /// Lets the event happen; a second call does nothing.
    package func happen() {
        let waiting = self.waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for work in waiting { work() }
    }

    /// Calls `work` at the event, or at once if it has happened.
    package func then(_ work: @escaping @Sendable () -> Void) {
        let isOver = self.waiting.withLock { waiting in
            waiting?.append(work)
            return waiting == nil
        }
        if isOver { work() }
    }

    /// Waits until the event happens; returns at once if it has.
    package func wait() async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            self.then { done.resume() }
        }
    }
}
