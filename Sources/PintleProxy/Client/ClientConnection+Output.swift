// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage

/// Writing to the client: bytes are gathered during a turn and sent with one system call at its end.
extension ClientConnection: TurnEndWork {
    /// Above this, gathered bytes are sent at once: more would only take memory.
    private static let gatherLimit = 64 * 1024

    func write(_ body: (inout ByteBuffer) -> Void) {
        if case .closed = self.phase { return }
        // Taken out while it is written to, so that it is never copied.
        var buffer = self.output ?? self.lane.takeOutput()
        self.output = nil
        body(&buffer)
        let count = buffer.readableBytes
        self.output = buffer
        if count >= Self.gatherLimit { return self.flush() }
        guard !self.flushRequested else { return }
        self.flushRequested = true
        self.lane.loop.atEndOfTurn(self)
    }

    /// Sends what was gathered. After it, `channel.isWritable` says whether the client keeps up.
    func flush() {
        guard let output = self.output else { return }
        self.output = nil
        let pipeline = self.channel.pipeline.syncOperations
        pipeline.writeAndFlush(NIOAny(output), promise: nil)
        self.lane.giveBack(output)
    }

    func runAtEndOfTurn() {
        self.flushRequested = false
        self.flush()
        if !self.channel.isWritable { self.exchange?.clientFellBehind() }
    }
}
