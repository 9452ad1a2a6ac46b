// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// A connected, open socket that has no channel, or that its channel has released.
package struct DetachedSocket {
    let socket: StreamSocket
    /// True if the peer has sent everything.
    var isInputEnded = false
    /// The bytes that were written to the channel and are still to be sent.
    var unsent = ByteBuffer()

    init(_ socket: StreamSocket) { self.socket = socket }

    /// A socket that has not been used yet.
    package init(descriptor: Int32, transport: (any StreamTransport)?) {
        self.init(StreamSocket(descriptor: descriptor, transport: transport))
    }

    /// A stream that is not a socket.
    package init(_ stream: any RelayStream) {
        self.init(descriptor: Self.noDescriptor, transport: stream)
    }

    package var descriptor: Int32 { self.socket.descriptor }

    /// The descriptor that a stream without one passes to its watcher.
    package static let noDescriptor: Int32 = -1

    /// Closes the socket, if no new owner takes it over.
    package func close(on loop: Loop) { RelayEnd(self, on: loop).close() }
}

/// One of the two sockets of a ``SocketRelay``.
final class RelayEnd {
    private enum Input {
        case open
        /// Bytes that are read are thrown away: the peer must still get its last bytes, which a reset would destroy.
        case discarded
        /// No more is read: the peer has sent everything, or the connection is broken.
        case ended
    }

    private enum Output {
        case open
        /// The transport could not yet tell its peer that everything is written.
        case ending
        case ended
    }

    let socket: StreamSocket
    private let loop: Loop
    /// Reports its own readiness; nil if the loop reports the descriptor's.
    private let stream: (any RelayStream)?
    /// The readiness that the stream reports.
    private var streamInterest = Readiness()
    /// True if splice(2) can move bytes into and out of it, as far as is known.
    var isSpliced: Bool
    private(set) var isOpen = true
    private var input: Input
    private var output = Output.open
    /// True once the connection of the other end is broken.
    private var hasPeerBroken = false

    init(_ socket: DetachedSocket, on loop: Loop) {
        self.socket = socket.socket
        self.loop = loop
        self.stream = socket.socket.transport as? any RelayStream
        self.isSpliced = socket.socket.transport == nil
        self.input = socket.isInputEnded ? .ended : .open
    }

    var descriptor: Int32 { self.socket.descriptor }

    /// True if bytes that were read may be followed by others that the loop does not know of.
    var mayHide: Bool { self.socket.transport != nil }

    var isInputEnded: Bool { self.input == .ended }
    var isDiscarding: Bool { self.input == .discarded }
    var isOutputEnded: Bool { self.output == .ended }
    var isEndingOutput: Bool { self.output == .ending }

    // MARK: Readiness

    /// Notifies `watcher` of readiness, until the end is forgotten.
    func watch(for wanted: Readiness, by watcher: any DescriptorWatcher) {
        guard let stream else { return self.socket.watch(for: wanted, by: watcher, on: self.loop) }
        if wanted != self.streamInterest { stream.watch(for: wanted, by: watcher) }
        self.streamInterest = wanted
    }

    /// Stops notifying the watcher until more is wanted.
    func unwatch() {
        guard let stream else { return self.socket.unwatch(on: self.loop) }
        self.streamInterest = []
        stream.forget()
    }

    /// The connection of the other end is broken: the end of output that follows here is not an orderly one.
    func peerBroke() {
        self.hasPeerBroken = true
        self.stream?.peerBroke()
    }

    // MARK: The end

    /// No more is read.
    func endInput() { self.input = .ended }

    /// Throws away the bytes that are read from now on.
    func discardInput() { if self.input == .open { self.input = .discarded } }

    /// Tells the peer that everything is written, which must be true.
    func finishOutput() {
        if self.hasPeerBroken, self.stream == nil {
            self.socket.cutOutput()
            self.output = .ended
        } else if self.output != .ended {
            self.output = self.socket.finishOutput() ? .ended : .ending
        }
    }

    /// The peer takes no more bytes.
    func breakOutput() { self.output = .ended }

    /// Closes the descriptor. Idempotent.
    ///
    /// - Parameter resetting: true to reset the connection in place of an orderly end; unsent bytes are dropped.
    func close(resetting: Bool = false) {
        guard self.isOpen else { return }
        self.isOpen = false
        if resetting {
            self.socket.resetWhenClosed()
        } else if self.output != .ended, !self.hasPeerBroken {
            // Closing a bare socket tells the peer of the end, but closing a transport does not.
            self.socket.transport?.shutdownOutput()
        }
        (self.input, self.output) = (.ended, .ended)
        if let stream {
            stream.forget()
            stream.close()
        } else {
            self.socket.close(on: self.loop)
        }
    }
}
