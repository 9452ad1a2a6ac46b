// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import PintleLoop

/// A connection that a transfer has made because nothing else was wanted (`connectOnly`).
///
/// It belongs to who gets it.
package enum MadeConnection {
    /// A socket of which libcurl knows nothing any more; the owner closes it.
    case socket(Int32)
    /// What libcurl keeps, because bytes do not go over the socket as they are. It closes when it is let go.
    case stream(ConnectionStream)

    /// A channel over the connection, which closes it; call `start()` when the pipeline is set up.
    package func makeChannel(on loop: Loop) -> SocketChannel {
        switch self {
        case .socket(let descriptor):
            var on: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
            return SocketChannel(descriptor: descriptor, loop: loop)
        case .stream(let stream): return SocketChannel(descriptor: stream.descriptor, loop: loop, transport: stream)
        }
    }

    /// Closes the connection; only before a channel was made of it.
    package func close() {
        switch self {
        case .socket(let descriptor): Glibc.close(descriptor)
        case .stream(let stream): stream.close()
        }
    }
}
