// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import Glibc

/// One TCP connection, blocking and with time limits, that remembers every byte it received.
///
/// One thread reads; any thread may look at the received bytes, send, or close.
package final class SocketStream: Sendable {
    private struct State {
        var received: [UInt8] = []
        var position = 0
        var isOpen = true
    }

    /// The way in which a peer ended the connection.
    package enum Ending: Sendable, Equatable {
        /// In order: everything that was sent has arrived.
        case closed
        /// By a reset.
        case reset
    }

    private let descriptor: Int32
    private let state = Watched(State())
    private let ending = Watched<Ending?>(nil)
    /// The TLS layers that the bytes pass through, the one next to the socket first.
    private let layers = Watched<[TLSServerLayer]>([])

    /// Takes over a connected socket.
    init(descriptor: Int32) {
        self.descriptor = descriptor
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Connects to a port of this machine.
    ///
    /// - Parameter receiveBuffer: size of the kernel's buffer in bytes, for clients that are to fall behind soon.
    package convenience init(port: Int, receiveBuffer: Int32? = nil) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TestFailure("socket: errno \(errno)") }
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        guard LoopbackAddress.connect(descriptor, port: port) == 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw TestFailure("connect to port \(port): errno \(code)")
        }
        self.init(descriptor: descriptor)
    }

    /// Connects to a Unix socket.
    package convenience init(path: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TestFailure("socket: errno \(errno)") }
        guard UnixAddress.with(path, { connect(descriptor, $0, $1) }) == 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw TestFailure("connect to \(path): errno \(code)")
        }
        self.init(descriptor: descriptor)
    }

    deinit { self.close() }

    /// Everything that was ever read.
    package var received: [UInt8] { self.state.current.received }

    /// ``received`` as text.
    package var receivedText: String { String(decoding: self.received, as: UTF8.self) }

    /// Bytes that were read and not taken yet.
    package var unread: [UInt8] { self.state.change { Array($0.received[$0.position...]) } }

    /// The way in which the peer ended the connection, as far as reads have found out.
    package var knownEnding: Ending? { self.ending.current }

    // MARK: Reading

    /// Waits for more bytes.
    ///
    /// - Returns: false if there will be none.
    package func fill() throws -> Bool {
        guard self.ending.current == nil else { return false }
        try self.waitUntilReadable()
        var space = [UInt8](repeating: 0, count: 64 * 1024)
        let count = recv(self.descriptor, &space, space.count, 0)
        if count > 0 {
            let bytes = self.layers.current.isEmpty ? space[..<count] : self.open(space[..<count])[...]
            self.state.change { $0.received += bytes }
            return true
        }
        let code = errno
        if count < 0, code == EAGAIN || code == EINTR { return try self.fill() }
        self.ending.change { $0 = count == 0 || code != ECONNRESET ? .closed : .reset }
        return false
    }

    /// Returns the next line without its line end.
    package func readLine() throws -> String {
        while true {
            let line: [UInt8]? = self.state.change { state in
                guard let end = state.received[state.position...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
                defer { state.position = end + 1 }
                let line = state.received[state.position..<end]
                return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
            }
            if let line { return String(decoding: line, as: UTF8.self) }
            guard try self.fill() else {
                throw TestFailure(
                    "the peer ended the connection within a line; received: \(self.receivedText.suffix(500))")
            }
        }
    }

    /// Reads the next `count` bytes.
    package func read(_ count: Int) throws -> [UInt8] {
        while self.unreadCount < count {
            guard try self.fill() else {
                throw TestFailure("the peer ended the connection \(count - self.unreadCount) bytes too early")
            }
        }
        return self.take(count)
    }

    /// Reads the bytes that are there, at least one; nil at the end.
    package func readSome() throws -> [UInt8]? {
        if self.unreadCount == 0 { guard try self.fill() else { return nil } }
        return self.take(self.unreadCount)
    }

    /// Reads everything up to the end, and returns how it ended.
    package func readToEnd() throws -> (bytes: [UInt8], ending: Ending) {
        while try self.fill() {}
        return (self.take(self.unreadCount), self.ending.current ?? .closed)
    }

    /// Forgets the bytes that were taken: for transfers that are too large to remember.
    package func forgetTaken() {
        self.state.change { state in
            state.received.removeFirst(state.position)
            state.position = 0
        }
    }

    private var unreadCount: Int { self.state.change { $0.received.count - $0.position } }

    private func take(_ count: Int) -> [UInt8] {
        self.state.change { state in
            defer { state.position += count }
            return Array(state.received[state.position..<(state.position + count)])
        }
    }

    private func waitUntilReadable() throws {
        var query = pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)
        var code: Int32 = 0
        repeat { code = poll(&query, 1, Patience.milliseconds) } while code < 0 && errno == EINTR
        guard code > 0 else {
            throw TestFailure("nothing arrived in \(Patience.seconds) s; received: \(self.receivedText.suffix(500))")
        }
    }

    // MARK: Sending

    /// Sends all bytes, waiting for the peer to take them.
    package func send(_ bytes: [UInt8]) throws {
        guard !self.layers.current.isEmpty else { return try self.transmit(bytes) }
        try self.layers.change { layers in
            Result { try self.transmit(layers.reversed().reduce(bytes) { $1.seal($0) }) }
        }.get()
    }

    private func transmit(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            var query = pollfd(fd: self.descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&query, 1, Patience.milliseconds) != 0 else { throw TestFailure("the peer does not read") }
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw TestFailure("send: errno \(errno)") }
            sent += count
        }
    }

    /// Sends text.
    package func send(_ text: String) throws { try self.send(Array(text.utf8)) }

    /// Tells the peer that no more will be sent.
    package func finishSending() {
        self.sayFarewell()
        shutdown(self.descriptor, Int32(SHUT_WR))
    }

    // MARK: TLS

    /// Speaks TLS from here on, as a server, within the layers that exist already; waits for the handshake.
    package func secure(as side: TLSServerSide) throws {
        let layer = try TLSServerLayer(side)
        let early = self.take(self.unreadCount)
        self.layers.change { layers in
            layers.append(layer)
            _ = layer.open(early)
            self.sendOwn(of: layers)
        }
        while !self.layers.change({ _ in layer.isEstablished }) {
            guard try self.fill() else { throw TestFailure("the peer ended the connection within the handshake") }
        }
    }

    /// Asks the client of the innermost layer for another handshake.
    package func renegotiate() {
        self.layers.change { layers in
            layers.last?.renegotiate()
            self.sendOwn(of: layers)
        }
    }

    private func open(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        self.layers.change { layers in
            let text = layers.reduce(Array(bytes)) { $1.open($0) }
            self.sendOwn(of: layers)
            return text
        }
    }

    /// Sends the bytes that the layers produce by themselves.
    private func sendOwn(of layers: [TLSServerLayer]) {
        // A peer that has gone needs no answer.
        try? self.transmit(layers.reversed().reduce([]) { $1.seal($0) })
    }

    private func sayFarewell() {
        self.layers.change { layers in
            for index in layers.indices.reversed() {
                // A peer that has gone needs none.
                try? self.transmit(layers[..<index].reversed().reduce(layers[index].farewell()) { $1.seal($0) })
            }
        }
    }

    // MARK: Ending

    /// Closes the connection in order; harmless if it is closed.
    package func close() {
        if self.state.current.isOpen { self.sayFarewell() }
        self.closeSilently()
    }

    private func closeSilently() {
        self.state.change { state in
            if state.isOpen { Glibc.close(self.descriptor) }
            state.isOpen = false
        }
    }

    /// Resets the connection.
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(self.descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
        self.closeSilently()
    }

    /// Ends reading on this side: a thread that waits for bytes finds the end. The peer does not notice.
    package func finishReading() {
        self.state.change { state in
            // The number of a closed descriptor may belong to another file by now.
            if state.isOpen { shutdown(self.descriptor, Int32(SHUT_RD)) }
        }
    }

    /// Wakes a thread that reads, to stop a server.
    func interrupt() {
        self.state.change { state in
            // The number of a closed descriptor may belong to another file by now.
            if state.isOpen { shutdown(self.descriptor, Int32(SHUT_RDWR)) }
        }
    }
}

/// The address 127.0.0.1, for socket calls.
package enum LoopbackAddress {
    package static func connect(_ descriptor: Int32, port: Int) -> Int32 {
        Self.with(port) { Glibc.connect(descriptor, $0, $1) }
    }

    package static func bind(_ descriptor: Int32, port: Int) -> Int32 {
        Self.with(port) { Glibc.bind(descriptor, $0, $1) }
    }

    /// The port that a socket is bound to.
    package static func port(of descriptor: Int32) -> Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    private static func with(_ port: Int, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}

/// The path of a Unix socket, or `@` and an abstract name, for socket calls.
package enum UnixAddress {
    package static func with(_ path: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // The terminating zero is there already.
        withUnsafeMutableBytes(of: &address.sun_path) { space in
            space.copyBytes(from: path.utf8.prefix(space.count - 1))
            if path.hasPrefix("@") { space[0] = 0 }
        }
        // The length of an abstract name is given by that of the address.
        let all = MemoryLayout<sockaddr_un>.size
        let length = path.hasPrefix("@") ? all - MemoryLayout.size(ofValue: address.sun_path) + path.utf8.count : all
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, socklen_t(length)) }
        }
    }
}
