// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers

/// Something that happens once, and what is to be done then.
final class Occurrence: Sendable {
    /// Nil when it has happened.
    private let waiting = NIOLockedValueBox<[@Sendable () -> Void]?>([])

    var hasHappened: Bool { self.waiting.withLockedValue { $0 == nil } }

    func happen() {
        let waiting = self.waiting.withLockedValue { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for work in waiting { work() }
    }

    /// Does `work` when it happens, or now if it has.
    func then(_ work: @escaping @Sendable () -> Void) {
        let isOver = self.waiting.withLockedValue { waiting in
            waiting?.append(work)
            return waiting == nil
        }
        if isOver { work() }
    }

    func wait() async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            self.then { done.resume() }
        }
    }
}
