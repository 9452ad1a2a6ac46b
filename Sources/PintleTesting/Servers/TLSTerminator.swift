// SPDX-License-Identifier: Apache-2.0

/// A real stunnel: TLS on a port of its own, and behind it another port of this machine in clear text.
package final class TLSTerminator: Sendable {
    /// Where it listens, on 127.0.0.1.
    package let port: Int
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// Starts it and waits until it listens.
    ///
    /// - Parameters:
    ///   - identity: what it shows to clients.
    ///   - port: where to the bytes go.
    ///   - ownPort: where it listens; a free port unless given.
    package init(_ identity: TestIdentity, leadingTo port: Int, ownPort: Int? = nil) throws {
        self.folder = try TemporaryFolder()
        self.port = try ownPort ?? FreePort.find()
        let files = try self.folder.write(identity, as: "site")
        let configuration = try self.folder.write(
            """
            foreground = yes
            debug = notice
            syslog = no
            pid =
            [site]
            accept = 127.0.0.1:\(self.port)
            connect = 127.0.0.1:\(port)
            cert = \(files.certificate)
            key = \(files.key)

            """, to: "stunnel.conf")
        self.process = try ChildProcess("/usr/bin/stunnel4", [configuration])
        // It says so after its sockets listen.
        try self.process.waitForLine("its configuration") { $0.contains("Configuration successful") }
    }
}
