// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Has one task at a time wait for something that happens on a loop's thread, and go on there.
///
/// A continuation has its task go on with one of the threads that all tasks share, from which it is sent to the executor
/// of its actor: two threads are woken for something that has happened on the right one. Here the loop is the actor's
/// executor, and the task its next piece of work. Used on the loop's thread only.
package actor LoopWait: SerialExecutor {
    // Why it holds: only the loop's thread reads or writes the job. A task enters on that thread, and is woken there.
    private nonisolated(unsafe) var job: UnownedJob?
    private let loop: Loop
    private var count = 0

    /// Keeps a task that comes here until ``wake()``.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { self.asUnownedSerialExecutor() }

    /// Makes a place to wait at for tasks of actors that `loop` executes.
    package init(on loop: Loop) { self.loop = loop }

    /// Waits for ``wake()``, which must not come before.
    // Something of the actor's is touched: a call that touched nothing would be made without coming here.
    @inline(never)
    package func wait() { self.count &+= 1 }

    /// Has the task go on that waits, in this turn or the next one; nothing happens where none does.
    package nonisolated func wake() {
        self.loop.assertInEventLoop()
        guard let job else { return }
        self.job = nil
        self.loop.send(.job(job))
    }

    /// Keeps the task that has begun to wait.
    package nonisolated func enqueue(_ job: consuming ExecutorJob) {
        self.loop.assertInEventLoop()
        precondition(self.job == nil, "BUG: two tasks wait at one place")
        self.job = UnownedJob(job)
    }
}
