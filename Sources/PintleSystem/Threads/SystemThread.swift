// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Starts detached threads of the system.
package enum SystemThread {
    private final class Start {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// - Parameter body: the code of the thread, which ends with it.
    /// - Throws: the system's error if no thread can be created (pthread_create(3)).
    package static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let start = Unmanaged.passRetained(Start(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { preconditionFailure("BUG: the thread has lost its argument") }
                let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
                SignalStack.during { start.body() }
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            start.release()
            throw SystemError(code)
        }
        pthread_detach(thread)
    }
}
