// SPDX-License-Identifier: Apache-2.0

public import NIOCore
package import PintleLoop
public import PintleMessage

/// What a transfer sends, to whom, and how patient it is.
package struct TransferRequest: Sendable {
    /// Where the bytes of the body come from.
    package enum Body: Sendable {
        /// There is none.
        case none
        /// They are all here; such a request can be sent again.
        case bytes(ByteBuffer)
        /// They arrive while the transfer runs; without a length they are sent chunked.
        case stream(length: UInt64?)

        /// The number of bytes; nil where there is no body, or nobody knows.
        var length: UInt64? {
            switch self {
            case .none: nil
            case .bytes(let bytes): UInt64(bytes.readableBytes)
            case .stream(let length): length
            }
        }
    }

    /// Which way a request goes.
    package enum Way: Sendable {
        /// As the session's configuration says.
        case configured
        /// To the origin itself.
        case direct
        /// By a proxy, whatever its exceptions are.
        case by(ProxyLink)
    }

    /// A case-sensitive token.
    package var method: String
    /// http or https.
    package var scheme: Scheme
    /// The host to connect to and to verify.
    package var authority: Authority
    /// The request target as it goes on the wire, beginning with `/`, or `*`.
    package var path: String
    /// The header section without Host, framing and hop-by-hop fields; they are written by the transfer.
    package var fields: Fields
    /// The body.
    package var body: Body
    /// The longest time for resolving, connecting and the TLS handshake together. Default 10 s.
    package var connectTimeout: TimeAmount
    /// The longest silence of the upstream while something is expected of it. Default 60 s.
    package var timeout: TimeAmount
    /// The longest silence within an answer. Default nil: ``timeout``.
    package var bodyTimeout: TimeAmount?
    /// The longest silence of streams of events and of gRPC. Default nil: as for other answers.
    package var streamTimeout: TimeAmount?
    /// The key of a configuration that sets these, for the words of an error. Default nil: none.
    package var timeoutKey: String?
    /// The longest time for looking a name up. Default nil: ``connectTimeout``.
    package var lookupTimeout: TimeAmount?
    /// Whether only a connection is wanted, which is handed over: for tunnels. HTTP/2 is not offered on it.
    package var connectOnly = false
    /// The protocols that the origin may switch the connection to (RFC 9110 §7.8), as the value of Upgrade. Such a request
    /// has a connection of its own, and goes by a tunnel where a proxy would forward it. Default nil: none.
    package var upgrade: String?
    /// Whether who gets the response takes trailers (RFC 9110 §10.1.4). Default: nobody says so.
    package var takesTrailers = false
    /// Default: as the session's configuration says.
    package var way = Way.configured
    /// How the connection's packets are marked. Default nil: as the session's configuration says.
    package var serviceType: ServiceType?
    /// The network interface that the connection leaves by. Default nil: as the session's configuration says.
    package var interface: String?
    /// What is sent with a CONNECT to a proxy, in place of the proxy's own.
    package var connectFields: Fields?
    /// For whom it is made: no client keeps others from a host's connections, or from looking names up. Default nil: the
    /// program itself.
    package var client: TransferClient?
    /// The owner of connections on which its client logs in. Default nil: none, and such connections are used once.
    package var owner: ConnectionOwner?
    /// Whether waiting for one of the host's connections counts against ``connectTimeout``. By default it lasts as long as it
    /// takes.
    package var limitsWaiting = false

    /// Whether it is sent once more, over a new connection, where a kept one turns out to be closed before any byte of a
    /// response. A proxy must not do so with a method that is not idempotent (RFC 9110 §9.2.2).
    package var isRepeatable = true
    /// When, and how often. Default once, where a kept connection turns out to be closed.
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
    /// True where a connection is made for the request alone.
    var wantsConnection: Bool { self.connectOnly || self.upgrade != nil }
}

