// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// A connected, open socket that has no channel, or that its channel has released.
package struct DetachedSocket {
    package let descriptor: Int32
    /// Nil if bytes are received and sent as they are.
    let transport: (any StreamTransport)?
    /// The readiness that the loop watches the descriptor for, on behalf of the channel; nil if it does not watch it.
    var interest: Readiness?
    /// True if the peer has sent everything.
    var isInputEnded = false
    /// The bytes that were written to the channel and are still to be sent.
    var unsent = ByteBuffer()

    /// A socket that has not been used yet.
    package init(descriptor: Int32, transport: (any StreamTransport)?) {
        self.descriptor = descriptor
        self.transport = transport
    }

    /// A stream that is not a socket.
    package init(_ stream: any RelayStream) {
        self.descriptor = Self.noDescriptor
        self.transport = stream
    }

    /// The descriptor that a stream without one passes to its watcher.
    package static let noDescriptor: Int32 = -1

    /// Closes the socket, if no new owner takes it over.
    package func close(on loop: Loop) {
        let end = RelayEnd(self)
        end.forget(on: loop)
        end.close()
    }
}

/// One of the two sockets of a ``SocketRelay``.
final class RelayEnd {
    let descriptor: Int32
    let transport: (any StreamTransport)?
    /// Reports its own readiness; nil if the loop reports the descriptor's.
    private let stream: (any RelayStream)?
    /// True if splice(2) can move bytes into and out of it, as far as is known.
    var isSpliced: Bool
    /// The readiness that the descriptor needs before more can be read, or written.
    var readNeeds = Readiness.read
    var writeNeeds = Readiness.write
    /// The readiness that the loop watches the descriptor for; nil if it does not watch it.
    var interest: Readiness?
    var isOpen = true
    /// True if no more will be read: the peer has sent everything, or the connection is broken.
    var isInputEnded: Bool
    /// True if no more will be written.
    private(set) var isOutputEnded = false
    /// True while the transport could not yet tell its peer that everything is written.
    private(set) var isEndingOutput = false
    /// True if bytes that are read are thrown away: the peer must still get its last bytes, which a reset would destroy.
    var isDiscarding = false

    init(_ socket: DetachedSocket) {
        self.descriptor = socket.descriptor
        self.transport = socket.transport
        self.stream = socket.transport as? any RelayStream
        self.isSpliced = socket.transport == nil
        self.interest = socket.interest
        self.isInputEnded = socket.isInputEnded
    }

    // MARK: Readiness

    /// Notifies `watcher` of readiness, until the end is forgotten.
    func watch(for wanted: Readiness, by watcher: any DescriptorWatcher, on loop: Loop) {
        if let stream {
            stream.watch(for: wanted, by: watcher)
        } else {
            loop.watch(self.descriptor, for: wanted, by: watcher)
        }
    }

    /// Stops notifying the watcher, and removes the descriptor from the epoll set.
    func unwatch(on loop: Loop) { if let stream { stream.forget() } else { loop.unwatch(self.descriptor) } }

    /// Stops notifying the watcher of an end that is closed right after this.
    func forget(on loop: Loop) { if let stream { stream.forget() } else { loop.forget(self.descriptor) } }

    /// The connection of the other end is broken: the end of output that follows here is not an orderly one.
    func peerBroke() { self.stream?.peerBroke() }

    // MARK: Bytes

    func read(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome {
        if let transport { return transport.read(into: space) }
        return StreamOutcome(recv(self.descriptor, space.baseAddress, space.count, 0), of: "recv", until: .read)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome {
        if let transport { return transport.write(bytes) }
        let count = send(self.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        return StreamOutcome(count, of: "send", until: .write)
    }

    /// Tells the peer that everything is written, which must be true.
    func finishOutput() {
        guard !self.isOutputEnded else { return }
        guard let transport else {
            self.isOutputEnded = true
            // ENOTCONN: the peer has broken the connection, which the next read will report.
            shutdown(self.descriptor, Int32(SHUT_WR))
            return
        }
        transport.shutdownOutput()
        if let needs = transport.shutdownNeeds {
            self.writeNeeds = needs
            self.isEndingOutput = true
        } else {
            self.isEndingOutput = false
            self.isOutputEnded = true
        }
    }

    /// The peer takes no more bytes.
    func breakOutput() {
        self.isEndingOutput = false
        self.isOutputEnded = true
    }

    /// Closes the descriptor, which the loop must have forgotten.
    ///
    /// - Parameter resetting: true to reset the connection in place of an orderly end; unsent bytes are dropped.
    func close(resetting: Bool = false) {
        guard self.isOpen else { return }
        self.isOpen = false
        self.isInputEnded = true
        if resetting {
            var option = linger(l_onoff: 1, l_linger: 0)
            // If this fails the peer sees an orderly end; there is no other harm.
            setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        } else if !self.isOutputEnded, let transport {
            // Closing a bare socket tells the peer of the end, but closing a transport does not.
            transport.shutdownOutput()
        }
        self.breakOutput()
        if let transport { transport.close() } else { Glibc.close(self.descriptor) }
    }
}
