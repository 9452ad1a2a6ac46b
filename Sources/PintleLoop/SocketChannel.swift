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

    private enum State { case fresh, active, closed }

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
        if self.state != .closed { self.madePipeline = pipeline }
        return pipeline
    }
    package var isWritable: Bool { self.writable }
    package var isActive: Bool { self.state == .active }
    package var _channelCore: any ChannelCore { self }

    /// Bytes written and not yet taken by the kernel.
    package var pendingWriteBytes: Int { self.writes.byteCount }

    private let descriptor: Int32
    /// Nil if bytes are received and sent as they are.
    private let transport: (any StreamTransport)?
    /// The readiness that the descriptor needs before more can be read, or written.
    private var readNeeds = Readiness.read
    private var writeNeeds = Readiness.write
    private let closePromise: EventLoopPromise<Void>
    /// Nil until the pipeline is first asked for.
    private var madePipeline: ChannelPipeline?
    private var state = State.fresh
    private var isReleased = false
    private var interest = Readiness()
    private var writes = PendingWrites()
    private var writable = true
    /// True if a sender waits for room in the socket for bytes in a pipe.
    private var wantsRoom = false
    private var autoRead = true
    private var wantsRead = false
    private var inputClosed = false
    private var outputClosed = false
    private var closeOutputWhenFlushed = false
    /// True while the transport could not yet tell its peer that everything is written.
    private var isEndingOutput = false
    /// True if the pipeline hears that the peer has sent everything (`ChannelEvent.inputClosed`), and the channel stays
    /// open for writing; otherwise it closes.
    package var allowsHalfClosure = false
    /// True if a channel whose peer takes no more bytes first reads all that the peer has sent, then fails: the peer may
    /// have said why.
    package var readsBeforeFailing = false
    private var isFlushing = false
    private var isReading = false
    /// Called before bytes are received, if set. The channel holds it until it ends. Not for channels with a transport.
    package var pipeReader: (any PipeReader)?
    /// Counts the bytes that wait to be written, if set.
    package var account: (any PendingWriteAccount)?
    /// True if both directions are closed or failed, so that epoll has no more to say about the descriptor.
    private var isHungUp = false

    /// The most full buffers that are read in a turn: other channels need the thread.
    private static let mostReadsInTurn = 4
    private static let mostReadsBeforeFailing = 4

    /// Takes over a connected, non-blocking descriptor; call ``start()`` when the pipeline is set up.
    ///
    /// - Parameter transport: owns the descriptor in place of the channel, which then only watches it.
    package init(
        descriptor: Int32, loop: Loop, remoteAddress: SocketAddress? = nil, localAddress: SocketAddress? = nil,
        transport: (any StreamTransport)? = nil
    ) {
        self.descriptor = descriptor
        self.transport = transport
        self.loop = loop
        self.eventLoop = loop
        self.remoteAddress = remoteAddress
        self.localAddress = localAddress
        self.closePromise = loop.makePromise()
    }

    /// Begins to read: the pipeline sees `channelRegistered`, `channelActive` and then data.
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
        self.init(descriptor: socket.descriptor, loop: loop, remoteAddress: remoteAddress, transport: transport)
        guard let interest = socket.interest else { return }
        self.interest = interest
        loop.hand(socket.descriptor, to: self)
    }

    /// Continues after the transport had to wait for an event other than the readiness of its descriptor.
    package func transportCanGoOn() {
        guard self.state == .active else { return }
        (self.readNeeds, self.writeNeeds) = (.read, .write)
        if !self.writes.isFlushed { self.flushNow() }
        self.readReady()
        self.updateInterest()
    }

    /// True while the ``pipeReader`` makes the channel wait.
    package var waitsToMove: Bool { self.readNeeds.isEmpty }

    /// Continues to read after the ``pipeReader`` made the channel wait.
    package func goOnMoving() {
        guard self.state == .active, self.readNeeds.isEmpty else { return }
        self.readNeeds = .read
        self.readReady()
        self.updateInterest()
    }

    /// True if each read is followed by the next one automatically.
    package var isReadingByItself: Bool { self.autoRead }

    /// Sets whether each read is followed by the next one automatically; otherwise each must be requested.
    package func setAutoRead(_ on: Bool) {
        guard self.autoRead != on else { return }
        self.autoRead = on
        if on {
            self.read0()
        } else {
            self.wantsRead = false
            self.updateInterest()
        }
    }

    /// Resets the connection, so that the peer does not see an orderly end; unsent bytes are dropped.
    package func reset() {
        guard self.state != .closed else { return }
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        self.closeAll(ChannelError.eof)
    }

    /// Sends two pieces, one after the other, at once and without copying them.
    ///
    /// - Returns: the number of bytes that the kernel has taken. It is 0 if earlier bytes wait to be sent, if bytes go
    ///   through a transport, or if sending fails: the next write of the rest reports the error.
    package func sendNow(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        guard self.state == .active, self.transport == nil, self.writes.isEmpty, !self.outputClosed,
            !self.closeOutputWhenFlushed
        else { return 0 }
        return withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2) { vectors in
            vectors[0] = iovec(first)
            vectors[1] = iovec(second)
            var message = msghdr()
            message.msg_iov = vectors.baseAddress
            message.msg_iovlen = 2
            return max(0, sendmsg(self.descriptor, &message, Int32(MSG_NOSIGNAL)))
        }
    }

    /// True if splice(2) can move bytes into the socket.
    package var takesPipes: Bool { self.transport == nil }

    /// Sends bytes from a pipe, as far as the socket has room. The channel is then not writable until there is room for the
    /// rest.
    ///
    /// - Returns: the number of bytes that the kernel has taken.
    package func send(_ piped: PipedBytes) -> Int {
        let count = piped.count
        while piped.count > 0, self.state == .active {
            // Bytes that were written before go first.
            let outcome = self.writes.isEmpty ? piped.drain(into: self.descriptor) : .wouldBlock(until: .write)
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
        self.wantsRoom = true
        self.updateInterest()
        guard self.writable else { return }
        self.writable = false
        self.pipeline.syncOperations.fireChannelWritabilityChanged()
    }

    /// Releases the socket, open, to a new owner.
    ///
    /// The channel itself is closed then. Its handlers are removed after this turn and see no end of the connection, since
    /// it has not ended. Promises for unsent bytes fail.
    ///
    /// - Returns: nil if the channel is closed, or its output is closed or about to be.
    package func release() -> DetachedSocket? {
        self.loop.assertInEventLoop()
        guard self.state != .closed, !self.outputClosed, !self.closeOutputWhenFlushed else { return nil }
        self.state = .closed
        self.isReleased = true
        var released = DetachedSocket(descriptor: self.descriptor, transport: self.transport)
        released.interest = self.loop.isWatched(self.descriptor) ? self.interest : nil
        released.isInputEnded = self.inputClosed
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
        if self.isReleased { self.madePipeline = nil }
        self.closePromise.succeed()
    }

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
        guard self.state == .active, !self.outputClosed else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        self.writes.append(self.unwrapData(data, as: ByteBuffer.self), promise: promise)
        if self.writable, self.writes.byteCount > PendingWrites.highWaterMark {
            self.writable = false
            self.pipeline.syncOperations.fireChannelWritabilityChanged()
        }
    }

    package func flush0() {
        guard self.state == .active else { return }
        self.writes.markFlushed()
        // A handler that is being notified of a write may ask for this flush; its bytes leave with the rest.
        if !self.isFlushing { self.flushNow() }
    }

    package func read0() {
        guard self.state == .active, !self.inputClosed else { return }
        let wantedBefore = self.wantsRead
        self.wantsRead = true
        self.updateInterest()
        // Epoll reports nothing about a descriptor that hung up, nor about bytes that a transport has taken in already.
        if self.isHungUp || self.transport != nil && !wantedBefore && !self.isReading {
            self.loop.execute { self.readReady() }
        }
    }

    package func close0(error: any Error, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard self.state != .closed else {
            promise?.fail(ChannelError.alreadyClosed)
            return
        }
        switch mode {
        case .output:
            self.closeOutputWhenFlushed = true
            if self.writes.isEmpty { self.shutdownOutput() }
            promise?.succeed()
        case .input:
            self.inputClosed = true
            shutdown(self.descriptor, Int32(SHUT_RD))
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
        guard !self.isReading else { return }
        self.isReading = true
        defer {
            self.isReading = false
            self.updateInterest()
        }
        var reads = 0
        while self.state == .active, self.wantsRead, !self.inputClosed {
            if let outcome = self.pipeReader?.moveBytes(from: self.descriptor) {
                guard case .bytes = outcome else { return self.receivedNothing(outcome) }
                reads += 1
                if reads < Self.mostReadsInTurn { continue }
                // Epoll does not report a descriptor that hung up again.
                if self.isHungUp { self.loop.execute { self.readReady() } }
                return
            }
            var buffer = self.loop.takeReceiveBuffer()
            var outcome = StreamOutcome.end
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: Loop.receiveCapacity) { space in
                outcome = self.receive(into: space)
                guard case .bytes(let count) = outcome else { return 0 }
                return count
            }
            guard buffer.readableBytes > 0 else {
                self.loop.giveBack(buffer)
                return self.receivedNothing(outcome)
            }
            let mayHaveMore = buffer.writableBytes == 0 || self.transport != nil
            self.wantsRead = false
            self.pipeline.syncOperations.fireChannelRead(NIOAny(buffer))
            self.loop.giveBack(buffer)
            self.pipeline.syncOperations.fireChannelReadComplete()
            if self.autoRead, self.state == .active { self.read0() }
            reads += 1
            if !mayHaveMore { return }
            guard reads < Self.mostReadsInTurn else {
                if self.transport != nil { self.loop.execute { self.readReady() } }
                return
            }
        }
    }

    private func receive(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome {
        if let transport { return transport.read(into: space) }
        return StreamOutcome(recv(self.descriptor, space.baseAddress, space.count, 0), of: "recv", until: .read)
    }

    private func receivedNothing(_ outcome: StreamOutcome) {
        switch outcome {
        case .bytes, .end: self.endOfInput()
        case .failed(let error): self.fail(error)
        case .wouldBlock(let readiness):
            self.readNeeds = readiness
            self.updateInterest()
        }
    }

    private func endOfInput() {
        self.inputClosed = true
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
        guard isWritten, self.state == .active else { return }
        self.wantsRoom = false
        self.updateInterest()
        if self.closeOutputWhenFlushed, self.writes.isEmpty { self.shutdownOutput() }
        if !self.writable, self.writes.byteCount < PendingWrites.lowWaterMark {
            self.writable = true
            self.pipeline.syncOperations.fireChannelWritabilityChanged()
        }
    }

    /// - Returns: true if all flushed bytes are written.
    private func writeFlushed() -> Bool {
        while self.state == .active, !self.writes.isFlushed {
            let outcome = self.writes.writeSome(to: self.descriptor, through: self.transport)
            for promise in self.writes.takeWritten() { promise.succeed() }
            switch outcome {
            case .progress: continue
            case .wouldBlock(let readiness):
                self.writeNeeds = readiness
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

    /// Fails after reading all that the peer has sent, in this turn or a later one.
    private func failBehindInput(_ error: any Error) {
        guard !self.outputClosed else { return }
        self.outputClosed = true
        self.failWrites(error)
        self.loop.execute {
            // A full buffer may be followed by another one.
            for _ in 0..<Self.mostReadsBeforeFailing where self.state == .active && !self.inputClosed {
                self.readReady()
            }
            self.fail(error)
        }
    }

    private func failWrites(_ error: any Error) { for promise in self.writes.removeAll() { promise.fail(error) } }

    private func settleAccount() {
        if let change = self.writes.settle() { self.account?.waitingBytes(changedBy: change) }
    }

    private func shutdownOutput() {
        guard !self.outputClosed else { return }
        if let transport { transport.shutdownOutput() } else { shutdown(self.descriptor, Int32(SHUT_WR)) }
        if let needs = self.transport?.shutdownNeeds {
            self.writeNeeds = needs
            self.isEndingOutput = true
            return self.updateInterest()
        }
        self.outputClosed = true
        if self.isEndingOutput {
            self.isEndingOutput = false
            self.updateInterest()
        }
        if self.inputClosed { self.closeAll(ChannelError.eof) }
    }

    /// Tells a transport's peer that the output has ended: closing a bare socket does so, closing a transport does not. If
    /// bytes are left to be written, the peer must not be told.
    private func endOutputIfWritten() {
        guard let transport, self.state == .active, !self.outputClosed, self.writes.isEmpty else { return }
        transport.shutdownOutput()
    }

    // MARK: Closing

    private func fail(_ error: any Error) {
        guard self.state == .active else { return }
        self.pipeline.syncOperations.fireErrorCaught(error)
        self.closeAll(error)
    }

    private func closeAll(_ error: any Error) {
        guard self.state != .closed else { return }
        let wasActive = self.state == .active
        self.state = .closed
        self.pipeReader = nil
        self.loop.forget(self.descriptor)
        if let transport { transport.close() } else { Glibc.close(self.descriptor) }
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
        guard self.state == .active, !self.isHungUp, !self.isReading else { return }
        var wanted = Readiness()
        if self.wantsRead, !self.inputClosed { wanted.formUnion(self.readNeeds) }
        if !self.writes.isFlushed || self.isEndingOutput || self.wantsRoom { wanted.formUnion(self.writeNeeds) }
        guard wanted != self.interest else { return }
        self.interest = wanted
        self.loop.watch(self.descriptor, for: wanted, by: self)
    }
}

extension SocketChannel: DescriptorWatcher {
    package func descriptorReady(_ descriptor: Int32, _ readiness: Readiness) {
        if !readiness.isDisjoint(with: self.writeNeeds), self.state == .active { self.flushNow() }
        if !readiness.isDisjoint(with: self.readNeeds) { self.readReady() }
        guard self.state == .active, readiness.isBroken else { return }
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(self.descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        if code != 0 { return self.fail(IOError(errnoCode: code, reason: "socket")) }
        // Both directions are closed; earlier bytes are read when they are wanted. Epoll would report this for ever.
        if !self.wantsRead || self.inputClosed || self.readNeeds.isEmpty {
            self.isHungUp = true
            self.interest = []
            self.loop.unwatch(self.descriptor)
        }
    }
}
