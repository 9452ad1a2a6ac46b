// SPDX-License-Identifier: Apache-2.0

internal import CPintleOpenSSL

/// State shared by all TLS connections of a listening port: the identity shown to clients, the versions and the protocols.
///
/// One context serves any number of connections, on any thread. Its tickets can be resumed with it alone: after it is
/// replaced, clients need a full handshake. ``TLSConnection`` makes connections from it, and may give them another identity
/// before the handshake (`ClientIdentity.isInstalled(onConnection:)`).
package final class TLSServerContext: @unchecked Sendable {
    // Why @unchecked holds: the context is prepared in `init` and never changed; OpenSSL counts its references, and keys
    // its tickets, under locks of its own.
    let pointer: OpaquePointer
    /// The identity shown to clients; nil if each connection chooses its own.
    package let identity: ClientIdentity?
    /// Kept alive for the callback: connections keep this object.
    private let protocols: ProtocolList

    /// - Parameters:
    ///   - identity: the server's certificate with its signers and its key.
    ///   - protocols: the supported protocols by their ALPN names (RFC 7301), the best first; 1 to 255 bytes each. A client
    ///     that only offers others is refused.
    /// - Throws: `.unreadableIdentity` if OpenSSL does not accept the identity, for instance because its key is too short.
    package convenience init(identity: ClientIdentity, protocols: [String]) throws(TrustError) {
        try self.init(showing: identity, protocols)
    }

    /// Makes a context for connections that choose their identity after reading the name that the client wants
    /// (``TLSConnection/init(_:over:behind:choosing:)``).
    ///
    /// - Parameter protocols: the supported protocols, as above.
    /// - Throws: `.library` if OpenSSL fails.
    package convenience init(protocols: [String]) throws(TrustError) { try self.init(showing: nil, protocols) }

    private init(showing identity: ClientIdentity?, _ protocols: [String]) throws(TrustError) {
        OpenSSLErrors.clear()
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw OpenSSLErrors.failure(of: "SSL_CTX_new") }
        let list = ProtocolList(protocols)
        SSL_CTX_set_options(context, pintle_ssl_server_options())
        // No session cache, which would grow; tickets do the same for clients.
        pintle_ssl_ctx_prepare_server(context)
        pintle_ssl_ctx_ask_server_name(context, judgeServerName)
        SSL_CTX_set_alpn_select_cb(context, chooseProtocol, Unmanaged.passUnretained(list).toOpaque())
        guard pintle_ssl_ctx_set_oldest_version(context, TLSVersion.tls12.openSSLNumber) == 1 else {
            SSL_CTX_free(context)
            throw OpenSSLErrors.failure(of: "SSL_CTX_set_min_proto_version")
        }
        guard identity?.isInstalled(onContext: context) != false else {
            let cause = OpenSSLErrors.drain()
            SSL_CTX_free(context)
            throw TrustError(
                code: .unreadableIdentity,
                message:
                    "the certificate \(identity?.chain.first?.label ?? ""): OpenSSL does not accept it for a server; "
                    + "have one issued with a stronger key",
                cause: cause)
        }
        self.pointer = context
        self.identity = identity
        self.protocols = list
    }

    deinit {
        SSL_CTX_free(self.pointer)
    }
}

/// Protocols in their form on the wire for ALPN, each after a byte with its length, at an address that C may keep.
private final class ProtocolList: @unchecked Sendable {
    // Why @unchecked holds: the bytes are written in `init` only.
    let bytes: UnsafeMutableBufferPointer<UInt8>

    init(_ names: [String]) {
        let bytes = names.flatMap { [UInt8(clamping: $0.utf8.count)] + $0.utf8 }
        self.bytes = .allocate(capacity: bytes.count)
        _ = self.bytes.initialize(from: bytes)
    }

    deinit { self.bytes.deallocate() }
}

/// OpenSSL's `SSL_CTX_alpn_select_cb_func`.
private func chooseProtocol(
    connection: OpaquePointer?, chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    length: UnsafeMutablePointer<UInt8>?, offered: UnsafePointer<UInt8>?, offeredLength: CUnsignedInt,
    list: UnsafeMutableRawPointer?
) -> CInt {
    guard let list, let chosen, let length, let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let own = Unmanaged<ProtocolList>.fromOpaque(list).takeUnretainedValue().bytes
    // Points into `own`; ignored if there is no match.
    var start: UnsafeMutablePointer<UInt8>?
    let result = SSL_select_next_proto(
        &start, length, own.baseAddress, CUnsignedInt(own.count), offered, offeredLength)
    guard result == OPENSSL_NPN_NEGOTIATED, let start else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    chosen.pointee = UnsafePointer(start)
    return SSL_TLSEXT_ERR_OK
}
