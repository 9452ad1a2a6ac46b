// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Glibc

/// The service manager's end of sd_notify(3): a datagram socket, and the messages that came to it.
package final class NotifySocket: Sendable {
    /// The value for NOTIFY_SOCKET.
    package let name: String
    private let descriptor: Int32
    private let heard = Watched<[String]>([])

    /// - Parameter name: a path, or `@` and an abstract name.
    package init(_ name: String) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0, UnixAddress.with(name, { bind(descriptor, $0, $1) }) == 0 else {
            throw TestFailure("no datagram socket at \(name): errno \(errno)")
        }
        self.name = name
        self.descriptor = descriptor
        let heard = self.heard
        Thread.detachNewThread {
            var space = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(descriptor, &space, space.count, 0)
                guard count > 0 else { break }
                heard.change { $0.append(String(decoding: space[..<count], as: UTF8.self)) }
            }
            close(descriptor)
        }
    }

    deinit {
        // Wakes the thread, which closes the descriptor.
        shutdown(self.descriptor, Int32(SHUT_RDWR))
    }

    /// All messages so far.
    package var messages: [String] { self.heard.current }

    /// Waits for `count` messages that match.
    @discardableResult
    package func wait(for what: String, _ count: Int = 1, where matches: (String) -> Bool) throws -> [String] {
        try self.heard.wait(for: what) { $0.filter(matches).count >= count }.filter(matches)
    }
}
