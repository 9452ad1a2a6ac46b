// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Glibc
internal import PintleSystem

/// The Unix socket through which commands reach a running proxy.
///
/// Every user who can open it has all its functions. The modes of the socket and of its folder permit that only to this
/// user. Each connection has a thread and brings one request; a peer that does not finish its line is dropped.
final class ControlSocket: Sendable {
    /// Carries out a request on the thread of its connection.
    typealias Handler = @Sendable (ControlRequest, ControlConnection) -> Void

    /// The time that a peer has for its line.
    private static let patience = Duration.seconds(5)
    private static let longestLine = 64 << 10
    /// The most connections at a time.
    private static let mostPeers = 64

    let path: String
    private let descriptor: Int32

    /// Listens at `path`, and replaces a socket that an earlier process with this number left there.
    init(path: String, handler: @escaping Handler) throws(ControlConnection.Failure) {
        self.path = path
        unlink(path)
        self.descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let code = ControlConnection.withAddress(path) { place, size in
            let previous = umask(0o177)
            defer { umask(previous) }
            return bind(self.descriptor, place, size) == 0 && listen(self.descriptor, 8) == 0 ? 0 : errno
        }
        guard let code else {
            close(self.descriptor)
            throw ControlConnection.Failure(description: "\(path) is too long for a socket")
        }
        guard code == 0 else {
            close(self.descriptor)
            throw ControlConnection.Failure(description: "\(path): \(SystemError(code))")
        }
        let descriptor = self.descriptor
        do throws(SystemError) {
            try SystemThread.start { Self.serve(descriptor, handler) }
        } catch {
            close(descriptor)
            throw ControlConnection.Failure(description: "\(path): no thread can be started for it: \(error)")
        }
    }

    /// Stops listening, and removes the socket from its folder.
    func stop() {
        unlink(self.path)
        // This wakes the thread, which then closes the socket.
        shutdown(self.descriptor, Int32(SHUT_RDWR))
    }

    private static func serve(_ listener: Int32, _ handler: @escaping Handler) {
        let peers = Locked(0)
        while true {
            let descriptor = accept(listener, nil, nil)
            if descriptor < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                break
            }
            let isTooMany = peers.withLock { count in
                count += 1
                return count > Self.mostPeers
            }
            // Followers stay for hours, and must not keep other commands waiting.
            do throws(SystemError) {
                try SystemThread.start {
                    Self.serve(peer: descriptor, isTooMany: isTooMany, handler)
                    peers.withLock { $0 -= 1 }
                }
            } catch {
                // The command sees the end of the connection, and says that the proxy has not answered.
                close(descriptor)
                peers.withLock { $0 -= 1 }
            }
        }
        close(listener)
    }

    private static func serve(peer descriptor: Int32, isTooMany: Bool, _ handler: Handler) {
        let peer = ControlConnection(accepted: descriptor, longestLine: Self.longestLine)
        peer.setPatience(Self.patience)
        guard let line = peer.receiveLine() else { return }
        guard !isTooMany else {
            _ = peer.send(
                ControlAnswer(
                    code: ProcessExit.incomplete.rawValue,
                    lines: ["the proxy serves \(Self.mostPeers) commands at a time, and has as many; try again"]))
            return
        }
        guard let request = try? JSONDecoder().decode(ControlRequest.self, from: Data(line)) else {
            _ = peer.send(
                ControlAnswer(
                    code: ProcessExit.usage.rawValue,
                    lines: ["the proxy does not know this request; is it another version?"]))
            return
        }
        handler(request, peer)
    }
}
