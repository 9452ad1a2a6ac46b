// SPDX-License-Identifier: Apache-2.0

/// Something that happens once, and what is to be done then.
package final class OneTimeEvent: Sendable {
    /// Nil when it has happened.
    private let waiting = Locked<[@Sendable () -> Void]?>([])

    package init() {}

    /// True from the moment on when it happens, before anything is done then.
    package var hasHappened: Bool { self.waiting.withLock { $0 == nil } }

    /// Lets it happen; nothing more comes of a second time.
    package func happen() {
        let waiting = self.waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for work in waiting { work() }
    }

    /// Does `work` when it happens, or now if it has.
    package func then(_ work: @escaping @Sendable () -> Void) {
        let isOver = self.waiting.withLock { waiting in
            waiting?.append(work)
            return waiting == nil
        }
        if isOver { work() }
    }

    /// Waits until it happens, or no time if it has.
    package func wait() async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            self.then { done.resume() }
        }
    }
}
