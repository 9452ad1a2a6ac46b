// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// A connected socket, open, that has no channel, or that its channel has given up.
package struct ReleasedSocket {
    package let descriptor: Int32
    /// Nil where bytes are received and sent as they are.
    let transport: (any StreamTransport)?
    /// The readiness that the loop watches the descriptor for, in the channel's name; nil where it does not watch it.
    var interest: Readiness?
    /// The peer has sent everything.
    var isInputEnded = false
    /// The bytes that were written to the channel and are still to be sent.
    var unsent = ByteBuffer()

    /// A socket that nobody has used yet.
    package init(descriptor: Int32, transport: (any StreamTransport)?) {
        self.descriptor = descriptor
        self.transport = transport
    }

    /// A stream that is no socket.
    package init(_ stream: any RelayStream) {
        self.descriptor = Self.noDescriptor
        self.transport = stream
    }

    /// The number that a stream without a descriptor gives its watcher.
    package static let noDescriptor: Int32 = -1

    /// Closes it, where nobody goes on with it.
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
    /// Tells of its own readiness; nil where the loop tells of the descriptor's.
    private let stream: (any RelayStream)?
    /// True where bytes can be moved into it and out of it without being seen here, as far as is known.
    var isSpliced: Bool
    /// The readiness of the descriptor without which there is nothing more to read, or to write.
    var readNeeds = Readiness.read
    var writeNeeds = Readiness.write
    /// The readiness that the loop watches the descriptor for; nil where it does not watch it.
    var interest: Readiness?
    var isOpen = true
    /// Nothing more will be read: the peer has sent everything, or the connection is broken.
    var isInputEnded: Bool
    /// Nothing more will be written.
    private(set) var isOutputEnded = false
    /// The transport could not tell its peer yet that everything is written.
    private(set) var isEndingOutput = false
    /// True where bytes that are read are thrown away: the peer is to get its last bytes, which a reset would take from it.
    var isDiscarding = false

    init(_ socket: ReleasedSocket) {
        self.descriptor = socket.descriptor
        self.transport = socket.transport
        self.stream = socket.transport as? any RelayStream
        self.isSpliced = socket.transport == nil
        self.interest = socket.interest
        self.isInputEnded = socket.isInputEnded
    }

    // MARK: Readiness

    /// Has `watcher` told of readiness, until it is forgotten.
    func watch(for wanted: Readiness, by watcher: any DescriptorWatcher, on loop: Loop) {
        if let stream {
            stream.watch(for: wanted, by: watcher)
        } else {
            loop.watch(self.descriptor, for: wanted, by: watcher)
        }
    }

    /// Has nobody told any more; the kernel is told so too.
    func unwatch(on loop: Loop) { if let stream { stream.forget() } else { loop.unwatch(self.descriptor) } }

    /// Has nobody told any more of what is closed right after this.
    func forget(on loop: Loop) { if let stream { stream.forget() } else { loop.forget(self.descriptor) } }

    /// The peer of the other end has broken its connection: the end that follows here is none in order.
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

    /// Tells the peer that everything is written; it was.
    func finishOutput() {
        guard !self.isOutputEnded else { return }
        guard let transport else {
            self.isOutputEnded = true
            // ENOTCONN: the peer has broken the connection, which reading will tell.
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

    /// The peer takes nothing more.
    func breakOutput() {
        self.isEndingOutput = false
        self.isOutputEnded = true
    }

    /// Closes the descriptor, which the loop must have forgotten.
    ///
    /// - Parameter resetting: whether the peer is to see a broken connection and not an end; what is not sent is dropped.
    func close(resetting: Bool = false) {
        guard self.isOpen else { return }
        self.isOpen = false
        self.isInputEnded = true
        if resetting {
            var option = linger(l_onoff: 1, l_linger: 0)
            // Where it fails the peer sees an end, and nothing else is lost.
            setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        } else if !self.isOutputEnded, let transport {
            // A close says by itself that this was all, but not through a transport.
            transport.shutdownOutput()
        }
        self.breakOutput()
        if let transport { transport.close() } else { Glibc.close(self.descriptor) }
    }
}
