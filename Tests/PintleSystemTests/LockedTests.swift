// SPDX-License-Identifier: Apache-2.0

import PintleSystem
import Testing

/// The lock of the house.
@Suite(.timeLimit(.minutes(2))) struct LockedTests {
    @Test func `threads take turns`() async {
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1000 { count.withLock { $0 += 1 } } }
            }
        }
        #expect(count.withLock { $0 } == 8000)
    }

    @Test func `an error leaves it unlocked`() {
        struct Failure: Error {}
        let value = Locked(1)
        #expect(throws: Failure.self) { try value.withLock { _ in throw Failure() } }
        #expect(value.withLock { $0 } == 1)
    }

    #if DEBUG
    @Test func `a thread that locks twice traps`() async {
        await #expect(processExitsWith: .failure) {
            let value = Locked(1)
            value.withLock { _ in value.withLock { $0 = 2 } }
        }
    }
    #endif
}
