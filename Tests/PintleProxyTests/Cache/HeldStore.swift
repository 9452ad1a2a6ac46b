// SPDX-License-Identifier: Apache-2.0

import PintleCache
import PintleCacheStore
import PintleSystem

@testable import PintleProxy

/// A disk that takes no change while it is held; what is read of it can be held, too.
struct HeldStore: SecondTier {
    final class Gate: Sendable {
        private let state = Locked((isOpen: true, waiting: [CheckedContinuation<Void, Never>]()))

        func close() { self.state.withLock { $0.isOpen = false } }

        /// True if a caller waits at it.
        var isWaitedAt: Bool { self.state.withLock { !$0.waiting.isEmpty } }

        func open() {
            let waiting = self.state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in waiting { waiter.resume() }
        }

        func pass() async {
            await withCheckedContinuation { waiter in
                let passes = self.state.withLock { state in
                    if !state.isOpen { state.waiting.append(waiter) }
                    return state.isOpen
                }
                if passes { waiter.resume() }
            }
        }
    }

    let store: DiskStore
    let gate: Gate
    /// Behind it, a response that has been read is found.
    let reading: Gate

    var statistics: DiskCache.Statistics { self.store.statistics }

    func find(_ key: CacheKey, choosing choose: @Sendable ([StoredResponse]) -> Int?) async -> DiskEntry? {
        let found = await self.store.find(key, choosing: choose)
        await self.reading.pass()
        return found
    }

    func carryOut(_ change: CacheChange, at key: CacheKey?) async -> Int {
        await self.gate.pass()
        return await self.store.carryOut(change, at: key)
    }

    func takes(_ length: UInt64?) -> Bool { self.store.takes(length) }

    func write(
        _ body: SharedBody, of response: StoredResponse, at key: CacheKey, length: UInt64?,
        done: @escaping @Sendable (DiskCache.Writer?) -> Void
    ) {
        self.store.write(body, of: response, at: key, length: length, done: done)
    }

    func close() async { await self.store.close() }
}
