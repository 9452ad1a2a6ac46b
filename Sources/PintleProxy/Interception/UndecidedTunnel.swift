// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleLoop
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

/// The client's end of a tunnel whose first bytes will tell what it carries: an intercepted tunnel, or a captured connection.
protocol UndecidedTunnel: AnyObject {
    var worker: Worker { get }
    var active: ActiveConfiguration { get }
    var channel: SocketChannel { get }
    var client: Client? { get }
    var clientProcess: ClientProcess? { get }
    var owner: ConnectionOwner { get }
    /// The names of the client.
    var identity: ProxyIdentity { get }
    /// The CONNECT to the destination.
    var request: ReceivedRequest { get }
    var authority: Authority { get }
    /// The destination that an answer has allowed; nil if none was needed, or if the client has not asked for the tunnel.
    var allowed: AllowedDestination? { get }
    /// True if the client has not asked for the tunnel, so that nothing has judged its destination yet.
    var isCaptured: Bool { get }
    /// True once the client has sent something.
    var hasBegun: Bool { get }
    /// Called once the first bytes reveal the client's protocol.
    var whenRecognized: ((OpeningProtocol) -> Void)? { get set }

    /// Called when an answer about the destination is waited for, and when it has come: meanwhile no time limit applies.
    func waits(forAnswer isWaiting: Bool)

    /// Hands the client's connection over to a relay, with all that the client has sent.
    func leave(to terms: TunnelTerms)

    /// Breaks the connection off.
    func abort()
}

/// The inside of an intercepted tunnel.
final class UndecidedInterception: UndecidedTunnel {
    private let connection: ClientConnection
    private let tunnel: InterceptedTunnel
    private let transport: TLSTransport

    init(_ connection: ClientConnection, in tunnel: InterceptedTunnel, over transport: TLSTransport) {
        (self.connection, self.tunnel, self.transport) = (connection, tunnel, transport)
    }

    var worker: Worker { self.connection.worker }
    var active: ActiveConfiguration { self.tunnel.active }
    var channel: SocketChannel { self.connection.channel }
    var client: Client? { self.connection.client }
    var clientProcess: ClientProcess? { self.connection.clientProcess }
    var owner: ConnectionOwner { self.connection.owner }
    var identity: ProxyIdentity { self.tunnel.identity }
    var request: ReceivedRequest { self.tunnel.request }
    var authority: Authority { self.tunnel.authority }
    var allowed: AllowedDestination? { self.tunnel.allowed }
    var isCaptured: Bool { self.tunnel.isCaptured }
    var hasBegun: Bool { self.transport.hasBegun }

    var whenRecognized: ((OpeningProtocol) -> Void)? {
        get { self.transport.whenRecognized }
        set { self.transport.whenRecognized = newValue }
    }

    /// The CONNECT has waited for the answer.
    func waits(forAnswer isWaiting: Bool) {}

    func leave(to terms: TunnelTerms) {
        self.transport.passOn()
        self.connection.leave(to: terms)
    }

    func abort() { self.channel.close(promise: nil) }
}
