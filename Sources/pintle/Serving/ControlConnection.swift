// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleSystem

/// One end of a connection between a command and a running proxy: lines of JSON both ways. Used by one thread.
final class ControlConnection {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The event for which ``wait(for:limit:)`` returns.
    enum Event {
        /// The other side has sent something, or has gone.
        case peer
        /// One of the other descriptors is ready.
        case other
        case timeUp
    }

    private let descriptor: Int32
    private let longestLine: Int
    private var received: [UInt8] = []

    /// - Parameter longestLine: in bytes.
    init(accepted descriptor: Int32, longestLine: Int) {
        (self.descriptor, self.longestLine) = (descriptor, longestLine)
    }

    /// Connects to the proxy that listens at `path`. Its lines are as long as it likes: it is this user's.
    init(to path: String) throws(Failure) {
        self.descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.longestLine = .max
        let descriptor = self.descriptor
        let code = Self.withAddress(path) { connect(descriptor, $0, $1) == 0 ? 0 : errno }
        guard code == 0 else { throw Failure(description: SystemError(code ?? ENAMETOOLONG).description) }
    }

    deinit { close(self.descriptor) }

    /// Calls `body` with the address of a Unix socket.
    ///
    /// - Returns: nil if the path is too long for a socket.
    static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32? {
        guard let address = try? SocketAddress(pathOfSocket: path) else { return nil }
        return address.withSockAddr { body($0, socklen_t($1)) }
    }

    /// Limits each later read and write; nil takes the limit back.
    func setPatience(_ patience: Duration?) {
        var time = timeval(tv_sec: Int(patience?.components.seconds ?? 0), tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(self.descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, size)
        setsockopt(self.descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, size)
    }

    /// - Returns: false if the other side has gone, or does not read.
    func send(_ message: some Encodable) -> Bool {
        guard let line = try? JSONEncoder().encode(message) else {
            preconditionFailure("BUG: a message cannot be encoded")
        }
        var rest = (Array(line) + [UInt8(ascii: "\n")])[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(self.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Reads one line.
    ///
    /// - Returns: nil if the other side ends or does not finish its line.
    func receiveLine() -> [UInt8]? {
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        var searched = 0
        while self.received.count <= self.longestLine {
            if let end = self.received[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { self.received.removeSubrange(...end) }
                return Array(self.received[..<end])
            }
            searched = self.received.count
            let count = read(self.descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            self.received += piece[..<count]
        }
        return nil
    }

    /// Reads one message.
    ///
    /// - Returns: nil if the other side ends before, or is another version.
    func receive<Message: Decodable>(_ type: Message.Type) -> Message? {
        self.receiveLine().flatMap { try? JSONDecoder().decode(type, from: Data($0)) }
    }

    /// Waits until the other side sends or goes, or until one of the other descriptors is ready.
    func wait(for others: [pollfd] = [], limit: Duration? = nil) -> Event {
        if self.received.contains(UInt8(ascii: "\n")) { return .peer }
        let deadline = limit.map { ContinuousClock.now + $0 }
        while true {
            var places = [pollfd(fd: self.descriptor, events: Int16(POLLIN), revents: 0)] + others
            let left = deadline.map { ContinuousClock.now.duration(to: $0).roundedMilliseconds + 1 }
            let count = poll(&places, nfds_t(places.count), left.map { Int32(clamping: max(0, $0)) } ?? -1)
            if places[0].revents != 0, count > 0 { return .peer }
            if count > 0 { return .other }
            if let deadline, deadline <= .now { return .timeUp }
        }
    }
}
