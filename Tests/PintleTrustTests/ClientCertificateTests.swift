// SPDX-License-Identifier: Apache-2.0

import PintleTesting
import PintleTrust
import Testing

/// The certificates that a client sends in a real TLS handshake.
struct ClientCertificateTests {
    private let site: Site
    private let folder: TemporaryFolder
    private let staff: TestIdentity
    private let alice: TestIdentity
    private let bob: TestIdentity

    init() throws {
        self.site = try Site()
        self.folder = try TemporaryFolder()
        self.staff = try self.site.pki.root("Staff Root")
        let office = try self.site.pki.intermediate("Office", signedBy: self.staff)
        self.alice = try self.site.pki.client("alice", signedBy: office)
        self.bob = try self.site.pki.client("bob", signedBy: self.staff)
    }

    @Test(arguments: [false, true])
    func `an identity of the context is shown with its signers to a server that asks`(isTLS12: Bool) throws {
        let client = try self.context(isTLS12: isTLS12)
        try self.identity(self.alice).install(on: client.pointer)
        let outcome = try self.connect(client)
        #expect(outcome.succeeded)
        // The root is the server's own, and comes from its store, not from the client.
        #expect(outcome.clientChain == self.alice.chain)
    }

    @Test func `an identity from a PKCS#12 file is as good`() throws {
        let client = try self.context()
        let file = try self.folder.write(self.alice.pkcs12(password: "secret"), to: "alice.p12")
        try ClientIdentity(pkcs12File: file, password: "secret").install(on: client.pointer)
        let outcome = try self.connect(client)
        #expect(outcome.succeeded)
        #expect(outcome.clientChain == self.alice.chain)
    }

    @Test func `a signer that the file does not list is not sent, even where the context knows it`() throws {
        let client = try self.context()
        for issuer in self.alice.issuers { try client.addAnchor(issuer) }
        let text = self.alice.certificatePEM + self.alice.keyPEM
        let file = try self.folder.write(text, to: "alone.pem")
        try ClientIdentity(certificateFile: file).install(on: client.pointer)
        let outcome = try client.connect(
            server: self.site.leaf, demanding: self.alice.issuers)
        #expect(outcome.succeeded)
        #expect(outcome.clientChain == [self.alice.certificate])
    }

    @Test(arguments: [false, true])
    func `a client without an identity is refused by a server that demands one`(isTLS12: Bool) throws {
        let outcome = try self.connect(self.context(isTLS12: isTLS12))
        #expect(!outcome.succeeded)
        #expect(outcome.serverError?.contains("peer did not return a certificate") == true)
        #expect(outcome.clientChain.isEmpty)
    }

    @Test func `an identity is shown to nobody who does not ask`() throws {
        let client = try self.context { _ in
            Issue.record("the server did not ask")
            return nil
        }
        try self.identity(self.alice).install(on: client.pointer)
        let outcome = try client.connect(server: self.site.leaf, serverName: Site.host)
        #expect(outcome.succeeded)
        #expect(outcome.clientChain.isEmpty)
    }

    @Test(arguments: [false, true])
    func `an identity can be chosen by host and by the authorities that the server names`(isTLS12: Bool) throws {
        let (alice, bob) = (try self.identity(self.alice), try self.identity(self.bob))
        let other = try self.site.pki.root("Other Root")
        let requests = Requests()
        let client = try self.context(isTLS12: isTLS12) {
            requests.all.append($0)
            return $0.authorities.contains("CN=Other Root") ? alice : bob
        }
        #expect(try self.connect(client).clientChain == self.bob.chain)
        let second = try client.connect(
            server: self.site.leaf, demanding: [self.staff.certificate, other.certificate])
        #expect(second.succeeded)
        #expect(second.clientChain == self.alice.chain)
        #expect(requests.all.map(\.host) == [Site.host, Site.host])
        #expect(requests.all.map(\.authorities) == [["CN=Staff Root"], ["CN=Staff Root", "CN=Other Root"]])
    }

    @Test(arguments: [false, true])
    func `an answer of no identity is used as it is: the context's own is not shown`(isTLS12: Bool) throws {
        let client = try self.context(isTLS12: isTLS12) { _ in nil }
        try self.identity(self.alice).install(on: client.pointer)
        let outcome = try self.connect(client)
        #expect(!outcome.succeeded)
        #expect(outcome.serverError?.contains("peer did not return a certificate") == true)
    }

    @Test func `a chosen identity is shown in place of the context's`() throws {
        let bob = try self.identity(self.bob)
        let client = try self.context { _ in bob }
        try self.identity(self.alice).install(on: client.pointer)
        #expect(try self.connect(client).clientChain == self.bob.chain)
    }

