// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore

/// A connected, non-blocking stream socket, with the readiness that its descriptor needs before bytes can be moved.
///
/// Its owner closes it. Used on the loop's thread only.
package final class StreamSocket {
    package let descriptor: Int32
    /// Nil if bytes are received and sent as they are.
    package let transport: (any StreamTransport)?
    /// The readiness for which reading waits. Empty if it waits for something else, of which the owner hears.
    package var readNeeds = Readiness.read
    /// The readiness for which writing waits.
    package private(set) var writeNeeds = Readiness.write
    /// The readiness that the loop watches for; nil if it does not watch the descriptor.
    private var watched: Readiness?

    /// A socket that the loop does not watch.
    package init(descriptor: Int32, transport: (any StreamTransport)? = nil) {
        self.descriptor = descriptor
        self.transport = transport
    }

    /// Returns this socket with a transport in front of it, which owns it from now on.
    package func behind(_ transport: any StreamTransport) -> StreamSocket {
        let socket = StreamSocket(descriptor: self.descriptor, transport: transport)
        socket.watched = self.watched
        return socket
    }

    // MARK: Bytes

    package func read(into space: UnsafeMutableRawBufferPointer) -> StreamOutcome {
        let outcome = self.transport?.read(into: space) ?? .receiving(from: self.descriptor, into: space)
        if case .wouldBlock(let readiness) = outcome { self.readNeeds = readiness }
        return outcome
    }

    package func write(_ bytes: UnsafeRawBufferPointer) -> StreamOutcome {
        let outcome = self.transport?.write(bytes) ?? .sending(bytes, to: self.descriptor)
        if case .wouldBlock(let readiness) = outcome { self.writeNeeds = readiness }
        return outcome
    }

    /// Waits for what a plain socket waits for: the transport can go on.
    func resetNeeds() { (self.readNeeds, self.writeNeeds) = (.read, .write) }

    /// Tells the peer that everything is written, which must be true.
    ///
    /// - Returns: false if the transport could not tell it yet: try again when the descriptor is ready for ``writeNeeds``.
    func finishOutput() -> Bool {
        guard let transport else {
            // ENOTCONN: the peer has broken the connection, which the next read will report.
            shutdown(self.descriptor, Int32(SHUT_WR))
            return true
        }
        transport.shutdownOutput()
        guard let needs = transport.shutdownNeeds else { return true }
        self.writeNeeds = needs
        return false
    }

    /// Ends the output without telling the transport's peer, which finds bytes missing: TLS demands a closing alert (RFC 8446
    /// §6.1). Without a transport there is no such sign.
    func cutOutput() { shutdown(self.descriptor, Int32(SHUT_WR)) }

    // MARK: Readiness

    /// The readiness that is needed.
    package func needs(toRead reads: Bool, toWrite writes: Bool) -> Readiness {
        var wanted = Readiness()
        if reads { wanted.formUnion(self.readNeeds) }
        if writes { wanted.formUnion(self.writeNeeds) }
        return wanted
    }

    /// Asks the loop to notify `watcher` of readiness, unless it does so already.
    package func watch(for wanted: Readiness, by watcher: any DescriptorWatcher, on loop: Loop) {
        guard wanted != self.watched ?? [] else { return }
        self.watched = wanted
        loop.watch(self.descriptor, for: wanted, by: watcher)
    }

    /// Moves the notifications, if there are any, to another watcher.
    func hand(to watcher: any DescriptorWatcher, on loop: Loop) {
        if self.watched != nil { loop.hand(self.descriptor, to: watcher) }
    }

    /// Stops the watching until more is wanted.
    ///
    /// For a descriptor whose two directions are both closed: epoll reports that again and again, whatever it watches for.
    package func unwatch(on loop: Loop) {
        self.watched = nil
        loop.unwatch(self.descriptor)
    }

    // MARK: The end

    /// Lets ``close(on:)`` reset the connection, so that the peer does not see an orderly end; unsent bytes are dropped.
    func resetWhenClosed() {
        var option = linger(l_onoff: 1, l_linger: 0)
        // If this fails the peer sees an orderly end; there is no other harm.
        setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Closes the descriptor.
    package func close(on loop: Loop) {
        self.watched = nil
        loop.forget(self.descriptor)
        if let transport { transport.close() } else { Glibc.close(self.descriptor) }
    }

    /// Returns the error that the kernel has noted for the socket, if there is one.
    func error() -> IOError? {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(self.descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
        return code == 0 ? nil : IOError(errnoCode: code, reason: "socket")
    }
}

extension StreamOutcome {
    /// Receives bytes from a socket (recv(2)).
    ///
    /// - Parameter peeking: true to leave them there.
    package static func receiving(
        from descriptor: Int32, into space: UnsafeMutableRawBufferPointer, peeking: Bool = false
    ) -> StreamOutcome {
        let count = recv(descriptor, space.baseAddress, space.count, Int32(peeking ? MSG_PEEK : 0))
        return StreamOutcome(count, of: "recv", until: .read)
    }

    /// Sends bytes to a socket (send(2)).
    ///
    /// - Parameter isFollowed: true if more bytes follow at once, which should share a packet with these.
    package static func sending(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, isFollowed: Bool = false
    ) -> StreamOutcome {
        let flags = isFollowed ? MSG_NOSIGNAL | MSG_MORE : MSG_NOSIGNAL
        return StreamOutcome(send(descriptor, bytes.baseAddress, bytes.count, Int32(flags)), of: "send", until: .write)
    }
}
