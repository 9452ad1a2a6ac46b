// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Ports for servers that cannot choose one themselves.
package enum FreePort {
    /// A port on which nobody listens now. It lies below the range that the system gives to outgoing connections, so
    /// that it stays free for a server that is stopped and started again.
    package static func find() throws -> Int {
        for _ in 0..<200 {
            let port = Int.random(in: 18_000..<32_000)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { close(descriptor) }
            if LoopbackAddress.bind(descriptor, port: port) == 0 { return port }
        }
        throw TestFailure("no free port was found")
    }
}
