// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A stack for signal handlers. Without it a thread whose own stack has overflowed can run no handler, and the process
/// would end without a message.
package enum SignalStack {
    private static let size = 64 << 10

    /// Provides the calling thread with such a stack while `body` runs, unless it has one already, for instance from a
    /// sanitizer.
    package static func during(_ body: () -> Void) {
        var before = stack_t()
        guard sigaltstack(nil, &before) == 0, before.ss_sp == nil else { return body() }
        let memory = UnsafeMutableRawPointer.allocate(byteCount: Self.size, alignment: 16)
        var stack = stack_t(ss_sp: memory, ss_flags: 0, ss_size: Self.size)
        sigaltstack(&stack, nil)
        body()
        sigaltstack(&before, nil)
        memory.deallocate()
    }
}
