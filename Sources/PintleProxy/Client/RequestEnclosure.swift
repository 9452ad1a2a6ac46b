// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy
internal import PintleTrust

/// The connection that contains requests whose client does not know of the proxy: an intercepted tunnel, or a connection that was
/// captured.
protocol RequestEnclosure: AnyObject {
    /// The names of the client.
    var identity: ProxyIdentity { get }
    /// True if the client speaks TLS with a certificate of the proxy's own, or might have.
    var isIntercepted: Bool { get }
    /// True if the client has asked for no tunnel: its connection was captured.
    var isCaptured: Bool { get }

    /// The destination of its requests.
    var place: EnclosurePlace { get }
    /// The destination that an answer has allowed, to all requests inside; nil if none was needed.
    var allowed: AllowedDestination? { get }

    /// Completes a request with its destination, as in a request to a proxy. The result depends on the request and on
    /// ``place`` alone.
    ///
    /// - Returns: a problem if the request is for another server; otherwise nil.
    func complete(_ head: inout RequestHead) -> Problem?

    /// Called when the client does not use TLS, although it could.
    func speaksPlainly()

    /// Called when the client's handshake has failed.
    func handshakeFailed(_ failure: TLSFailure)
}

/// The destination of requests that do not name it themselves.
struct EnclosurePlace: Equatable {
    let scheme: Scheme
    /// The destination of the connection.
    let authority: Authority
    /// The server of the requests, as far as the connection tells it.
    let server: Authority
}

/// The defaults, for connections in clear.
extension RequestEnclosure {
    var allowed: AllowedDestination? { nil }
    func speaksPlainly() {}
    func handshakeFailed(_ failure: TLSFailure) {}
}
