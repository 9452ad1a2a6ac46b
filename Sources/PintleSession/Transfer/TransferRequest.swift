// SPDX-License-Identifier: Apache-2.0

package import NIOCore
package import PintleMessage

/// A request to be transferred, with its destination and time limits.
package struct TransferRequest: Sendable {
    /// The source of the body's bytes.
    package enum Body: Sendable {
        /// No body.
        case none
        /// Bytes in memory; such a request can be sent again.
        case bytes(ByteBuffer)
        /// Bytes that arrive while the transfer runs; without a length they are sent chunked.
        case stream(length: UInt64?)

        /// The number of bytes; nil if there is no body, or it is unknown.
        var length: UInt64? {
            switch self {
            case .none: nil
            case .bytes(let bytes): UInt64(bytes.readableBytes)
            case .stream(let length): length
            }
        }
    }

    /// The route of a request.
    package enum Way: Sendable {
        /// The route of the session's configuration.
        case configured
        /// A direct connection to the origin.
        case direct
        /// Through a proxy, whatever its exceptions are.
        case by(ProxyLink)
    }

    /// A case-sensitive token.
    package var method: String
    /// http or https.
    package var scheme: Scheme
    /// The host to connect to; its certificate is verified.
    package var authority: Authority
    /// The request target as it goes on the wire, beginning with `/`, or `*`.
    package var path: String
    /// The header section without Host, framing and hop-by-hop fields; they are written by the transfer.
    package var fields: Fields
    /// The body.
    package var body: Body
    /// The longest time for resolving, connecting and the TLS handshake together. Default 10 s.
    package var connectTimeout: TimeAmount
    /// The longest silence of the upstream while it must send something. Default 60 s.
    package var timeout: TimeAmount
    /// The longest silence within a response. Default nil: ``timeout``.
    package var bodyTimeout: TimeAmount?
    /// The longest silence within event streams and gRPC. Default nil: as within other responses.
    package var streamTimeout: TimeAmount?
    /// The configuration key of these limits, for error messages. Default nil: none.
    package var timeoutKey: String?
    /// The longest time for looking up a name. Default nil: ``connectTimeout``.
    package var lookupTimeout: TimeAmount?
    /// True if only a connection is wanted, which is handed over: for tunnels. HTTP/2 is not offered on it.
    package var connectOnly = false
    /// The protocols that the origin may switch the connection to (RFC 9110 §7.8), as the value of Upgrade. Such a
    /// request has its own connection, and uses a tunnel if a proxy would otherwise forward it. Default nil: none.
    package var upgrade: String?
    /// True if the recipient of the response accepts trailers (RFC 9110 §10.1.4). Default: unknown, so false.
    package var takesTrailers = false
    /// Default: the route of the session's configuration.
    package var way = Way.configured
    /// The mark of the connection's packets. Default nil: that of the session's configuration.
    package var serviceType: ServiceType?
    /// The network interface of the connection. Default nil: that of the session's configuration.
    package var interface: String?
    /// The fields of a CONNECT to a proxy, instead of the proxy's own.
    package var connectFields: Fields?
    /// The client that asks; the limits per client keep one client from blocking a host's connections, or name lookups,
    /// for others. Default nil: the program itself.
    package var client: TransferClient?
    /// The client's rights to addresses. Default: those of every client.
    package var rights = ClientRights.none
    /// The owner of connections on which its client has logged in. Default nil: none, so that such connections are used
    /// once.
    package var owner: ConnectionOwner?
    /// True if the wait for one of the host's connections counts against ``connectTimeout``. By default it may last as
    /// long as necessary.
    package var limitsWaiting = false

    /// Something beside the request for the opener of its stream; a transfer does not look at it. Default nil.
    package var attachment: (any TransferAttachment)?

    /// True if it may be sent once more, over a new connection, if a kept one turns out to be closed before any byte of
    /// a response. A proxy must not do so with a method that is not idempotent (RFC 9110 §9.2.2).
    package var isRepeatable = true
    /// The retries. Default one, if a kept connection turns out to be closed.
    package var retries = TransferRetries()

    /// Makes a request.
    package init(
        method: String, scheme: Scheme, authority: Authority, path: String, fields: Fields = Fields(),
        body: Body = .none, connectTimeout: TimeAmount = .seconds(10), timeout: TimeAmount = .seconds(60)
    ) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.fields = fields
        self.body = body
        self.connectTimeout = connectTimeout
        self.timeout = timeout
    }
}

/// Something that accompanies a request on its way to the transfer.
package protocol TransferAttachment: AnyObject, Sendable {}

extension TransferRequest {
    /// The place of a request that was moved away.
    package static let none = TransferRequest(
        method: "", scheme: .http, authority: Authority(host: "", port: 0), path: "")

    /// True if a connection is made for the request alone.
    var wantsConnection: Bool { self.connectOnly || self.upgrade != nil }
}

/// Holds a request, so that a reader copies only the field that it needs: to copy all of them would cost as much as parsing its
/// head.
final class AskedRequest: Sendable {
    let request: TransferRequest

    init(_ request: consuming TransferRequest) { self.request = consume request }

    static let none = AskedRequest(TransferRequest.none)
}
