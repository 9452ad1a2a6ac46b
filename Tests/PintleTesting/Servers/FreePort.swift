// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Finds ports for servers that cannot choose one themselves.
package enum FreePort {
    private static let given = Watched<Set<Int>>([])

    /// Returns a port on which no process listens now, and another one each time: a server listens some time after it was
    /// given its port, and some servers have several. The port is below the range that the system gives to outgoing
    /// connections, so that it stays free for a server that is stopped and started again.
    package static func find() throws -> Int {
        for _ in 0..<200 {
            let port = Int.random(in: 18_000..<32_000)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { close(descriptor) }
            guard LoopbackAddress.bind(descriptor, port: port) == 0 else { continue }
            if self.given.change({ $0.insert(port).inserted }) { return port }
        }
        throw TestFailure("no free port was found")
    }
}
