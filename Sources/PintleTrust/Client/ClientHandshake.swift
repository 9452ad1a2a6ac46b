// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// The client's half of one TLS handshake, without a socket: bytes in, bytes out.
///
/// No application data is sent afterwards: the handshake only finds out how a server proves its identity.
package final class ClientHandshake {
    /// The effect of the policy's verdict. A status that is stapled to the certificate is judged only if the policy is
    /// enforced.
    package enum Judgement: Sendable, Hashable {
        /// A refusal ends the handshake, as it would for a request.
        case enforced
        /// The verdict is only recorded, and the handshake continues: a refused server still shows that it has the key, and
        /// which settings it negotiates. Certificates must be valid at this moment; nil means now.
        case observed(at: UnixTime?)
    }

    /// The progress of the handshake.
    package enum State: Sendable, Hashable {
        /// More bytes from the peer are needed.
        case going
        case complete(NegotiatedTLS)
        case failed(HandshakeFailure)
    }

    /// The most bytes to receive. No handshake needs that many: OpenSSL reads 100 KiB of certificates at most.
    private static let receiveLimit = 1 << 20
    private static let longestExcerpt = 60

    package private(set) var state = State.going
    private let seen = Seen()
    private let connection: OpaquePointer
    /// Owned by `connection`, as is `output`.
    private let input: OpaquePointer
    private let output: OpaquePointer
    private var receivedCount = 0
    private var firstBytes: [UInt8] = []

    /// Results of the callbacks, which live as long as the context does.
    private final class Seen {
        var presented: [Certificate] = []
        var verdict: Verdict?
    }

    /// - Parameter host: the name that the server must prove; it is sent as the server name unless it is an address.
    /// - Throws: `.library` if OpenSSL cannot make the offer.
    package init(
        host: String, offer: HandshakeOffer, evaluator: TrustEvaluator, judgement: Judgement
    ) throws(TrustError) {
        OpenSSLErrors.clear()
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw OpenSSLErrors.failure(of: "SSL_CTX_new") }
        // The connection holds a reference of its own.
        defer { SSL_CTX_free(context) }
        try Self.prepare(context, host, offer, evaluator, judgement, self.seen)
        guard let connection = SSL_new(context) else { throw OpenSSLErrors.failure(of: "SSL_new") }
        guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
            SSL_free(connection)
            throw OpenSSLErrors.failure(of: "BIO_new")
        }
        pintle_bio_mem_is_endless(input)
        SSL_set_bio(connection, input, output)
        // RFC 6066 §3: an address is no server name, and a name has no trailing dot.
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        if IPAddressName(host: name) == nil { pintle_ssl_set_server_name(connection, name) }
        SSL_set_connect_state(connection)
        self.connection = connection
        self.input = input
        self.output = output
        self.advance()
    }

    deinit {
        SSL_free(self.connection)
    }

    private static func prepare(
        _ context: OpaquePointer, _ host: String, _ offer: HandshakeOffer, _ evaluator: TrustEvaluator,
        _ judgement: Judgement, _ seen: Seen
    ) throws(TrustError) {
        // The last verdict counts: a stapled status may replace the verdict on the chain. A verdict by hook is not the
        // policy's: it only is the `.accept` of `observed`.
        let report = { (verdict: Verdict) in
            if !verdict.decidedByHook { seen.verdict = verdict }
        }
        switch judgement {
        case .enforced:
            // Before the policy is installed, since it may demand more.
            try offer.apply(to: context)
            evaluator.install(on: context, host: host, report: report) { trust in
                seen.presented = trust.chain
                return .evaluate
            }
        case .observed(let moment):
            evaluator.install(on: context, host: host, report: report) { trust in
                seen.presented = trust.chain
                seen.verdict = evaluator.evaluateInHandshake(chain: trust.chain, host: host, at: moment ?? .now)
                return .accept
            }
            // After the policy is installed, since it may demand more than the offer that the server is to be tested with.
            try offer.apply(to: context)
        }
    }

    /// The certificates that the server sent, leaf first and unverified; empty until then, and if its certificate cannot be
    /// read.
    package var presented: [Certificate] { self.seen.presented }

    /// The policy's verdict on the server; nil until the server has sent its certificate.
    package var verdict: Verdict? { self.seen.verdict }

    /// Takes bytes that the peer sent and continues the handshake as far as they allow.
    package func receive(_ bytes: UnsafeRawBufferPointer) {
        guard self.state == .going, !bytes.isEmpty else { return }
        self.receivedCount += bytes.count
        self.firstBytes += bytes.prefix(Self.longestExcerpt - self.firstBytes.count)
        // A record is an alert or a handshake, of a protocol whose major version is 3 (RFC 8446 §5.1).
        let looksLikeTLS = [0x15, 0x16].contains(self.firstBytes[0]) && self.firstBytes.dropFirst().first ?? 3 == 3
        guard looksLikeTLS else { return self.fail(.plainText(self.firstBytes)) }
        guard self.receivedCount <= Self.receiveLimit else {
            return self.fail(.misbehaved("it sent more than \(Self.receiveLimit >> 10) KiB without an end"))
        }
        guard BIO_write(self.input, bytes.baseAddress, CInt(clamping: bytes.count)) == bytes.count else {
            return self.fail(.misbehaved("OpenSSL takes no more bytes"))
        }
        self.advance()
    }

    /// Ends the handshake if it is not complete: the peer will send no more.
    package func receiveEnd() {
        guard self.state == .going else { return }
        self.fail(.closed(afterBytes: self.receivedCount))
    }

    /// Returns the bytes that must be sent to the peer; each byte is returned once.
    package func takeOutput() -> [UInt8] {
        var start: UnsafeMutablePointer<CChar>?
        let length = pintle_bio_mem_data(self.output, &start)
        guard length > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: length)
        let count = BIO_read(self.output, &bytes, CInt(length))
        return count == length ? bytes : []
    }

    private func advance() {
        OpenSSLErrors.clear()
        let result = SSL_do_handshake(self.connection)
        if result == 1 {
            guard let negotiated = NegotiatedTLS(self.connection) else {
                return self.fail(.misbehaved("it negotiated what OpenSSL has no name for"))
            }
            self.state = .complete(negotiated)
            // Tells the peer that the connection ends here on purpose (RFC 8446 §6.1).
            SSL_shutdown(self.connection)
            return
        }
        switch SSL_get_error(self.connection, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
        default: self.fail(self.failure())
        }
    }

    private func failure() -> HandshakeFailure {
        let reason = ERR_GET_REASON(ERR_peek_error())
        let alert = reason - pintle_alert_reason_offset()
        if (1...255).contains(alert) { return .alert(TLSAlert(code: UInt8(alert))) }
        if self.seen.verdict?.isTrusted == false { return .refused }
        return .misbehaved(OpenSSLErrors.drain() ?? "OpenSSL gives no reason")
    }

    private func fail(_ failure: HandshakeFailure) {
        OpenSSLErrors.clear()
        self.state = .failed(failure)
    }
}

/// The reason why a handshake failed.
package enum HandshakeFailure: Error, Sendable, Hashable {
    /// The peer sent this alert.
    case alert(TLSAlert)
    /// The peer's bytes are not TLS; these are the first ones, at most 60.
    case plainText([UInt8])
    /// The peer closed the connection after this number of bytes.
    case closed(afterBytes: Int)
    /// The policy refused the server; the verdict says why.
    case refused
    /// The peer broke the protocol, or chose something that was not offered; the text is OpenSSL's in most cases.
    case misbehaved(String)
}
