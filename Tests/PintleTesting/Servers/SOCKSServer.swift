// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A real microsocks on its own port: a SOCKS 5 proxy that connects to any destination.
package final class SOCKSServer: Sendable {
    /// The port on which it listens, on 127.0.0.1.
    package let port: Int
    private let process: ChildProcess

    /// Starts the server and waits until it listens.
    ///
    /// - Parameter credential: the credential that clients must send; nil admits all clients.
    package init(demanding credential: (user: String, password: String)? = nil) throws {
        self.port = try FreePort.find()
        let words = credential.map { ["-u", $0.user, "-P", $0.password] } ?? []
        self.process = try ChildProcess("/usr/bin/microsocks", ["-i", "127.0.0.1", "-p", "\(self.port)"] + words)
        // It prints nothing before its first client.
        try Patience.wait(for: "microsocks to listen") {
            guard self.process.exitCode == nil else { throw TestFailure("microsocks ends: \(self.process.lines)") }
            return (try? SocketStream(port: self.port)) != nil
        }
    }

    /// Waits for `count` destinations that it has connected to, and returns them as `host:port`, in order.
    package func waitForDestinations(_ count: Int) throws -> [String] {
        let lines = try self.process.waitForLines(count, "\(count) destinations") { $0.contains("connected to ") }
        return lines.map { line in line.range(of: "connected to ").map { String(line[$0.upperBound...]) } ?? "" }
    }
}
