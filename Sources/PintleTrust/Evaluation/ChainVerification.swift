// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// One run of `X509_verify_cert`: from a leaf to an anchor of one store, for a TLS server.
struct ChainVerification {
    /// OpenSSL's refusal: its code, and the certificate it stumbled over.
    struct Failure {
        let code: CInt
        let certificate: Certificate?
    }

    /// How deep a chain may be; the deepest in public use has five certificates.
    private static let maximumDepth: CInt = 16

    /// The verified chain, leaf first; empty when the verification failed.
    let chain: [Certificate]
    /// Nil when the chain is valid.
    let failure: Failure?

    /// - Parameters:
    ///   - moment: when the certificates must be valid; nil means now.
    ///   - level: OpenSSL's security level, for keys and digests; 1 refuses MD5, SHA-1 and RSA below 1024 bits.
    /// - Throws: `.library` when OpenSSL cannot even begin.
    init(
        of peer: PeerChain, anchors: TrustStore, at moment: UnixTime?, level: CInt
    ) throws(TrustError) {
        OpenSSLErrors.clear()
        guard let context = X509_STORE_CTX_new() else { throw OpenSSLErrors.failure(of: "X509_STORE_CTX_new") }
        defer { X509_STORE_CTX_free(context) }
        guard X509_STORE_CTX_init(context, anchors.pointer, peer.leaf.pointer, peer.untrusted) == 1,
            // Sets the purpose: a certificate for mail or code does not serve.
            X509_STORE_CTX_set_default(context, "ssl_server") == 1,
            let parameters = X509_STORE_CTX_get0_param(context)
        else { throw OpenSSLErrors.failure(of: "X509_STORE_CTX_init") }
        X509_VERIFY_PARAM_set_auth_level(parameters, level)
        X509_VERIFY_PARAM_set_depth(parameters, ChainVerification.maximumDepth)
        if let moment { X509_VERIFY_PARAM_set_time(parameters, time_t(moment.seconds)) }

        if X509_verify_cert(context) == 1 {
            let chain = X509View.all(in: X509_STORE_CTX_get0_chain(context))
            self.chain = chain.compactMap(Certificate.init)
            // A verified certificate that cannot be read would hide from the pins: refuse the chain.
            let isWhole = !chain.isEmpty && self.chain.count == chain.count
            self.failure = isWhole ? nil : Failure(code: X509_V_ERR_UNSPECIFIED, certificate: nil)
        } else {
            let code = X509_STORE_CTX_get_error(context)
            let current = X509_STORE_CTX_get_current_cert(context)
            self.chain = []
            self.failure = Failure(
                code: code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code,
                certificate: current.flatMap { Certificate(X509View(pointer: $0)) })
        }
    }
}