    @Test func `the server is judged before a client shows itself`() throws {
        let client = try MemoryHandshake.ClientContext()
        try TrustEvaluator(policy: SecurityPolicy(pinning: .none, roots: .only([self.staff.certificate]))).install(
            on: client.pointer, host: Site.host, report: { _ in },
            identity: { _ in
                Issue.record("the server is not trusted")
                return nil
            })
        try self.identity(self.alice).install(on: client.pointer)
        let outcome = try self.connect(client)
        #expect(!outcome.succeeded)
        #expect(outcome.clientChain.isEmpty)
    }

    @Test func `a second policy on a context takes the first one's choice of identity away`() throws {
        let alice = try self.identity(self.alice)
        let client = try self.context { _ in alice }
        try self.identity(self.bob).install(on: client.pointer)
        #expect(try self.connect(client).clientChain == self.alice.chain)
        try TrustEvaluator(policy: self.site.policy()).install(on: client.pointer, host: Site.host) { _ in }
        #expect(try self.connect(client).clientChain == self.bob.chain)
    }

    @Test func `contexts share an identity and keep it as long as they need it`() throws {
        let clients = [try self.context(), try self.context()]
        do {
            let identity = try self.identity(self.alice)
            for client in clients { try identity.install(on: client.pointer) }
        }
        for client in clients + clients {
            #expect(try self.connect(client).clientChain == self.alice.chain)
        }
    }

    @Test func `an identity that the security level forbids is refused`() throws {
        let weak = try self.site.pki.client("weak", signedBy: self.staff, key: .rsa(bits: 2048))
        let identity = try self.identity(weak)
        let client = try self.context()
        client.demandSecurityLevel(4)
        let error = #expect(throws: TrustError.self) { try identity.install(on: client.pointer) }
        #expect(error?.code == .unreadableIdentity)
        #expect(
            error?.message == "the client certificate \"CN=weak\": OpenSSL does not accept it; "
                + "have one issued with a stronger key")
        #expect(error?.cause?.contains("the key is too short") == true)
    }

    @Test func `a chosen identity that the security level forbids ends the handshake`() throws {
        let weak = try self.identity(
            self.site.pki.client("weak", signedBy: self.staff, key: .rsa(bits: 2048)))
        let client = try self.context { _ in weak }
        // Level 3 wants 128 bits, which P-256 has and RSA with 2048 bits has not.
        client.demandSecurityLevel(3)
        let outcome = try self.connect(client)
        #expect(!outcome.succeeded)
        #expect(outcome.clientError?.contains("ee key too small") == true)
        #expect(outcome.clientChain.isEmpty)
    }

    @Test func `a real server sees whom it asked for`() throws {
        let authorities = try self.folder.write(self.staff.certificatePEM, to: "staff.pem")
        let nginx = try NginxOrigin(
            https: [self.site.leaf],
            locations: """
                ssl_client_certificate \(authorities);
                ssl_verify_client on;
                ssl_verify_depth 4;
                location = /who { return 200 "$ssl_client_verify $ssl_client_s_dn"; }

                """)
        let request = "GET /who HTTP/1.1\r\nHost: \(Site.host)\r\nConnection: close\r\n\r\n"
        let requests = Requests()
        let identity = try self.identity(self.alice)
        let client = try self.context {
            requests.all.append($0)
            return requests.all.count == 1 ? identity : nil
        }
        let known = try client.exchange(request, port: nginx.httpsPort)
        #expect(known.hasPrefix("HTTP/1.1 200 "))
        #expect(known.hasSuffix("\r\n\r\nSUCCESS CN=alice"))
        let unknown = try client.exchange(request, port: nginx.httpsPort)
        #expect(unknown.hasPrefix("HTTP/1.1 400 "))
        #expect(requests.all.map(\.authorities) == [["CN=Staff Root"], ["CN=Staff Root"]])
    }

    /// One thread performs the handshakes and asks, so no lock is needed.
    private final class Requests {
        var all: [ClientCertificateRequest] = []
    }

    /// A client that trusts the site.
    private func context(
        isTLS12: Bool = false, identity: ((ClientCertificateRequest) -> ClientIdentity?)? = nil
    ) throws -> MemoryHandshake.ClientContext {
        let client = try MemoryHandshake.ClientContext()
        if isTLS12 { client.limitToTLS12() }
        try TrustEvaluator(policy: self.site.policy()).install(
            on: client.pointer, host: Site.host, report: { _ in }, identity: identity)
        return client
    }

    /// Shakes hands with the site, which demands a client of the staff.
    private func connect(_ client: MemoryHandshake.ClientContext) throws -> MemoryHandshake.Outcome {
        try client.connect(server: self.site.leaf, serverName: Site.host, demanding: [self.staff.certificate])
    }

    private func identity(_ identity: TestIdentity) throws -> ClientIdentity {
        let files = try self.folder.write(identity, as: "client")
        return try ClientIdentity(certificateFile: files.certificate, keyFile: files.key)
    }
}
