// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A listening socket that never blocks: for tests that play both ends of connections on one thread.
package final class PolledListener {
    /// The port on which it listens, on 127.0.0.1.
    package let port: Int
    private let descriptor: Int32

    /// Begins to listen.
    package init() throws {
        self.descriptor = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard LoopbackAddress.bind(self.descriptor, port: 0) == 0, listen(self.descriptor, 256) == 0 else {
            throw TestFailure("a polled listener cannot listen: errno \(errno)")
        }
        self.port = LoopbackAddress.port(of: self.descriptor)
    }

    deinit { close(self.descriptor) }

    /// Accepts the next connection; nil if none has come.
    package func accept() -> PolledStream? {
        let descriptor = Glibc.accept(self.descriptor, nil, nil)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return PolledStream(descriptor)
    }
}

/// One end of a connection, without blocking.
package final class PolledStream {
    private var descriptor: Int32
    private var unsent: [UInt8] = []
    /// The way in which the connection has ended; nil if it has not.
    package private(set) var ending: SocketStream.Ending?
    private var space = [UInt8](repeating: 0, count: 64 * 1024)

    fileprivate init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { self.close() }

    /// Reads all bytes that have come; empty if none have, and at the end.
    package func read() -> [UInt8] {
        var bytes: [UInt8] = []
        while self.ending == nil {
            let count = recv(self.descriptor, &self.space, self.space.count, 0)
            if count > 0 {
                bytes += self.space[..<count]
            } else if count < 0, errno == EINTR {
                continue
            } else if count < 0, errno == EAGAIN {
                break
            } else {
                self.ending = count == 0 ? .closed : .reset
            }
        }
        return bytes
    }

    /// Sends bytes, or keeps them until the peer takes them.
    package func send(_ bytes: [UInt8]) {
        self.unsent += bytes
        self.flush()
    }

    /// True if bytes have not left: those that are kept here, or that the kernel keeps back, as it does with many small pieces
    /// at the beginning of a connection. A reset loses them.
    package var holdsBytes: Bool {
        var count: Int32 = 0
        return !self.unsent.isEmpty || ioctl(self.descriptor, Self.unsentCount, &count) == 0 && count > 0
    }

    /// SIOCOUTQNSD of `linux/sockios.h`.
    private static let unsentCount: UInt = 0x894B

    /// Sends the kept bytes, as far as the peer takes them.
    package func flush() {
        var sent = 0
        while sent < self.unsent.count, self.ending == nil {
            let count = self.unsent[sent...].withUnsafeBytes {
                Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            // Reading finds out that a peer has gone.
            guard count > 0 else { break }
            sent += count
        }
        self.unsent.removeFirst(sent)
    }

    /// Closes the connection in order, or resets it.
    package func close(resetting: Bool = false) {
        guard self.descriptor >= 0 else { return }
        if resetting {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        }
        Glibc.close(self.descriptor)
        self.descriptor = -1
        self.ending = self.ending ?? (resetting ? .reset : .closed)
    }
}
