// SPDX-License-Identifier: Apache-2.0

internal import CPintleLinux
internal import Glibc
package import NIOCore

/// A connected stream socket on a ``Loop``, as a SwiftNIO channel: any SwiftNIO handler works on it.
///
/// It reads and writes `ByteBuffer`s. It cannot bind or connect: its descriptor is already connected. Errors of the socket
/// close the channel. If a ``StreamTransport`` is given, bytes go through it.
package final class SocketChannel: Channel, ChannelCore, TurnEndWork, @unchecked Sendable {
    // Why @unchecked holds: every variable is touched on the loop's thread only; the members of `Channel` that may be
    // called from elsewhere go through the pipeline, which hops to the loop.

    private enum State {
        case fresh
        case active
        /// Another owner has the socket.
        case released
        case closed
    }

    /// The output of the socket.
    private enum Output {
        case open
        /// It is closed when all flushed bytes are written.
        case closing
        /// The transport could not yet tell its peer that everything is written.
        case ending
        case closed
    }

    /// The input of the socket.
    private enum Input {
        /// The pipeline asks for no bytes.
        case unwanted
        case wanted
        /// The peer has sent everything, or the input was closed from this side.
        case closed
    }

    /// The room for bytes that are to be sent.
    private enum Room {
        case open
        /// The pipeline was told that too many bytes wait.
        case full
        /// The pipeline was told, and a sender waits for room in the socket for bytes in a pipe.
        case awaited
    }

    package let allocator = ByteBufferAllocator()
    package let eventLoop: any EventLoop
    package let loop: Loop
    package let localAddress: SocketAddress?
    package let remoteAddress: SocketAddress?
    package var parent: (any Channel)? { nil }
    package var closeFuture: EventLoopFuture<Void> { self.closePromise.futureResult }
    package var pipeline: ChannelPipeline {
        if let madePipeline { return madePipeline }
        let pipeline = ChannelPipeline(channel: self)
        // A pipeline and its channel hold each other until the channel has ended.
        if !self.isOver { self.madePipeline = pipeline }
        return pipeline
    }
    package var isWritable: Bool { self.room == .open }
    package var isActive: Bool { self.state == .active }
    package var _channelCore: any ChannelCore { self }

    /// Bytes written and not yet taken by the kernel.
    package var pendingWriteBytes: Int { self.writes.byteCount }

    private let socket: StreamSocket
    private let closePromise: EventLoopPromise<Void>
    /// Nil until the pipeline is first asked for.
    private var madePipeline: ChannelPipeline?
    private var state = State.fresh
    private var output = Output.open
    private var writes = PendingWrites()
    private var room = Room.open
    private var input = Input.unwanted
    /// The NIO option.
    private var autoRead = true
    /// True if the pipeline hears that the peer has sent everything (`ChannelEvent.inputClosed`), and the channel stays
    /// open for writing; otherwise it closes.
    package var allowsHalfClosure = false
    /// True if a channel whose peer takes no more bytes first reads all that the peer has sent, then fails: the peer may
    /// have said why.
    package var readsBeforeFailing = false
    private var isFlushing = false
    private var isReading = false
    /// True if the last attempt to read found nothing, neither in the socket nor in the transport.
    private var hasReadAll = false
    /// Called before bytes are received, if set. The channel holds it until it ends. Not for channels with a transport.
    package var pipeReader: (any PipeReader)?
    /// Counts the bytes that wait to be written, if set.
    package var account: (any PendingWriteAccount)?

    /// The most full buffers that are read in a turn: other channels need the thread.
    private static let mostReadsInTurn = 4

    /// Takes over a connected, non-blocking descriptor; call ``start()`` when the pipeline is set up.
    ///
    /// - Parameter transport: owns the descriptor in place of the channel, which then only watches it.
    package convenience init(
        descriptor: Int32, loop: Loop, remoteAddress: SocketAddress? = nil, localAddress: SocketAddress? = nil,
        transport: (any StreamTransport)? = nil
    ) {
        self.init(StreamSocket(descriptor: descriptor, transport: transport), loop, remoteAddress, localAddress)
    }

    private init(
        _ socket: StreamSocket, _ loop: Loop, _ remoteAddress: SocketAddress?, _ localAddress: SocketAddress? = nil
    ) {
        self.socket = socket
        self.loop = loop
        self.eventLoop = loop
        self.remoteAddress = remoteAddress
        self.localAddress = localAddress
        self.closePromise = loop.makePromise()
    }

    /// Begins to read: the pipeline sees `channelRegistered`, `channelActive` and then data. Does nothing if it was closed.
    package func start() {
        self.loop.assertInEventLoop()
        guard self.state == .fresh else { return }
        self.state = .active
        let pipeline = self.pipeline.syncOperations
        pipeline.fireChannelRegistered()
        pipeline.fireChannelActive()
        if self.autoRead { pipeline.read() }
        // The peer's bytes are often there already; asking epoll first would cost a turn.
        if self.state == .active { self.readReady() }
    }

    /// Takes over a socket that another channel has released in the same turn, with all of its bytes written.
    ///
    /// - Parameter transport: owns the descriptor, as in the designated initializer.
    package convenience init(
        adopting socket: DetachedSocket, loop: Loop, remoteAddress: SocketAddress?, transport: any StreamTransport
    ) {
        precondition(socket.unsent.readableBytes == 0, "BUG: a socket is adopted before its last bytes have left")
        self.init(socket.socket.behind(transport), loop, remoteAddress)
        self.socket.hand(to: self, on: loop)
    }

    /// Continues after the transport had to wait for an event other than the readiness of its descriptor. Does nothing if it was
    /// closed.
    package func transportCanGoOn() {
        guard self.state == .active else { return }
        self.socket.resetNeeds()
        if !self.writes.isFlushed { self.flushNow() }
        self.readReady()
        self.updateInterest()
    }

    /// True while the ``pipeReader`` makes the channel wait.
    package var waitsToMove: Bool { self.socket.readNeeds.isEmpty }

    /// Continues to read after the ``pipeReader`` made the channel wait; does nothing if it did not.
    package func goOnMoving() {
        guard self.state == .active, self.waitsToMove else { return }
        self.socket.readNeeds = .read
        self.readReady()
        self.updateInterest()
    }

    /// True if each read is followed by the next one automatically.
    package var isReadingByItself: Bool { self.autoRead }

    /// Sets whether each read is followed by the next one automatically; otherwise each must be requested. Idempotent.
    package func setAutoRead(_ on: Bool) {
        guard self.autoRead != on else { return }
        self.autoRead = on
        if on { return self.read0() }
        if self.input == .wanted { self.input = .unwanted }
        self.updateInterest()
    }

    /// Resets the connection, so that the peer does not see an orderly end; unsent bytes are dropped. Idempotent.
    package func reset() {
        guard !self.isOver else { return }
        self.socket.resetWhenClosed()
        self.closeAll(ChannelError.eof)
    }

    /// Sends two pieces, one after the other, at once and without copying them.
    ///
    /// - Returns: the number of bytes that the kernel has taken. It is 0 if earlier bytes wait to be sent, if bytes go
    ///   through a transport, or if sending fails: the next write of the rest reports the error.
    package func sendNow(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        guard self.state == .active, self.takesPipes, self.writes.isEmpty, self.output == .open else { return 0 }
        return withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { vectors in
            vectors[0] = iovec(first)
            vectors[1] = iovec(second)
            var message = msghdr()
            message.msg_iov = vectors.baseAddress
            message.msg_iovlen = 2
            return max(0, sendmsg(self.socket.descriptor, &message, Int32(MSG_NOSIGNAL)))
        }
    }

    /// True if splice(2) can move bytes into the socket.
    package var takesPipes: Bool { self.socket.transport == nil }

    /// Sends bytes from a pipe, as far as the socket has room. The channel is then not writable until there is room for the
    /// rest.
    ///
    /// - Returns: the number of bytes that the kernel has taken.
    package func send(_ piped: PipedBytes) -> Int {
        let count = piped.count
        while piped.count > 0, self.state == .active {
            // Bytes that were written before go first.
            let outcome = self.writes.isEmpty ? piped.drain(into: self.socket.descriptor) : .wouldBlock(until: .write)
            switch outcome {
            case .bytes: continue
            case .wouldBlock:
                self.waitForRoom()
                return count - piped.count
            // The peer takes no more bytes.
            case .end: self.fail(ChannelError.eof)
            case .failed(let error): self.fail(error)
            }
        }
        return count - piped.count
    }

    private func waitForRoom() {
        let wasWritable = self.isWritable
        self.room = .awaited
        self.updateInterest()
        if wasWritable { self.pipeline.syncOperations.fireChannelWritabilityChanged() }
    }

    /// Releases the socket, open, to a new owner.
    ///
    /// The channel itself is closed then. Its handlers are removed after this turn and see no end of the connection, since
    /// it has not ended. Promises for unsent bytes fail.
    ///
    /// - Returns: nil if the channel is closed, or its output is closed or about to be.
    package func release() -> DetachedSocket? {
        self.loop.assertInEventLoop()
        guard !self.isOver, self.output == .open else { return nil }
        self.state = .released
        var released = DetachedSocket(self.socket)
        released.isInputEnded = self.input == .closed
        released.unsent = self.writes.unsent
        self.pipeReader = nil
        self.failWrites(ChannelError.ioOnClosedChannel)
        self.settleAccount()
        self.endAfterTurn()
        return released
    }

    /// Takes the pipeline apart after this turn: handlers may still be on the stack.
    private func endAfterTurn() {
        if self.madePipeline == nil { self.closePromise.succeed() } else { self.loop.atEndOfTurn(self) }
    }

    package func runAtEndOfTurn() {
        if let madePipeline { self.removeHandlers(pipeline: madePipeline) }
        // The new owner of the socket may keep the channel for long.
        if self.state == .released { self.madePipeline = nil }
        self.closePromise.succeed()
    }

    /// True if the channel has no socket any more.
    private var isOver: Bool { self.state == .closed || self.state == .released }

    // MARK: ChannelCore

    package func localAddress0() throws -> SocketAddress {
        guard let localAddress else { throw ChannelError.unknownLocalAddress }
        return localAddress
    }

    package func remoteAddress0() throws -> SocketAddress {
        guard let remoteAddress else { throw ChannelError.operationUnsupported }
        return remoteAddress
    }

    package func register0(promise: EventLoopPromise<Void>?) { promise?.fail(ChannelError.operationUnsupported) }
    package func registerAlreadyConfigured0(promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.operationUnsupported)
    }
    package func bind0(to: SocketAddress, promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.operationUnsupported)
    }
    package func connect0(to: SocketAddress, promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.operationUnsupported)
    }
    package func triggerUserOutboundEvent0(_ event: Any, promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.operationUnsupported)
    }
    package func channelRead0(_ data: NIOAny) {}
    package func errorCaught0(error: any Error) { self.close0(error: error, mode: .all, promise: nil) }

    package func write0(_ data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard self.state == .active, self.output != .closed else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        self.writes.append(self.unwrapData(data, as: ByteBuffer.self), promise: promise)
        if self.writes.byteCount > PendingWrites.highWaterMark, self.isWritable {
            self.room = .full
            self.pipeline.syncOperations.fireChannelWritabilityChanged()
        }
    }

    package func flush0() {
        // Writes to a channel that is not open have failed already.
        guard self.state == .active else { return }
        self.writes.markFlushed()
        // A handler that is being notified of a write may ask for this flush; its bytes leave with the rest.
        if !self.isFlushing { self.flushNow() }
    }

    package func read0() {
        // No more will come.
        guard self.state == .active, self.input != .closed else { return }
        let wantedBefore = self.input == .wanted
        self.input = .wanted
        self.updateInterest()
        // Epoll reports nothing about bytes that a transport has taken in already.
        if !self.takesPipes, !wantedBefore, !self.isReading { self.loop.execute { self.readReady() } }
    }

    package func close0(error: any Error, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard !self.isOver else {
            promise?.fail(ChannelError.alreadyClosed)
            return
        }
        switch mode {
        case .output:
            if self.output == .open { self.output = .closing }
            if self.writes.isEmpty { self.shutdownOutput() }
            promise?.succeed()
        case .input:
            self.input = .closed
            shutdown(self.socket.descriptor, Int32(SHUT_RD))
            self.updateInterest()
            promise?.succeed()
        case .all:
            self.endOutputIfWritten()
            self.closeAll(error)
            promise?.succeed()
        }
    }

    // MARK: Options

    package func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> EventLoopFuture<Void> {
        if self.eventLoop.inEventLoop {
            return self.eventLoop.makeCompletedFuture { try self.set(option, value) }
        }
        return self.eventLoop.submit { try self.set(option, value) }
    }

    package func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> {
        if self.eventLoop.inEventLoop {
            return self.eventLoop.makeCompletedFuture { try self.get(option) }
        }
        return self.eventLoop.submit { try self.get(option) }
    }

    private func set<Option: ChannelOption>(_ option: Option, _ value: Option.Value) throws {
        switch (option, value) {
        case (is ChannelOptions.Types.AutoReadOption, let on as Bool): self.setAutoRead(on)
        case (is ChannelOptions.Types.AllowRemoteHalfClosureOption, let on as Bool): self.allowsHalfClosure = on
        default: throw ChannelError.operationUnsupported
        }
    }

    private func get<Option: ChannelOption>(_ option: Option) throws -> Option.Value {
        let value: Any
        switch option {
        case is ChannelOptions.Types.AutoReadOption: value = self.autoRead
        case is ChannelOptions.Types.AllowRemoteHalfClosureOption: value = self.allowsHalfClosure
        default: throw ChannelError.operationUnsupported
        }
        guard let value = value as? Option.Value else { throw ChannelError.operationUnsupported }
        return value
    }

    // MARK: Reading

    /// Reads bytes that have come. The loop does so by itself, but on a busy loop timers may fire before it gets to them.
    package func readArrivals() { if self.state == .active { self.readReady() } }

    fileprivate func readReady() {
        // A handler asks for more within its read: the loop below goes on.
        guard !self.isReading else { return }
        self.isReading = true
        defer {
            self.isReading = false
            self.updateInterest()
        }
        var reads = 0
        while self.state == .active, self.input == .wanted {
            if let outcome = self.pipeReader?.moveBytes(from: self.socket.descriptor) {
                guard case .bytes = outcome else {
                    if case .wouldBlock(let readiness) = outcome { self.socket.readNeeds = readiness }
                    return self.receivedNothing(outcome)
                }
                reads += 1
                if reads < Self.mostReadsInTurn { continue }
                return
            }
            var buffer = self.loop.takeReceiveBuffer()
            var outcome = StreamOutcome.end
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Loop.receiveCapacity) { space in
                outcome = self.socket.read(into: space)
                guard case .bytes(let count) = outcome else { return 0 }
                return count
            }
            guard buffer.readableBytes > 0 else {
                self.loop.giveBack(buffer)
                return self.receivedNothing(outcome)
            }
            let mayHaveMore = buffer.writableBytes == 0 || !self.takesPipes
            self.input = .unwanted
            self.pipeline.syncOperations.fireChannelRead(NIOAny(buffer))
            self.loop.giveBack(buffer)
            self.pipeline.syncOperations.fireChannelReadComplete()
            if self.autoRead, self.state == .active { self.read0() }
            reads += 1
            if !mayHaveMore { return }
            guard reads < Self.mostReadsInTurn else {
                if !self.takesPipes { self.loop.execute { self.readReady() } }
                return
            }
        }
    }

    private func receivedNothing(_ outcome: StreamOutcome) {
        switch outcome {
        case .bytes, .end: self.endOfInput()
        case .failed(let error): self.fail(error)
        case .wouldBlock:
            self.hasReadAll = true
            self.updateInterest()
        }
    }

    private func endOfInput() {
        self.input = .closed
        self.updateInterest()
        if self.allowsHalfClosure {
            self.pipeline.syncOperations.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else {
            self.endOutputIfWritten()
            self.closeAll(ChannelError.eof)
        }
    }

    // MARK: Writing

    private func flushNow() {
        self.isFlushing = true
        let isWritten = self.writeFlushed()
        // The handlers notified from here on may flush again.
        self.isFlushing = false
        self.settleAccount()
        // The rest waits for the socket, or a handler has closed the channel.
        guard isWritten, self.state == .active else { return }
        if self.room == .awaited { self.room = .full }
        self.updateInterest()
        if self.output != .open, self.writes.isEmpty { self.shutdownOutput() }
        if self.room == .full, self.writes.byteCount < PendingWrites.lowWaterMark {
            self.room = .open
            self.pipeline.syncOperations.fireChannelWritabilityChanged()
        }
    }

    /// - Returns: true if all flushed bytes are written.
    private func writeFlushed() -> Bool {
        while self.state == .active, !self.writes.isFlushed {
            let outcome = self.writes.writeSome(to: self.socket)
            for promise in self.writes.takeWritten() { promise.succeed() }
            switch outcome {
            case .progress: continue
            case .wouldBlock:
                self.updateInterest()
                return false
            case .failed(let error):
                // The peer takes no more bytes; those that it sent before may be worth reading, but not answering.
                if self.readsBeforeFailing { self.failBehindInput(error) } else { self.fail(error) }
                return false
            }
        }
        return true
    }

    /// Fails after reading all that the peer has sent, in later turns. Idempotent.
    private func failBehindInput(_ error: any Error) {
        guard self.output != .closed else { return }
        self.output = .closed
        self.failWrites(error)
        self.loop.execute { self.readToEnd(thenFailWith: error) }
    }

    private func readToEnd(thenFailWith error: any Error) {
        self.hasReadAll = false
        self.readReady()
        guard self.state == .active, self.input == .wanted, !self.hasReadAll else { return self.fail(error) }
        // Other channels need the thread in between.
        self.loop.execute { self.readToEnd(thenFailWith: error) }
    }

    private func failWrites(_ error: any Error) { for promise in self.writes.removeAll() { promise.fail(error) } }

    private func settleAccount() {
        if let change = self.writes.settle() { self.account?.waitingBytes(changedBy: change) }
    }

    /// Idempotent.
    private func shutdownOutput() {
        guard self.output != .closed else { return }
        let wasEnding = self.output == .ending
        guard self.socket.finishOutput() else {
            self.output = .ending
            return self.updateInterest()
        }
        self.output = .closed
        if wasEnding { self.updateInterest() }
        if self.input == .closed { self.closeAll(ChannelError.eof) }
    }

    /// Tells a transport's peer that the output has ended: closing a bare socket does so, closing a transport does not. If
    /// bytes are left to be written, the peer must not be told.
    private func endOutputIfWritten() {
        if self.state == .active, self.output != .closed, self.writes.isEmpty {
            self.socket.transport?.shutdownOutput()
        }
    }

    // MARK: Closing

    private func fail(_ error: any Error) {
        // A handler has closed the channel within the call that failed.
        guard self.state == .active else { return }
        self.pipeline.syncOperations.fireErrorCaught(error)
        self.closeAll(error)
    }

    /// Idempotent.
    private func closeAll(_ error: any Error) {
        guard !self.isOver else { return }
        let wasActive = self.state == .active
        self.state = .closed
        self.pipeReader = nil
        self.socket.close(on: self.loop)
        self.failWrites(error)
        self.settleAccount()
        if wasActive {
            let pipeline = self.pipeline.syncOperations
            pipeline.fireChannelInactive()
            pipeline.fireChannelUnregistered()
        }
        self.endAfterTurn()
    }

    private func updateInterest() {
        // While a read is in progress the next one is not requested yet: an answer written meanwhile would remove the
        // interest for a moment, which costs two system calls.
        guard self.state == .active, !self.isReading else { return }
        let waitsToWrite = !self.writes.isFlushed || self.output == .ending || self.room == .awaited
        let wanted = self.socket.needs(toRead: self.input == .wanted, toWrite: waitsToWrite)
        self.socket.watch(for: wanted, by: self, on: self.loop)
    }
}

extension SocketChannel: DescriptorWatcher {
    package func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        if !readiness.isDisjoint(with: self.socket.writeNeeds), self.state == .active { self.flushNow() }
        if !readiness.isDisjoint(with: self.socket.readNeeds) { self.readReady() }
        // All is well, or reading has found the end.
        guard self.state == .active, readiness.isBroken else { return }
        // The peer may have sent more before it broke the connection: the next turn reads on, and finds the error behind it.
        if self.input == .wanted, !self.waitsToMove { return }
        if let error = self.socket.error() { return self.fail(error) }
        // Both directions are closed; earlier bytes are read when they are wanted.
        self.socket.unwatch(on: self.loop)
    }
}
