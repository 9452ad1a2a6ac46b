// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import NIOCore
internal import PintleActivity
internal import PintleLoop
internal import PintlePolicy
internal import PintleSystem

/// An intercepted tunnel in an HTTP/2 stream. A socket pair makes it look like any other connection to the code for the
/// client's handshake and requests.
///
/// Kept alive by its relay until both ends are closed.
final class InterceptedStream: SocketRelayDelegate {
    /// Begins to serve the client in its tunnel.
    ///
    /// - Parameter stream: closed if no socket pair can be made.
    static func begin(_ tunnel: InterceptedTunnel, over stream: DetachedSocket, of client: Client?, on worker: Worker) {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else {
            let reason = "there is no pair of sockets: \(SystemError(errno))"
            worker.active.logger.log(
                .error,
                .handshakeFailed(
                    client: client?.description, authority: "\(tunnel.authority)", reason: reason))
            return stream.close(on: worker.loop)
        }
        let transport = TLSTransport(
            tunnel.interception.context, descriptor: pair[1], inside: nil, behind: ByteBuffer()
        ) { tunnel.choose($0) }
        let channel = SocketChannel(descriptor: pair[1], loop: worker.loop, transport: transport)
        // It counts as one more connection of the client, for limits and memory.
        let refusal = worker.limiter.enter(client, worker.active.limits).map {
            Problem(.overloaded, "there are as many connections as \($0) allows")
        }
        tunnel.serve(over: channel, transport, of: client, refusal: refusal)
        SocketRelay(
            client: stream, server: DetachedSocket(descriptor: pair[0], transport: nil), on: worker.loop,
            account: worker.memory
        ).start(InterceptedStream(), sent: ByteBuffer(), answered: ByteBuffer())
    }

    func relay(
        _ relay: SocketRelay, read bytes: ByteBuffer, going direction: SocketRelay.Direction
    ) -> ByteBuffer? { bytes }

    func relay(_ relay: SocketRelay, finishedReading direction: SocketRelay.Direction) {}

    func relayEnded(_ relay: SocketRelay) {}

    func relayClosed(_ relay: SocketRelay) {}
}
