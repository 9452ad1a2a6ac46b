// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc
internal import NIOCore
internal import PintleLoop
internal import PintleSystem

/// The Unix socket through which commands reach a running proxy.
///
/// Every user who can open it has all its functions. The modes of the socket and of its folder permit that only to this
/// user. Requests are handled one at a time; a peer that does not finish its line is dropped.
final class ControlSocket: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The time that a peer has for its line.
    private static let patience = timeval(tv_sec: 5, tv_usec: 0)
    private static let longestLine = 64 << 10

    let path: String
    private let descriptor: Int32

    /// Listens at `path`, and replaces a socket that an earlier process with this number left there.
    ///
    /// - Parameter answer: called for each request; a thread of the socket waits for the answer.
    init(path: String, answer: @escaping @Sendable (ControlRequest) async -> ControlAnswer) throws(Failure) {
        self.path = path
        unlink(path)
        self.descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let code = Self.withAddress(path) { place, size in
            let previous = umask(0o177)
            defer { umask(previous) }
            return bind(self.descriptor, place, size) == 0 && listen(self.descriptor, 8) == 0 ? 0 : errno
        }
        guard let code else {
            close(self.descriptor)
            throw Failure(description: "\(path) is too long for a socket")
        }
        guard code == 0 else {
            close(self.descriptor)
            throw Failure(description: "\(path): \(SystemError(code))")
        }
        let descriptor = self.descriptor
        Thread.detachNewThread { Self.serve(descriptor, answer) }
    }

    /// Stops listening, and removes the socket from its folder.
    func stop() {
        unlink(self.path)
        // This wakes the thread, which then closes the socket.
        shutdown(self.descriptor, Int32(SHUT_RDWR))
    }

    /// Sends a request to the proxy that listens at `path`.
    static func ask(_ request: ControlRequest, at path: String) throws(Failure) -> ControlAnswer {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        let code = Self.withAddress(path) { connect(descriptor, $0, $1) == 0 ? 0 : errno }
        guard code == 0 else { throw Failure(description: SystemError(code ?? ENAMETOOLONG).description) }
        guard let line = try? JSONEncoder().encode(request), Self.write(Array(line) + [0x0A], to: descriptor),
            let reply = Self.readLine(from: descriptor),
            let answer = try? JSONDecoder().decode(ControlAnswer.self, from: Data(reply))
        else { throw Failure(description: "it ended before it answered") }
        return answer
    }

    // MARK: Serving

    private static func serve(
        _ listener: Int32, _ answer: @escaping @Sendable (ControlRequest) async -> ControlAnswer
    ) {
        while true {
            let peer = accept(listener, nil, nil)
            if peer < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                break
            }
            self.serve(peer: peer, answer)
            close(peer)
        }
        close(listener)
    }

    private static func serve(
        peer: Int32, _ answer: @escaping @Sendable (ControlRequest) async -> ControlAnswer
    ) {
        var patience = self.patience
        setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        guard let line = self.readLine(from: peer) else { return }
        let reply: ControlAnswer
        if let request = try? JSONDecoder().decode(ControlRequest.self, from: Data(line)) {
            reply = self.wait { await answer(request) }
        } else {
            reply = ControlAnswer(
                code: ProcessExit.usage.rawValue,
                lines: ["the proxy does not know this request; is it another version?"])
        }
        if let line = try? JSONEncoder().encode(reply) { _ = self.write(Array(line) + [0x0A], to: peer) }
    }

    /// Blocks the calling thread, which has no other work.
    private static func wait(for work: @escaping @Sendable () async -> ControlAnswer) -> ControlAnswer {
        let done = DispatchSemaphore(value: 0)
        let place = AnswerPlace()
        Task {
            place.answer = await work()
            done.signal()
        }
        done.wait()
        return place.answer
    }

    /// The place of the answer, which is written before the semaphore is signalled, and read after the wait.
    private final class AnswerPlace: @unchecked Sendable {
        // Why @unchecked holds: the semaphore orders the one write and the one read.
        var answer = ControlAnswer(code: ProcessExit.incomplete.rawValue, lines: [])
    }

    // MARK: Bytes

    /// - Returns: nil if the path is too long for a socket.
    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32? {
        guard let address = try? SocketAddress(pathOfSocket: path) else { return nil }
        return address.withSockAddr { body($0, socklen_t($1)) }
    }

    private static func readLine(from descriptor: Int32) -> [UInt8]? {
        var line: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while line.count <= self.longestLine {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            line += piece[..<count]
            if let end = line.firstIndex(of: 0x0A) { return Array(line[..<end]) }
        }
        return nil
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
