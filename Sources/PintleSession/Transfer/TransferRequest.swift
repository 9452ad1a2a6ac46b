// SPDX-License-Identifier: Apache-2.0

public import NIOCore
package import PintleLoop
public import PintleMessage

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
    /// The owner of connections on which its client has logged in. Default nil: none, so that such connections are used
    /// once.
    package var owner: ConnectionOwner?
    /// True if the wait for one of the host's connections counts against ``connectTimeout``. By default it may last as
    /// long as necessary.
    package var limitsWaiting = false

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

extension TransferRequest {
    /// True if a connection is made for the request alone.
    var wantsConnection: Bool { self.connectOnly || self.upgrade != nil }
}

/// The measurements of a transfer. Times count from its start; nil if a phase did not happen.
public struct TransferMetrics: Sendable, Equatable {
    /// The time at which the name was resolved.
    public var nameLookup: Duration?
    /// The time at which the connection was established.
    public var connect: Duration?
    /// The time at which the TLS handshake was finished.
    public var tls: Duration?
    /// The time at which the first byte of the response arrived.
    public var firstByte: Duration?
    /// The time at which the transfer ended; zero before.
    public var total = Duration.zero
    /// True if a connection of an earlier transfer was used.
    public var reusedConnection = false
    /// The peer's address; empty if no connection was made.
    public var address = ""
    /// The number of times that the request was sent again, or that another connection was tried for it.
    public var retries = 0
    /// The version of HTTP: `1.0`, `1.1` or `2`.
    public var httpVersion = ""
    /// The version of TLS, such as `TLSv1.3`; empty without TLS.
    public var tlsVersion = ""

    /// Makes the metrics of a transfer that has not begun.
    public init() {}
}

/// Decides if an address may be dialled; asked after resolution, with the very address that would be dialled.
public protocol AddressJudge: Sendable {
    /// Returns nil to allow `address` for `host`, or a few words that say why it is refused.
    func refusal(dialling address: SocketAddress, asked host: Authority) -> String?

    /// Decides about the address of a proxy for a request to `host`. By default it is judged like an address of `host`.
    func refusal(diallingProxy address: SocketAddress, asked host: Authority) -> String?
}

extension AddressJudge {
    /// Judges the proxy's address as one of `host`.
    public func refusal(diallingProxy address: SocketAddress, asked host: Authority) -> String? {
        self.refusal(dialling: address, asked: host)
    }
}

/// Hears of the progress of a transfer, always on the loop's thread.
///
/// Its functions may start, cancel and feed transfers.
package protocol TransferDelegate: AnyObject {
    /// An interim response (1xx) arrived.
    func originSent(interim head: ResponseHead)
    /// The final response's head arrived; `length` is the body's length if known.
    func originAnswered(_ head: ResponseHead, length: UInt64?)
    /// Bytes of the body arrived; they are valid during the call only.
    func originSent(_ bytes: UnsafeRawBufferPointer)
    /// Bytes of the body arrived in a buffer that the delegate may keep. By default they are passed to the function for
    /// bytes that are valid during the call only.
    func originSent(_ buffer: ByteBuffer)
    /// Bytes of the body arrived in a pipe, which is not filled again before it is empty; only after
    /// ``Transfer/takePipes()``. A delegate that leaves some of them in the pipe must pause reading; they come again
    /// when it resumes.
    func originSent(_ piped: PipedBytes)
    /// Trailers arrived after the body.
    func originSent(trailers fields: Fields)
    /// The upstream has taken this many bytes of the request's body.
    func originTookBody(_ count: Int)
    /// The body is sent again from its beginning, on another connection.
    func bodyBeginsAgain()
    /// The delegate gets the connection: one that was made for `connectOnly`, or one whose protocol the origin has
    /// switched. This is the last call.
    func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics)
    /// The transfer is over; it succeeded if `error` is nil. This is the last call.
    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics)
}

/// A connection that leaves its transfer.
package struct ConnectionHandoff {
    /// The connection; its receiver owns it.
    package let connection: EstablishedConnection
    /// The `101 Switching Protocols` of an origin; nil if only a connection was wanted.
    package var head: ResponseHead?
    /// The version of HTTP of that response.
    package var version = ""
    /// Bytes that came after it.
    package var early = ByteBuffer()

    package init(
        connection: EstablishedConnection, head: ResponseHead? = nil, version: String = "",
        early: ByteBuffer = ByteBuffer()
    ) {
        (self.connection, self.head, self.version, self.early) = (connection, head, version, early)
    }
}

extension TransferDelegate {
    package func bodyBeginsAgain() {}

    package func originSent(_ buffer: ByteBuffer) {
        buffer.withUnsafeReadableBytes { self.originSent($0) }
    }

    /// Traps: pipes come only to a delegate that has asked for them.
    package func originSent(_ piped: PipedBytes) {
        preconditionFailure("BUG: a body comes in a pipe that nobody asked for")
    }

    /// Closes the connection: a delegate that asks for none has no use for it.
    package func originHandedOver(_ handoff: ConnectionHandoff, _ metrics: TransferMetrics) {
        handoff.connection.close()
    }
}
