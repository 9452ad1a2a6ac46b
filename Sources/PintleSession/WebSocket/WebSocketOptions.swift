// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
public import PintleWebSocket

/// Settings of a ``WebSocket``.
public struct WebSocketOptions: Sendable {
    /// Asks now and then whether a silent server is there.
    public struct KeepAlive: Sendable, Hashable {
        /// The silence after which a ping is sent.
        public var interval: Duration
        /// The longest silence after that ping; then the server counts as gone.
        public var timeout: Duration

        /// Makes one that pings after `interval`, and gives up after `timeout` more.
        public init(interval: Duration, timeout: Duration = .seconds(20)) {
            self.interval = interval
            self.timeout = timeout
        }
    }

    /// The protocols of the application that are offered, the best first (RFC 6455 §1.9). Default none.
    public var subprotocols: [String] = []
    /// The compression of messages, where the server agrees to it; nil offers none. Default: offered.
    public var compression: WebSocketCompression? = WebSocketCompression()
    /// The most bytes of a message that is received, 1…2^30; for a compressed one, of what it inflates to. A longer one ends
    /// the connection with 1009. Default 16 MiB.
    public var messageLimit = 16 << 20
    /// Default nil: a silent server is waited for as long as its connection lasts.
    public var keepAlive: KeepAlive?
    /// The longest time for the closing handshake, with the messages that are sent before it. Default 10 s.
    public var closeTimeout = Duration.seconds(10)

    /// Makes options with the defaults.
    public init() {}

    /// - Throws: ``SessionError`` with `invalidRequest` where the handshake cannot say it.
    func checkSyntax() throws(SessionError) {
        for (index, name) in self.subprotocols.enumerated() {
            guard FieldSyntax.isName(name) else {
                throw SessionError(.invalidRequest, "\(name.debugDescription) is no name for a subprotocol")
            }
            guard !self.subprotocols[..<index].contains(name) else {
                throw SessionError(.invalidRequest, "the subprotocol \(name) is offered twice")
            }
        }
    }
}
