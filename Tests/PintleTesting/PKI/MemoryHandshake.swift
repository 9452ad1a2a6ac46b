// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL
package import PintleTrust

/// Performs real TLS between two ends in one process, over memory in place of a socket.
package enum MemoryHandshake {
    /// The outcome of a handshake for the client.
    package struct Outcome: Sendable {
        package let succeeded: Bool
        /// OpenSSL's `X509_V_…` code as the client keeps it; 0 is `X509_V_OK`.
        package let verifyResult: Int
        /// The client's error on failure.
        package let clientError: String?
        /// The server's error on failure, which shows the client's alert.
        package let serverError: String?
        /// The client's certificates, leaf first, as the server saw them.
        package let clientChain: [Certificate]
    }

    /// Performs one handshake with a fresh client context.
    ///
    /// - Parameters:
    ///   - chain: the certificates that the server sends, leaf first; the key is always that of `identity`.
    ///   - authorities: the issuers of client certificates that the server demands and names; nil asks for none.
    ///   - configure: receives the client's `SSL_CTX *`, as libcurl's context callback does.
    package static func run(
        server identity: TestIdentity, sending chain: [Certificate]? = nil, serverName: String? = nil,
        demanding authorities: [Certificate]? = nil, configure: (OpaquePointer) throws -> Void
    ) throws -> Outcome {
        let client = try ClientContext()
        try configure(client.pointer)
        return try client.connect(server: identity, sending: chain, serverName: serverName, demanding: authorities)
    }

    /// An owned client `SSL_CTX *`, for more than one handshake.
    package final class ClientContext {
        package let pointer: OpaquePointer

        package init() throws {
            guard let made = SSL_CTX_new(TLS_client_method()) else { throw TestPKIError("SSL_CTX_new") }
            self.pointer = made
        }

        deinit {
            SSL_CTX_free(self.pointer)
        }

        /// True if the client refuses renegotiation on an open connection.
        package var refusesRenegotiation: Bool {
            SSL_CTX_get_options(self.pointer) & pintle_ssl_op_no_renegotiation() != 0
        }

        /// Limits handshakes to TLS 1.2, in which a client sends its certificate at another point than in TLS 1.3.
        package func limitToTLS12() {
            pintle_ssl_ctx_set_newest_version(self.pointer, TLS1_2_VERSION)
        }

        /// Refuses short keys, including the client's own; 5 is the highest level.
        package func demandSecurityLevel(_ level: Int) {
            SSL_CTX_set_security_level(self.pointer, CInt(level))
        }

        /// Refuses servers whose certificates the context's own store does not verify.
        package func demandTrust() { SSL_CTX_set_verify(self.pointer, SSL_VERIFY_PEER, nil) }

        /// Adds an anchor to the context's own store, as libcurl does with its CA file.
        package func addAnchor(_ certificate: Certificate) throws {
            let parsed = try MintRequest.parse(certificate.der)
            defer { X509_free(parsed) }
            guard X509_STORE_add_cert(SSL_CTX_get_cert_store(self.pointer), parsed) == 1 else {
                throw TestPKIError("X509_STORE_add_cert")
            }
        }

        /// Performs one handshake.
        ///
        /// - Parameters:
        ///   - chain: the certificates that the server sends, leaf first; the key is always that of `identity`.
        ///   - leaf: DER that the server sends in place of its certificate; the key must fit.
        ///   - authorities: the issuers of client certificates that the server demands and names; nil asks for none.
        ///   - status: an OCSP response that the server staples for clients that ask for one.
        package func connect(
            server identity: TestIdentity, sending chain: [Certificate]? = nil, leaf: [UInt8]? = nil,
            serverName: String? = nil, demanding authorities: [Certificate]? = nil, stapling status: [UInt8]? = nil
        ) throws -> Outcome {
            let server = try ServerContext(
                identity, leaf: leaf ?? identity.certificate.der, sending: chain ?? identity.chain)
            if let authorities { try server.demandClient(of: authorities) }
            return try withExtendedLifetime((self, server)) {
                if status != nil { pintle_ssl_ctx_answer_status(server.pointer) { _, _ in SSL_TLSEXT_ERR_OK } }
                return try shakeHands(
                    client: self.pointer, server: server.pointer, serverName: serverName, stapling: status)
            }
        }
    }

    /// An owned server `SSL_CTX *`.
    final class ServerContext {
        let pointer: OpaquePointer

        init(_ identity: TestIdentity, leaf: [UInt8], sending chain: [Certificate]) throws {
            guard let made = SSL_CTX_new(TLS_server_method()) else { throw TestPKIError("SSL_CTX_new") }
            self.pointer = made
            guard SSL_CTX_use_certificate_ASN1(made, CInt(leaf.count), leaf) == 1 else {
                throw TestPKIError("SSL_CTX_use_certificate_ASN1")
            }
            let key = try TestKey(of: identity)
            let isUsed = withExtendedLifetime(key) { SSL_CTX_use_PrivateKey(made, key.pointer) == 1 }
            guard isUsed else { throw TestPKIError("SSL_CTX_use_PrivateKey") }
            for certificate in chain.dropFirst() {
                let parsed = try MintRequest.parse(certificate.der)
                // Owns the certificate if it succeeds.
                guard pintle_ssl_ctx_add_chain_certificate(made, parsed) == 1 else {
                    X509_free(parsed)
                    throw TestPKIError("SSL_CTX_add0_chain_cert")
                }
            }
        }

        deinit {
            SSL_CTX_free(self.pointer)
        }

        func demandClient(of authorities: [Certificate]) throws {
            SSL_CTX_set_verify(self.pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
            for authority in authorities {
                let parsed = try MintRequest.parse(authority.der)
                defer { X509_free(parsed) }
                guard X509_STORE_add_cert(SSL_CTX_get_cert_store(self.pointer), parsed) == 1,
                    SSL_CTX_add_client_CA(self.pointer, parsed) == 1
                else { throw TestPKIError("SSL_CTX_add_client_CA") }
            }
        }
    }
}

private func shakeHands(
    client clientContext: OpaquePointer, server serverContext: OpaquePointer, serverName: String?,
    stapling status: [UInt8]?
) throws -> MemoryHandshake.Outcome {
    ERR_clear_error()
    guard let client = SSL_new(clientContext) else { throw TestPKIError("SSL_new") }
    defer { SSL_free(client) }
    guard let server = SSL_new(serverContext) else { throw TestPKIError("SSL_new") }
    defer { SSL_free(server) }
    var clientEnd: OpaquePointer?
    var serverEnd: OpaquePointer?
    guard BIO_new_bio_pair(&clientEnd, 1 << 16, &serverEnd, 1 << 16) == 1 else {
        throw TestPKIError("BIO_new_bio_pair")
    }
    // From here on each SSL owns its end.
    SSL_set_bio(client, clientEnd, clientEnd)
    SSL_set_bio(server, serverEnd, serverEnd)
    if let serverName { pintle_ssl_set_server_name(client, serverName) }
    if let status { pintle_ssl_staple(server, status, status.count) }
    SSL_set_connect_state(client)
    SSL_set_accept_state(server)

    var clientState = EndState.going
    var serverState = EndState.going
    // A handshake takes at most two round trips; a round without progress would be a bug of the harness.
    for _ in 0..<10 where clientState.isGoing || (serverState.isGoing && clientState.error == nil) {
        clientState = advance(client, clientState)
        serverState = advance(server, serverState)
    }
    return MemoryHandshake.Outcome(
        succeeded: clientState.isDone && serverState.isDone, verifyResult: SSL_get_verify_result(client),
        clientError: clientState.error, serverError: serverState.error, clientChain: try clientChain(seenBy: server))
}

private func clientChain(seenBy server: OpaquePointer) throws -> [Certificate] {
    let signers = SSL_get_peer_cert_chain(server)
    let shown = (0..<max(0, pintle_x509_stack_count(signers))).map { pintle_x509_stack_value(signers, $0) }
    return try ([SSL_get0_peer_certificate(server)] + shown).compactMap { $0 }.map {
        try Certificate(der: MintRequest.encode($0))
    }
}

private enum EndState {
    case going, done
    case failed(String)

    var isGoing: Bool { if case .going = self { true } else { false } }
    var isDone: Bool { if case .done = self { true } else { false } }
    var error: String? { if case .failed(let error) = self { error } else { nil } }
}

private func advance(_ end: OpaquePointer, _ state: EndState) -> EndState {
    guard state.isGoing else { return state }
    ERR_clear_error()
    let result = SSL_do_handshake(end)
    guard result != 1 else { return .done }
    switch SSL_get_error(end, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .going
    default: return .failed(TestPKIError("SSL_do_handshake").message)
    }
}
