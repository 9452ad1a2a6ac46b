// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
internal import Glibc

/// The client's end of a TLS connection, blocking and with time limits. One thread uses it.
package final class TLSStream {
    /// The way in which a peer ended the connection.
    package enum Ending: Sendable, Equatable {
        /// By a TLS alert: everything that was sent has arrived.
        case closed
        /// In any other way.
        case cut
    }

    private let context: MemoryHandshake.ClientContext
    private let pointer: OpaquePointer
    private let descriptor: Int32

    /// Takes over a connected socket and performs the handshake; the server is verified only if `context` does so.
    ///
    /// - Parameter protocols: the protocols offered by ALPN.
    package init(
        descriptor: Int32, context: MemoryHandshake.ClientContext, protocols: [String] = []
    ) throws {
        self.descriptor = descriptor
        self.context = context
        var patience = timeval(tv_sec: Int(Patience.seconds), tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        ERR_clear_error()
        guard let pointer = SSL_new(context.pointer) else { throw TestPKIError("SSL_new") }
        self.pointer = pointer
        let names = protocols.flatMap { [UInt8($0.utf8.count)] + $0.utf8 }
        guard names.isEmpty || SSL_set_alpn_protos(pointer, names, CUnsignedInt(names.count)) == 0,
            SSL_set_fd(pointer, descriptor) == 1, SSL_connect(pointer) == 1
        else { throw TestPKIError("SSL_connect") }
    }

    /// Connects to a port of this machine.
    package convenience init(
        port: Int, context: MemoryHandshake.ClientContext? = nil, protocols: [String] = []
    ) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, LoopbackAddress.connect(descriptor, port: port) == 0 else {
            throw TestFailure("connect to port \(port): errno \(errno)")
        }
        try self.init(
            descriptor: descriptor, context: try context ?? MemoryHandshake.ClientContext(), protocols: protocols)
    }

    /// Connects to a server through a tunnel of a proxy on this machine.
    package convenience init(to target: String, through proxy: Int, protocols: [String] = []) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, LoopbackAddress.connect(descriptor, port: proxy) == 0 else {
            throw TestFailure("connect to port \(proxy): errno \(errno)")
        }
        let request = Array("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\r\n".utf8)
        guard Glibc.send(descriptor, request, request.count, 0) == request.count else {
            throw TestFailure("the CONNECT cannot be sent: errno \(errno)")
        }
        // Reads not a byte beyond the head: the rest belongs to the handshake.
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) {
            var byte: UInt8 = 0
            guard recv(descriptor, &byte, 1, 0) == 1 else { throw TestFailure("there is no answer to the CONNECT") }
            head.append(byte)
        }
        guard head.starts(with: Array("HTTP/1.1 200 ".utf8)) else {
            throw TestFailure("there is no tunnel: \(String(decoding: head, as: UTF8.self))")
        }
        try self.init(
            descriptor: descriptor, context: try MemoryHandshake.ClientContext(), protocols: protocols)
    }

    deinit {
        SSL_free(self.pointer)
        close(self.descriptor)
    }

    /// The protocol that ALPN chose.
    package var chosenProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var count: CUnsignedInt = 0
        SSL_get0_alpn_selected(self.pointer, &start, &count)
        return start.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
    }

    /// The end-entity certificate of the server, as DER.
    package var serverCertificate: [UInt8] {
        guard let certificate = SSL_get0_peer_certificate(self.pointer) else { return [] }
        return (try? MintRequest.encode(certificate)) ?? []
    }

    package func send(_ bytes: [UInt8]) throws {
        ERR_clear_error()
        // OpenSSL does not use MSG_NOSIGNAL on sockets: a SIGPIPE from a closed connection is taken here; the error is
        // reported, too.
        var (pipe, mask) = (sigset_t(), sigset_t())
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &mask)
        defer {
            var none = timespec()
            _ = sigtimedwait(&pipe, nil, &none)
            pthread_sigmask(SIG_SETMASK, &mask, nil)
        }
        guard bytes.isEmpty || SSL_write(self.pointer, bytes, CInt(bytes.count)) == bytes.count else {
            throw TestPKIError("SSL_write")
        }
    }

    package func send(_ text: String) throws { try self.send(Array(text.utf8)) }

    /// Makes the end of this object reset the connection.
    package func resetAtEnd() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    /// Reads the next `count` bytes.
    package func read(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let more = self.readSome(count - bytes.count) else {
                throw TestFailure("the peer ended the connection \(count - bytes.count) bytes too early")
            }
            bytes += more
        }
        return bytes
    }

    /// Reads the next `count` bytes; nil if the peer has ended the connection before the first of them.
    package func readOrEnd(_ count: Int) -> [UInt8]? {
        guard var bytes = self.readSome(count) else { return nil }
        while bytes.count < count {
            guard let more = self.readSome(count - bytes.count) else { return nil }
            bytes += more
        }
        return bytes
    }

    /// Reads everything up to the end, and returns how it ended.
    package func readToEnd() -> (bytes: [UInt8], ending: Ending) {
        var bytes: [UInt8] = []
        while let more = self.readSome(1 << 16) { bytes += more }
        return (bytes, SSL_get_shutdown(self.pointer) & SSL_RECEIVED_SHUTDOWN != 0 ? .closed : .cut)
    }

    private func readSome(_ most: Int) -> [UInt8]? {
        var space = [UInt8](repeating: 0, count: most)
        ERR_clear_error()
        let count = SSL_read(self.pointer, &space, CInt(most))
        return count > 0 ? Array(space[..<Int(count)]) : nil
    }

    /// Tells the peer by TLS that no more will be sent.
    package func finishSending() { SSL_shutdown(self.pointer) }

    /// Ends sending without telling the peer by TLS.
    package func cutSending() { shutdown(self.descriptor, Int32(SHUT_WR)) }
}
