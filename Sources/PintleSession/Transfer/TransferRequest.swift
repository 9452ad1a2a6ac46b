// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import PintleMessage

/// What a transfer sends, to whom, and how patient it is.
public struct TransferRequest: Sendable {
    /// Where the bytes of the body come from.
    public enum Body: Sendable {
        /// There is none.
        case none
        /// They are all here; such a request can be sent again.
        case bytes(ByteBuffer)
        /// They arrive while the transfer runs; without a length they are sent chunked.
        case stream(length: UInt64?)
    }

    /// A case-sensitive token.
    public var method: String
    /// http or https.
    public var scheme: Scheme
    /// The host to connect to and to verify.
    public var authority: Authority
    /// The request target as it goes on the wire, beginning with `/`, or `*`.
    public var path: String
    /// The header section without Host, framing and hop-by-hop fields; they are written by the transfer.
    public var fields: Fields
    /// The body.
    public var body: Body
    /// The longest time for resolving, connecting and the TLS handshake together. Default 10 s.
    public var connectTimeout: TimeAmount
    /// The longest silence of the upstream while something is expected of it. Default 60 s.
    public var timeout: TimeAmount
    /// Whether the metrics are collected; without them only failures are measured.
    public var collectsMetrics = true
    /// Whether only a connection is wanted, whose descriptor is handed over: for tunnels.
    package var connectOnly = false

    /// Makes a request.
    public init(
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

/// How a transfer went, by libcurl's clocks. Times are microseconds since its start; zero where a phase did not happen.
public struct TransferMetrics: Sendable, Equatable {
    /// When the name was resolved.
    public var nameLookup: Int64 = 0
    /// When the connection was established.
    public var connect: Int64 = 0
    /// When the TLS handshake was finished.
    public var tls: Int64 = 0
    /// When the first byte of the response arrived.
    public var firstByte: Int64 = 0
    /// When the transfer ended.
    public var total: Int64 = 0
    /// Whether a connection of an earlier transfer was used.
    public var reusedConnection = false
    /// The peer's address, empty where no connection was made.
    public var address = ""
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
}

/// What a transfer tells its owner, always on the loop's thread.
///
/// The calls come from inside libcurl: starting, cancelling and feeding transfers from them is allowed and takes effect
/// when libcurl has returned.
package protocol TransferDelegate: AnyObject {
    /// An interim response (1xx) arrived.
    func transfer(_ transfer: Transfer, receivedInterim head: ResponseHead)
    /// The final response's head arrived; `length` is the body's length where it is known.
    func transfer(_ transfer: Transfer, received head: ResponseHead, length: UInt64?)
    /// Bytes of the body arrived; they are valid during the call only.
    func transfer(_ transfer: Transfer, receivedBody bytes: UnsafeRawBufferPointer)
    /// Trailers arrived after the body.
    func transfer(_ transfer: Transfer, receivedTrailers fields: Fields)
    /// The upstream has taken so many bytes of the request's body.
    func transfer(_ transfer: Transfer, sentBodyBytes count: Int)
    /// So many bytes of the request's body did not count: they are sent again, on another connection.
    func transfer(_ transfer: Transfer, rewoundBodyBytes count: Int)
    /// A connection was made for `connectOnly`; the owner must close the descriptor.
    func transfer(_ transfer: Transfer, connected descriptor: Int32)
    /// The transfer is over, well when `error` is nil. Nothing comes after this.
    func transfer(_ transfer: Transfer, finishedWith error: SessionError?, metrics: TransferMetrics)
}
