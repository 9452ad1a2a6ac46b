// SPDX-License-Identifier: Apache-2.0

internal import PintleLoop
internal import PintleSystem
internal import PintleWebSocket

/// The state that a ``WebSocket`` and its connection share. The connection does not hold the WebSocket, so that the
/// release of that one is noticed.
final class WebSocketSharedState: Sendable {
    private struct Ends: Sendable {
        /// The peer's Close, or a substitute for it if none has come.
        var close: WebSocketClose?
        var link: LoopBound<WebSocketLink>?
    }

    let inbox: WebSocketInbox
    let outbox: WebSocketOutbox
    /// Happens when the connection is closed.
    let ended = Latch()
    private let ends: Locked<Ends>

    init() {
        let ends = Locked(Ends())
        self.ends = ends
        self.inbox = WebSocketInbox { Self.link(in: ends)?.run { $0.readOn() } }
        self.outbox = WebSocketOutbox { Self.link(in: ends)?.run { $0.sendOn() } }
    }

    var close: WebSocketClose? { self.ends.withLock { $0.close } }

    /// Runs a function on the connection, on its loop's thread.
    ///
    /// - Returns: false if the connection is closed.
    @discardableResult
    func onLoop(_ work: @escaping @Sendable (WebSocketLink) -> Void) -> Bool {
        guard let link = Self.link(in: self.ends) else { return false }
        link.run(work)
        return true
    }

    func belongs(to link: LoopBound<WebSocketLink>) { self.ends.withLock { $0.link = link } }

    /// Notes the peer's Close; only the first one counts.
    func note(_ close: WebSocketClose) {
        self.ends.withLock { if $0.close == nil { $0.close = close } }
    }

    /// Called when the connection is closed, after readers and senders have been notified.
    func end() {
        self.note(WebSocketClose(unsent: .abnormal))
        self.ends.withLock { $0.link = nil }
        self.ended.happen()
    }

    private static func link(in ends: Locked<Ends>) -> LoopBound<WebSocketLink>? {
        ends.withLock { $0.link }
    }
}
