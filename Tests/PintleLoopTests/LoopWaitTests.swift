// SPDX-License-Identifier: Apache-2.0

import NIOCore
import PintleLoop
import PintleTesting
import Testing

/// Tasks that wait on a loop's thread.
struct LoopWaitTests {
    /// Executed by a loop.
    private actor Waiting {
        nonisolated let loop: Loop
        nonisolated var unownedExecutor: UnownedSerialExecutor { self.loop.asUnownedSerialExecutor() }
        private let place: LoopWait
        private var count = 0

        init(on loop: Loop) {
            self.loop = loop
            self.place = LoopWait(on: loop)
        }

        /// Waits this many times, each time for a task that is sent to the loop meanwhile.
        func wait(_ times: Int) async -> Int {
            for _ in 0..<times {
                self.loop.execute { [place] in place.wake() }
                await self.place.wait()
                self.loop.preconditionInEventLoop()
                self.count += 1
            }
            return self.count
        }

        /// Waits for another task.
        func wait(telling begun: Watched<Bool>) async {
            begun.change { $0 = true }
            await self.place.wait()
            self.loop.preconditionInEventLoop()
        }

        nonisolated func wake() { self.loop.execute { self.place.wake() } }
    }

    @Test func `a task goes on where it waited, on the loop's thread`() async throws {
        let loop = try Loop(name: "test")
        #expect(await Waiting(on: loop).wait(1000) == 1000)
        loop.stop()
    }

    @Test func `a task that waits for another thread is woken, and nothing happens where none waits`() async throws {
        let loop = try Loop(name: "test")
        let (waiting, begun) = (Waiting(on: loop), Watched(false))
        waiting.wake()
        async let ended: Void = waiting.wait(telling: begun)
        try await begun.reach("the wait") { $0 }
        waiting.wake()
        await ended
        loop.stop()
    }

    @Test func `tasks that a turn sends to its own loop do not wait for another one`() throws {
        let loop = try Loop(name: "test")
        let turns = Watched<[UInt64]>([])
        loop.execute { [loop] in
            turns.change { $0.append(loop.turn) }
            loop.execute { [loop] in
                turns.change { $0.append(loop.turn) }
                loop.execute { [loop] in turns.change { $0.append(loop.turn) } }
            }
        }
        try turns.wait(for: "three tasks") { $0.count == 3 }
        let seen = turns.current
        #expect(seen[1] == seen[0] && seen[2] > seen[1], "the third one lets descriptors have their turn: \(seen)")
        loop.stop()
    }
}
