// SPDX-License-Identifier: Apache-2.0

import Glibc
import PintleSystem
import Testing

/// Stacks for handlers of signals.
struct SignalStackTests {
    private static var isThere: Bool {
        var stack = stack_t()
        return sigaltstack(nil, &stack) == 0 && stack.ss_sp != nil
    }

    @Test func `LOOK-110 a thread has a stack for the signal that says that its own has overflowed`() async throws {
        let isThere = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Bool, any Error>) in
            do throws(SystemError) {
                try SystemThread.start { done.resume(returning: Self.isThere) }
            } catch {
                done.resume(throwing: error)
            }
        }
        #expect(isThere)
    }

    @Test func `a thread that has one keeps it`() {
        SignalStack.during {
            var (outer, inner) = (stack_t(), stack_t())
            sigaltstack(nil, &outer)
            SignalStack.during { sigaltstack(nil, &inner) }
            #expect(outer.ss_sp != nil && outer.ss_sp == inner.ss_sp)
        }
    }
}
