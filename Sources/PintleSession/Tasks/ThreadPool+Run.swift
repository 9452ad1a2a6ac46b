// SPDX-License-Identifier: Apache-2.0

internal import PintleLoop
internal import PintleSystem

extension ThreadPool {
    /// Waits for `work` like ``result(of:)``. The run of a task is woken directly on the thread of its loop, without a
    /// third thread in between.
    func resultForRun<Value: Sendable, Failure: Error>(
        isolation: isolated (any Actor)? = #isolation, of work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let loop = (isolation as? TaskRun)?.loop else { return try await self.result(of: work) }
        let result = Locked<Result<Value, Failure>?>(nil)
        let done = LoopWait(on: loop)
        let finish: Work = {
            let value = Result { () throws(Failure) -> Value in try work() }
            result.withLock { $0 = value }
            // By then the run waits: it waits on the same thread that wakes it.
            loop.execute { done.wake() }
        }
        do { try self.run(finish) } catch { finish() }
        await done.wait()
        guard let value = result.withLock({ $0 }) else {
            preconditionFailure("BUG: work ended without a result")
        }
        return try value.get()
    }
}
