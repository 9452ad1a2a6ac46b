// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Runs `body` on `count` new threads that begin together, and waits for all of them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    var barrier = pthread_barrier_t()
    pthread_barrier_init(&barrier, nil, UInt32(count))
    defer { pthread_barrier_destroy(&barrier) }
    withUnsafeMutablePointer(to: &barrier) { barrier in
        let threads = (0..<count).map { index in
            let work = Work(index: index, barrier: barrier, body: body)
            var thread = pthread_t()
            pthread_create(
                &thread, nil,
                { context in
                    guard let context else { return nil }
                    let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
                    pthread_barrier_wait(work.barrier)
                    work.body(work.index)
                    return nil
                }, Unmanaged.passRetained(work).toOpaque())
            return thread
        }
        for thread in threads { pthread_join(thread, nil) }
    }
}

private final class Work {
    let index: Int
    let barrier: UnsafeMutablePointer<pthread_barrier_t>
    let body: @Sendable (Int) -> Void

    init(index: Int, barrier: UnsafeMutablePointer<pthread_barrier_t>, body: @escaping @Sendable (Int) -> Void) {
        self.index = index
        self.barrier = barrier
        self.body = body
    }
}
