// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleLoop

/// The end of a service whose connection has switched protocols (``LocalAnswer/switchProtocols(_:)``). The pipeline of the
/// connection keeps it until that is closed.
package protocol ServiceSocket: ChannelInboundHandler where InboundIn == ByteBuffer, OutboundOut == ByteBuffer {
    var channel: SocketChannel { get }
    /// The timer that waits now; disarmed when the connection ends.
    var timer: LoopTimer? { get set }
}

extension ServiceSocket {
    /// Begins to take what the client sends.
    package func open() {
        do {
            try self.channel.pipeline.syncOperations.addHandler(self)
        } catch {
            preconditionFailure("BUG: a new channel takes no handlers: \(error)")
        }
        self.channel.start()
    }

    /// Sends bytes to the client, if there are any.
    package func send(_ output: ByteBuffer) {
        if output.readableBytes > 0 {
            self.channel.pipeline.syncOperations.writeAndFlush(NIOAny(output), promise: nil)
        }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        if let timer { self.channel.loop.disarm(timer) }
        self.timer = nil
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The channel closes itself after an error of its socket. The client has left.
    }
}
