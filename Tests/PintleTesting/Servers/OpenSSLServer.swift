// SPDX-License-Identifier: Apache-2.0

internal import PintleTrust

/// A real `openssl s_server` on its own port: for TLS that other servers refuse to speak.
package final class OpenSSLServer: Sendable {
    /// The port on which it listens, on ``address``.
    package let port: Int
    package let address: String
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// Starts the server and waits until it listens.
    ///
    /// - Parameters:
    ///   - identities: the server's identities: one, or two with keys of different kinds.
    ///   - named: an identity for clients that ask for this name.
    ///   - port: 0 for one that the system chooses.
    ///   - arguments: further arguments, such as `-tls1_2`.
    ///   - network: the network that it runs in; the test's own network unless given.
    package init(
        _ identities: [TestIdentity], named: (name: String, identity: TestIdentity)? = nil,
        address: String = "127.0.0.1", port: Int = 0, arguments: [String] = [], in network: NetworkNamespace? = nil
    ) throws {
        self.address = address
        self.folder = try TemporaryFolder()
        var words = ["s_server", "-accept", "\(address):\(port)", "-www"]
        for (identity, prefix) in zip(identities, ["", "d"]) {
            let files = try self.folder.write(identity, as: "\(prefix)site")
            words += ["-\(prefix)cert", files.certificate, "-\(prefix)key", files.key]
            let signers = PEMText.certificates(Array(identity.chain.dropFirst()))
            if !signers.isEmpty {
                words += ["-\(prefix)cert_chain", try self.folder.write(signers, to: "\(prefix)signers.pem")]
            }
        }
        if let named {
            let files = try self.folder.write(named.identity, as: "named")
            words += ["-servername", named.name, "-cert2", files.certificate, "-key2", files.key]
        }
        self.process = try ChildProcess("/usr/bin/openssl", words + arguments, in: network)
        let line = try self.process.waitForLine("its address") { $0.hasPrefix("ACCEPT") }
        // s_server prints the address only if it was not given a port.
        guard let port = port > 0 ? port : line.split(separator: ":").last.flatMap({ Int($0) }) else {
            throw TestFailure("s_server says \"\(line)\"")
        }
        self.port = port
    }
}
