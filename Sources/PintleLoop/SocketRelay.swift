// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// Passes bytes between a client's and a server's socket, in both directions, until both have sent everything.
///
/// Small amounts are copied through the loop's receive buffer: a pipe would cost more than it saves. If much comes, and
/// both sockets carry bytes as they are, splice(2) moves them. At most the contents of one pipe, or one buffer, are in
/// flight in a direction: they are written before more is read. A relay holds neither while it has no bytes in flight.
package final class SocketRelay: DescriptorWatcher, TurnEndWork {
    /// The direction of bytes through a relay.
    package enum Direction: Sendable {
        /// From the client to the server.
        case up
        /// From the server to the client.
        case down

        fileprivate var back: Direction { self == .up ? .down : .up }
    }

    private enum Phase { case fresh, relaying, closing, closed }

    /// The most bytes copied at once before much has come.
    private static let smallPiece = 16 * 1024
    /// If at least this many bytes were moved at once, there may be more to move.
    private static let largePiece = PipePool.capacity / 2
    /// The number of reads and writes in a direction before other connections get the thread.
    private static let rounds = 4

    private let loop: Loop
    private let client: RelayEnd
    private let server: RelayEnd
    private let up: RelayFlow
    private let down: RelayFlow
    private var phase = Phase.fresh
    private var delegate: (any SocketRelayDelegate)?
    /// The time at which bytes were last read or written.
    package private(set) var lastActivity: NIODeadline

    /// Takes over two sockets of `loop`; call ``start(_:sent:answered:)`` when it may pass bytes on.
    ///
    /// - Parameter account: counts the copied bytes that wait to be written.
    package init(
        client: DetachedSocket, server: DetachedSocket, on loop: Loop, account: (any PendingWriteAccount)?
    ) {
        self.loop = loop
        self.client = RelayEnd(client, on: loop)
        self.server = RelayEnd(server, on: loop)
        self.up = RelayFlow(on: loop, account: account)
        self.down = RelayFlow(on: loop, account: account)
        self.up.copied = server.unsent
        self.down.copied = client.unsent
        self.lastActivity = loop.turnTime
        for end in [self.client, self.server] { end.socket.hand(to: self, on: loop) }
    }

    // MARK: For the owner

    /// The number of bytes that have been written to the receiver in a direction.
    package func bytesWritten(_ direction: Direction) -> Int { self.flow(direction).written }

    /// The number of bytes that were read in a direction and are not written yet.
    package func bytesInFlight(_ direction: Direction) -> Int { self.flow(direction).inFlight }

    /// True if both ends have sent everything, so that only the bytes in flight are left to be written.
    package var hasReadAll: Bool { self.client.isInputEnded && self.server.isInputEnded }

    /// Sets whether the delegate inspects the bytes that are read in a direction.
    package func inspect(_ direction: Direction, _ isInspected: Bool) {
        self.flow(direction).isInspected = isInspected
    }

    /// Begins to pass bytes on.
    ///
    /// - Parameters:
    ///   - delegate: held until both sockets are closed.
    ///   - sent: bytes that the client has sent before.
    ///   - answered: bytes that the server has sent before.
    package func start(_ delegate: any SocketRelayDelegate, sent: ByteBuffer, answered: ByteBuffer) {
        self.loop.assertInEventLoop()
        precondition(self.phase == .fresh, "BUG: a relay is started twice")
        self.phase = .relaying
        self.delegate = delegate
        for (direction, bytes) in [(Direction.up, sent), (.down, answered)] where self.phase == .relaying {
            if bytes.readableBytes > 0, let passed = self.inspected(bytes, direction), self.phase == .relaying {
                self.flow(direction).copied.writeImmutableBuffer(passed)
            }
            let source = self.source(of: direction)
            if source.isInputEnded { self.endedInput(direction) }
            // The loop reports bytes that a socket holds, but not those that a transport has taken in.
            if source.isInputEnded || source.mayHide || self.bytesInFlight(direction) > 0 {
                self.pump(direction)
            }
        }
        self.settle()
    }

    /// Writes bytes to the client that do not come from the server; does nothing while server bytes are in a pipe.
    package func tellClient(_ bytes: ByteBuffer) {
        guard self.phase == .relaying, !self.client.isOutputEnded, self.down.spliced == 0 else { return }
        self.down.copied.writeImmutableBuffer(bytes)
        _ = self.write(.down)
    }

    /// Stops reading. Bytes that were read are still written, then both sockets are closed. Idempotent.
    ///
    /// - Parameter direction: drops the bytes in flight in this direction.
    package func close(dropping direction: Direction? = nil) {
        guard self.phase == .relaying else { return }
        if let direction { self.flow(direction).drop() }
        self.beginClosing()
        self.settle()
    }

    /// Resets both connections, so that their peers do not see an orderly end.
    package func abort() {
        self.up.drop()
        self.down.drop()
        if self.phase == .relaying {
            self.phase = .closing
            self.delegate?.relayEnded(self)
        }
        // It has not started, or is over.
        guard self.phase == .closing else { return }
        self.close(self.client, resetting: true)
        self.close(self.server, resetting: true)
        self.settle()
    }

    // MARK: The loop's events

    package func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        let end = descriptor == self.client.descriptor ? self.client : self.server
        let outgoing = end === self.client ? Direction.up : .down
        let isHungUp = readiness.isBroken
        if isHungUp || !readiness.isDisjoint(with: end.socket.writeNeeds), self.wantsWrite(outgoing.back) {
            if end.isEndingOutput { end.finishOutput() }
            self.pump(outgoing.back)
        }
        if isHungUp || !readiness.isDisjoint(with: end.socket.readNeeds), self.wantsRead(outgoing) {
            self.pump(outgoing)
        }
        self.settle()
        if isHungUp, end.isOpen {
            self.hungUp(end, outgoing)
            self.settle()
        }
    }

    /// Handles a socket with both directions closed, or that has failed. Epoll reports that for ever.
    private func hungUp(_ end: RelayEnd, _ outgoing: Direction) {
        if end.isInputEnded {
            // Unless both directions were closed here, the peer has broken the connection and takes no more bytes.
            end.breakOutput()
            self.flow(outgoing.back).drop()
        }
        // Its bytes are read when they are wanted, and then its end.
        if !self.wantsRead(outgoing) { end.unwatch() }
    }

    package func runAtEndOfTurn() {
        for direction in [Direction.up, .down] where self.flow(direction).mayHaveMore {
            self.flow(direction).mayHaveMore = false
            self.pump(direction)
        }
        self.settle()
    }

    // MARK: Passing on

    private func source(of direction: Direction) -> RelayEnd { direction == .up ? self.client : self.server }

    private func sink(of direction: Direction) -> RelayEnd { direction == .up ? self.server : self.client }

    private func flow(_ direction: Direction) -> RelayFlow { direction == .up ? self.up : self.down }

    private func wantsRead(_ direction: Direction) -> Bool {
        let source = self.source(of: direction)
        guard source.isOpen, !source.isInputEnded else { return false }
        if source.isDiscarding { return true }
        return self.phase == .relaying && self.bytesInFlight(direction) == 0 && !self.sink(of: direction).isOutputEnded
    }

    private func wantsWrite(_ direction: Direction) -> Bool {
        let sink = self.sink(of: direction)
        return sink.isOpen && (self.bytesInFlight(direction) > 0 || sink.isEndingOutput)
    }

    /// Passes bytes on, for a limited number of rounds.
    private func pump(_ direction: Direction) {
        for _ in 0..<Self.rounds {
            // Bytes that cannot be written now prevent further reads, unless the bytes read are thrown away.
            guard self.write(direction) || self.source(of: direction).isDiscarding else { return }
            guard self.wantsRead(direction) else { return }
            guard self.read(direction) else {
                _ = self.write(direction)
                return
            }
        }
        guard self.write(direction), self.wantsRead(direction), self.source(of: direction).mayHide else {
            return
        }
        // The transport may have taken in more, of which the loop does not know.
        self.flow(direction).mayHaveMore = true
        self.loop.atEndOfTurn(self)
    }

    /// Writes the bytes in flight, and then the end of output if the source has ended.
    ///
    /// - Returns: true if no bytes are left.
    private func write(_ direction: Direction) -> Bool {
        let (sink, flow) = (self.sink(of: direction), self.flow(direction))
        while flow.inFlight > 0 {
            switch flow.writeSome(to: sink) {
            case .bytes: self.lastActivity = self.loop.turnTime
            case .wouldBlock:
                flow.isBulk = true
                flow.settleAccount()
                return false
            case .end, .failed:
                // The peer takes no more bytes; those that it has sent before may still be worth passing on.
                sink.breakOutput()
                flow.drop()
            }
        }
        flow.settleAccount()
        if self.source(of: direction).isInputEnded || self.phase == .closing { self.finishOutput(of: direction) }
        return true
    }

    private func finishOutput(of direction: Direction) {
        let sink = self.sink(of: direction)
        // It is ended already, or the transport tries again when it can.
        guard sink.isOpen, !sink.isOutputEnded, !sink.isEndingOutput else { return }
        // If both directions have ended, closing the socket tells the peer of the end.
        let isLast = sink.isInputEnded && self.source(of: direction).isOutputEnded && !sink.mayHide
        if isLast { sink.breakOutput() } else { sink.finishOutput() }
    }

    /// Reads once.
    ///
    /// - Returns: true if there may be more to read.
    private func read(_ direction: Direction) -> Bool {
        let (source, sink, flow) = (self.source(of: direction), self.sink(of: direction), self.flow(direction))
        let limit = flow.isBulk ? Loop.receiveCapacity : Self.smallPiece
        guard flow.isBulk, !flow.isInspected, !source.isDiscarding, source.isSpliced, sink.isSpliced else {
            return self.copy(direction, from: source, atMost: limit)
        }
        switch flow.splice(from: source) {
        case .lacksPipe, .mustWait: return self.copy(direction, from: source, atMost: limit)
        case .isUnfit:
            source.isSpliced = false
            return true
        case .outcome(.bytes(let count)):
            self.lastActivity = self.loop.turnTime
            // A smaller count means that all was taken; the loop reports new bytes.
            return count >= Self.largePiece
        case .outcome(let outcome):
            self.readNothing(direction, outcome)
            return false
        }
    }

    private func copy(_ direction: Direction, from source: RelayEnd, atMost limit: Int) -> Bool {
        var buffer = self.loop.takeReceiveBuffer()
        defer { self.loop.giveBack(buffer) }
        var outcome = StreamOutcome.end
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Loop.receiveCapacity) { space in
            outcome = source.socket.read(into: UnsafeMutableRawBufferPointer(rebasing: space.prefix(limit)))
            guard case .bytes(let count) = outcome else { return 0 }
            return count
        }
        let count = buffer.readableBytes
        guard count > 0 else {
            self.readNothing(direction, outcome)
            return false
        }
        self.lastActivity = self.loop.turnTime
        if count >= limit { self.flow(direction).isBulk = true }
        if !source.isDiscarding { self.pass(&buffer, direction) }
        return count >= limit || source.mayHide
    }

    /// Writes the bytes just read, and copies the rest: the buffer belongs to the loop.
    private func pass(_ buffer: inout ByteBuffer, _ direction: Direction) {
        if self.flow(direction).isInspected {
            // The delegate may keep the bytes.
            let bytes = ByteBuffer(bytes: buffer.readableBytesView)
            guard let passed = self.inspected(bytes, direction), self.phase == .relaying else { return }
            return self.flow(direction).copied = passed
        }
        let sink = self.sink(of: direction)
        if case .bytes(let count) = buffer.withUnsafeReadableBytes({ sink.socket.write($0) }) {
            buffer.moveReaderIndex(forwardBy: count)
            self.flow(direction).written += count
        }
        // The next write of the rest reports why no more was taken.
        guard buffer.readableBytes > 0 else { return }
        self.flow(direction).copied = ByteBuffer(bytes: buffer.readableBytesView)
    }

    private func inspected(_ bytes: ByteBuffer, _ direction: Direction) -> ByteBuffer? {
        guard self.flow(direction).isInspected else { return bytes }
        return self.delegate?.relay(self, read: bytes, going: direction)
    }

    private func readNothing(_ direction: Direction, _ outcome: StreamOutcome) {
        let source = self.source(of: direction)
        switch outcome {
        case .wouldBlock: break
        case .bytes, .end:
            source.endInput()
            self.endedInput(direction)
        case .failed:
            // A peer that has broken the connection gets no more bytes; those that it sent are passed on.
            source.endInput()
            source.breakOutput()
            self.sink(of: direction).peerBroke()
            self.flow(direction.back).drop()
            if self.phase == .relaying { self.beginClosing() }
        }
    }

    private func endedInput(_ direction: Direction) {
        if self.phase == .relaying { self.delegate?.relay(self, finishedReading: direction) }
    }

    // MARK: The end

    /// Closes the ends that have no bytes in flight to them. The others get those bytes, and then the end of output. Bytes
    /// that they send meanwhile are thrown away, because closing a socket with unread bytes would destroy the last ones for
    /// its peer.
    private func beginClosing() {
        self.phase = .closing
        self.delegate?.relayEnded(self)
        self.closeUnlessOwed(self.server, .up)
        self.closeUnlessOwed(self.client, .down)
    }

    private func closeUnlessOwed(_ sink: RelayEnd, _ direction: Direction) {
        if self.bytesInFlight(direction) > 0 || sink.isEndingOutput {
            sink.discardInput()
        } else {
            self.close(sink)
        }
    }

    /// Idempotent.
    private func close(_ end: RelayEnd, resetting: Bool = false) {
        guard end.isOpen else { return }
        end.close(resetting: resetting)
        self.flow(end === self.client ? .down : .up).drop()
    }

    /// Closes ends that are finished, and watches the others for the readiness that they need next.
    private func settle() {
        if self.phase == .relaying, self.client.isOutputEnded, self.server.isOutputEnded {
            self.beginClosing()
        }
        // An event of a turn in which the relay has closed.
        guard self.phase == .relaying || self.phase == .closing else { return }
        self.settle(self.client)
        self.settle(self.server)
        // Bytes are still on their way.
        guard !self.client.isOpen, !self.server.isOpen else { return }
        self.phase = .closed
        let delegate = self.delegate
        self.delegate = nil
        delegate?.relayClosed(self)
    }

    private func settle(_ end: RelayEnd) {
        if self.phase == .closing, end.isInputEnded, end.isOutputEnded { self.close(end) }
        // A closed end needs no readiness.
        guard end.isOpen else { return }
        let outgoing = end === self.client ? Direction.up : .down
        let needs = end.socket.needs(toRead: self.wantsRead(outgoing), toWrite: self.wantsWrite(outgoing.back))
        end.watch(for: needs, by: self)
    }
}