/// How a transfer went. Times count from its start; nil where a phase did not happen.
public struct TransferMetrics: Sendable, Equatable {
    /// When the name was resolved.
    public var nameLookup: Duration?
    /// When the connection was established.
    public var connect: Duration?
    /// When the TLS handshake was finished.
    public var tls: Duration?
    /// When the first byte of the response arrived.
    public var firstByte: Duration?
    /// When the transfer ended; zero before.
    public var total = Duration.zero
    /// Whether a connection of an earlier transfer was used.
    public var reusedConnection = false
    /// The peer's address, empty where no connection was made.
    public var address = ""
    /// The number of times that the request was sent again, or that another connection was tried for it.
    public var retries = 0
    /// `1.0`, `1.1` or `2`.
    public var httpVersion = ""
    /// Such as `TLSv1.3`; empty without TLS.
    public var tlsVersion = ""

    /// Makes the metrics of a transfer that has not begun.
    public init() {}
}

/// Says whether an address may be dialled; asked after resolution, with the very address that would be dialled.
public protocol AddressJudge: Sendable {
    /// Returns nil to allow `address` for `host`, or the reason for refusing in a few words.
    func refusal(dialling address: SocketAddress, asked host: Authority) -> String?

    /// The same for the address of a proxy, by which a request for `host` goes. Without an own answer it is judged as an
    /// address of `host` is.
    func refusal(diallingProxy address: SocketAddress, asked host: Authority) -> String?
}

extension AddressJudge {
    /// Judges the proxy's address as one of `host`.
    public func refusal(diallingProxy address: SocketAddress, asked host: Authority) -> String? {
        self.refusal(dialling: address, asked: host)
    }
}

/// Is told what becomes of a transfer, always on the loop's thread.
///
/// Starting, cancelling and feeding transfers from the calls is allowed.
package protocol TransferDelegate: AnyObject {
    /// An interim response (1xx) arrived.
    func originSent(interim head: ResponseHead)
    /// The final response's head arrived; `length` is the body's length where it is known.
    func originAnswered(_ head: ResponseHead, length: UInt64?)
    /// Bytes of the body arrived; they are valid during the call only.
    func originSent(_ bytes: UnsafeRawBufferPointer)
    /// Bytes of the body arrived in a buffer that the delegate may keep. Without an own answer it is told of them as of
    /// those which are valid during the call only.
    func originSent(_ buffer: ByteBuffer)
    /// Bytes of the body arrived in a pipe, which is not filled again before it is empty; only after ``Transfer/takePipes()``.
    /// Whoever leaves some of them there pauses reading, and is given them again when it goes on.
    func originSent(_ piped: PipedBytes)
    /// Trailers arrived after the body.
    func originSent(trailers fields: Fields)
    /// The upstream has taken so many bytes of the request's body.
    func originTookBody(_ count: Int)
    /// A body of `.bytes` is sent again, on another connection.
    func bodyBeginsAgain()
    /// The connection is the delegate's: one that was made for `connectOnly`, or one whose origin has switched its protocol.
    /// Nothing comes after this.
    func originHandedOver(_ handover: Handover, _ metrics: TransferMetrics)
    /// The transfer is over, well when `error` is nil. Nothing comes after this.
    func originEnded(_ error: SessionError?, _ metrics: TransferMetrics)
}

/// A connection that leaves its transfer.
package struct Handover {
    /// Belongs to who gets it.
    package let connection: MadeConnection
    /// The `101 Switching Protocols` of an origin; nil where only a connection was wanted.
    package var head: ResponseHead?
    /// The version of that answer.
    package var version = ""
    /// Bytes that came behind it.
    package var early = ByteBuffer()

    package init(
        connection: MadeConnection, head: ResponseHead? = nil, version: String = "", early: ByteBuffer = ByteBuffer()
    ) {
        (self.connection, self.head, self.version, self.early) = (connection, head, version, early)
    }
}

extension TransferDelegate {
    package func bodyBeginsAgain() {}

    package func originSent(_ buffer: ByteBuffer) {
        buffer.withUnsafeReadableBytes { self.originSent($0) }
    }

    /// Traps: who asks for no pipes gets none.
    package func originSent(_ piped: PipedBytes) {
        preconditionFailure("BUG: a body comes in a pipe that nobody asked for")
    }

    /// Closes the connection: who asks for none has no use for it.
    package func originHandedOver(_ handover: Handover, _ metrics: TransferMetrics) {
        handover.connection.close()
    }
}
