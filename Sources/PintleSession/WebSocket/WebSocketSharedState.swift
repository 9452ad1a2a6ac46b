// SPDX-License-Identifier: Apache-2.0

internal import NIOConcurrencyHelpers
internal import PintleLoop
internal import PintleSystem
internal import PintleWebSocket

/// The state that a ``WebSocket`` and its connection share. The connection does not hold the WebSocket, so that one that is
/// let go is noticed.
final class WebSocketSharedState: Sendable {
    private struct Ends: Sendable {
        /// The peer's Close, or one that stands for it where none has come.
        var close: WebSocketClose?
        var link: LoopBound<WebSocketLink>?
    }

    let inbox: WebSocketInbox
    let outbox: WebSocketOutbox
    /// The connection is closed.
    let ended = OneTimeEvent()
    private let ends: NIOLockedValueBox<Ends>

    init() {
        let ends = NIOLockedValueBox(Ends())
        self.ends = ends
        self.inbox = WebSocketInbox { Self.link(in: ends)?.run { $0.readOn() } }
        self.outbox = WebSocketOutbox { Self.link(in: ends)?.run { $0.sendOn() } }
    }

    var close: WebSocketClose? { self.ends.withLockedValue { $0.close } }

    /// Has something done to the connection, on its loop's thread.
    ///
    /// - Returns: false when it is closed.
    @discardableResult
    func onLoop(_ work: @escaping @Sendable (WebSocketLink) -> Void) -> Bool {
        guard let link = Self.link(in: self.ends) else { return false }
        link.run(work)
        return true
    }

    func belongs(to link: LoopBound<WebSocketLink>) { self.ends.withLockedValue { $0.link = link } }

    /// Notes how the peer has closed it; what was noted first counts.
    func note(_ close: WebSocketClose) {
        self.ends.withLockedValue { if $0.close == nil { $0.close = close } }
    }

    /// The connection is closed, and everything was told about it.
    func end() {
        self.note(WebSocketClose(unsent: .abnormal))
        self.ends.withLockedValue { $0.link = nil }
        self.ended.happen()
    }

    private static func link(in ends: NIOLockedValueBox<Ends>) -> LoopBound<WebSocketLink>? {
        ends.withLockedValue { $0.link }
    }
}
