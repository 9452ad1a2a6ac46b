// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// Servers that ask who the proxy is: `client_certificate`.
struct ClientCertificateTests {
    let folder: TemporaryFolder
    let site: PrivateSite

    init() throws {
        self.folder = try TemporaryFolder()
        let pki = TestPKI()
        let staff = try pki.root("Staff")
        let authorities = try self.folder.write(staff.certificatePEM, to: "staff.pem")
        self.site = try PrivateSite(
            locations: """
                ssl_verify_client on;
                ssl_client_certificate \(authorities);
                location = /who { return 200 $ssl_client_s_dn; }

                """)
        _ = try self.site.folder.write(pki.client("alice", signedBy: staff), as: "alice")
    }

    @Test func `the policy's certificate is shown, and without it the server refuses`() throws {
        let shown = try self.site.pintle(
            "roots: [root.pem], client_certificate: {certificate: alice.pem, key: alice.key}")
        let result = try self.site.fetch(shown, "/who")
        #expect(result.status == 200 && result.text == "CN=alice", "\(result)")
        let none = try self.site.pintle("roots: [root.pem]")
        #expect(try self.site.fetch(none, "/who").status == 400)
    }

    /// Asks for a certificate when it has read a request, and answers with the subject of the one that it gets.
    private static let askingLate = """
        import select, socket, ssl, sys
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        context.load_verify_locations(sys.argv[3])
        context.verify_mode, context.post_handshake_auth = ssl.CERT_REQUIRED, True
        server = socket.create_server(("127.0.0.1", 0))
        sys.stdout.write(str(server.getsockname()[1]) + chr(10))
        sys.stdout.flush()
        while True:
            stream = context.wrap_socket(server.accept()[0], server_side=True)
            stream.recv(10000)
            stream.verify_client_post_handshake()
            stream.write(b"HTTP/1.1 102 Wait\\r\\n\\r\\n")
            stream.setblocking(False)
            while not stream.getpeercert():
                select.select([stream], [], [])
                try: stream.read(1)
                except ssl.SSLWantReadError: pass
            stream.setblocking(True)
            name = stream.getpeercert()["subject"][0][0][1].encode()
            stream.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\n" + name)
        """

    @Test func `LOOK-94 a server that asks after the handshake is shown the certificate`() throws {
        let files = try self.folder.write(self.site.leaf, as: "site")
        let chain = try self.folder.write(PEMText.certificates(self.site.leaf.chain), to: "chain.pem")
        let server = try ChildProcess(
            "/usr/bin/python3", ["-c", Self.askingLate, chain, files.key, "\(self.folder.path)/staff.pem"])
        let port = try server.waitForLine("the server's port") { Int($0) != nil }
        let pintle = try PintleProcess(
            """
            trust: {site: {hosts: [localhost], roots: [root.pem], client_certificate: {certificate: alice.pem, key: alice.key}}}
            routes: [{name: up, match: {hosts: [site.test]}, upstream: "https://localhost:\(port)"}]
            """, folder: self.site.folder)
        let result = try self.site.fetch(pintle)
        #expect(result.status == 200 && result.text == "alice", "\(result)")
    }

    @Test(arguments: [
        ("{key: alice.key}", "the key \"certificate\" is missing"),
        ("{certificate: missing.pem}", "missing.pem"),
        ("{certificate: alice.pem}", "alice.pem"),
        ("{certificate: alice.pem, key: leaf.pem}", "leaf.pem"),
    ])
    func `one that cannot be used is refused with its place`(value: String, message: String) throws {
        let file = try self.site.folder.write(
            "version: 1\ntrust:\n  site:\n    client_certificate: \(value)\n", to: "bad.yaml")
        let check = try PintleProcess.run(["check", "-c", file])
        #expect(check.exitCode == 3, "\(check.lines)")
        #expect(check.errors.contains { $0.contains("bad.yaml:4:") && $0.contains(message) }, "\(check.lines)")
    }
}
