// SPDX-License-Identifier: Apache-2.0

/// A real stunnel: accepts TLS on its own port, and forwards the bytes in plaintext to another port of this machine.
package final class TLSTerminator: Sendable {
    /// The port on which it listens, on 127.0.0.1.
    package let port: Int
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// Starts stunnel and waits until it listens.
    ///
    /// - Parameters:
    ///   - identity: the identity of the TLS server.
    ///   - port: the port to which bytes are forwarded.
    ///   - ownPort: the port on which it listens; a free port unless given.
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
        // stunnel prints this after its sockets listen.
        try self.process.waitForLine("its configuration") { $0.contains("Configuration successful") }
    }
}
