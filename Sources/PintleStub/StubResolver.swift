// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PintleSystem

/// The resolver of a captured network: serves sockets that were made there, on a thread of its own.
package final class StubResolver: Sendable {
    private let stopRequest: NonBlockingPipe
    private let progress = Condition()
    /// Guarded by ``progress``.
    private let isOver = Locked(false)

    /// Starts to serve. The descriptors belong to the resolver from then on, also if it throws.
    ///
    /// - Parameters:
    ///   - datagrams: sockets of UDP. A datagram that comes with its destination (IP_PKTINFO, IPV6_PKTINFO) is answered from
    ///     there.
    ///   - listeners: sockets of TCP that listen.
    ///   - judge: returns true if a name, in lower case and without a final dot, may be used. Called on the resolver's thread,
    ///     which answers nothing else meanwhile.
    ///   - denied: called on that thread with each name that was asked for and may not be used.
    /// - Throws: the system's error if there is no thread or no descriptor.
    package init(
        datagrams: [Int32], listeners: [Int32], names: CapturedNames, judge: @escaping @Sendable (String) -> Bool,
        denied: @escaping @Sendable (String) -> Void
    ) throws(SystemError) {
        let service = NameService(names: names, judge: judge, denied: denied)
        do throws(SystemError) {
            self.stopRequest = try NonBlockingPipe()
        } catch {
            for descriptor in datagrams + listeners { close(descriptor) }
            throw error
        }
        let (stop, progress, isOver) = (self.stopRequest.readingEnd, self.progress, self.isOver)
        do throws(SystemError) {
            try SystemThread.start {
                StubServer(datagrams: datagrams, listeners: listeners, stop: stop, service: service).serve()
                progress.locked {
                    isOver.withLock { $0 = true }
                    progress.broadcast()
                }
            }
        } catch {
            for descriptor in datagrams + listeners { close(descriptor) }
            isOver.withLock { $0 = true }
            throw error
        }
    }

    deinit {
        self.end()
        close(self.stopRequest.readingEnd)
        close(self.stopRequest.writingEnd)
    }

    /// Closes the sockets and waits until the thread has ended. A second call does nothing. Not to be called by `judge` or
    /// `denied`.
    package func end() {
        var byte: UInt8 = 0
        // A full pipe has asked already.
        _ = write(self.stopRequest.writingEnd, &byte, 1)
        self.progress.locked {
            while !self.isOver.withLock({ $0 }) { self.progress.wait() }
        }
    }
}
