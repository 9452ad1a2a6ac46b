// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// A place at which one task at a time waits for an event on a loop's thread, and continues on that thread.
///
/// A continuation would resume its task on one of the threads that all tasks share, from which it is sent to the executor
/// of its actor: two threads are woken for an event that was on the right thread. Here the loop is the actor's executor,
/// and the task is its next piece of work. Used on the loop's thread only.
package actor LoopWait: SerialExecutor {
    // Why it holds: only the loop's thread reads or writes the job. A task enters on that thread and is resumed there.
    private nonisolated(unsafe) var job: UnownedJob?
    private let loop: Loop
    private var count = 0

    /// Keeps a task that comes here until ``wake()``.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { self.asUnownedSerialExecutor() }

    /// Makes a place to wait at for tasks of actors whose executor is `loop`.
    package init(on loop: Loop) { self.loop = loop }

    /// Waits for ``wake()``, which must not come before.
    // The count is touched because a call that uses no state of the actor would be made without switching to it.
    @inline(never)
    package func wait() { self.count &+= 1 }

    /// Resumes the waiting task, in this turn or the next one; does nothing if no task waits.
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
