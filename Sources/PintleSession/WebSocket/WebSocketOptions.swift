// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
public import PintleWebSocket

/// Settings of a ``WebSocket``.
public struct WebSocketOptions: Sendable {
    /// The settings for pings to a silent server.
    public struct KeepAlive: Sendable, Hashable {
        /// The silence after which a ping is sent.
        public var interval: Duration
        /// The longest silence after that ping, until the server counts as gone.
        public var timeout: Duration

        /// Makes settings that ping after `interval`, and give up after another `timeout`.
        public init(interval: Duration, timeout: Duration = .seconds(20)) {
            self.interval = interval
            self.timeout = timeout
        }
    }

    /// The application's protocols that are offered, the preferred one first (RFC 6455 §1.9). Default none.
    public var subprotocols: [String] = []
    /// The compression of messages, if the server agrees to it; nil offers none. Default: offered.
    public var compression: WebSocketCompression? = WebSocketCompression()
    /// The highest number of bytes of a received message, 1…2^30; of a compressed one, after it is inflated. A longer
    /// one ends the connection with 1009. Default 16 MiB.
    public var messageLimit = 16 << 20
    /// Default nil: a silent server may stay silent as long as its connection lasts.
    public var keepAlive: KeepAlive?
    /// The longest time for the closing handshake, including the messages that are sent before it. Default 10 s.
    public var closeTimeout = Duration.seconds(10)

    /// Makes options with the defaults.
    public init() {}

    /// Checks the subprotocols.
    ///
    /// - Throws: ``SessionError`` with `invalidRequest` for a name that is invalid, or offered twice.
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
