// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Bounds the content that is dropped after a response has ended before its request: a pure value.
///
/// In HTTP/1.1 the connection is closed behind it, and a close with unread input would reset the connection: a client that has
/// not read its response yet would lose it (RFC 9112 §9.6). In HTTP/2, RFC 9113 §8.1 allows a RST_STREAM(NO_ERROR) right after the
/// response. But httpx (httpcore 1.0) and Java 17's HttpClient read the response only when they have sent all content, and wait
/// for room in the window even if the stream was reset: they lose the response, and fail at their own timeout. So the window
/// stays open for a while.
struct DiscardedContent {
    /// The most bytes that are dropped. Each frame of HTTP/2 counts as its content and the cost of holding it.
    static let mostBytes = 256 * 1024 * 1024
    /// The longest time in which nothing comes: that of a connection whose client does not close it.
    static let silence = ClientDeadline.lingering
    /// The longest time in all, as on lingering connections of nginx and Apache's httpd.
    static let longest = TimeAmount.seconds(30)

    private let begun: NIODeadline
    private var lastArrival: NIODeadline
    private var bytes = 0

    init(since now: NIODeadline) { (self.begun, self.lastArrival) = (now, now) }

    mutating func dropped(_ count: Int, at now: NIODeadline) {
        self.bytes += count
        self.lastArrival = now
    }

    /// True if the client has sent enough: it is told to stop, or its connection is closed.
    func isOver(at now: NIODeadline) -> Bool {
        self.bytes > Self.mostBytes || self.lastArrival + Self.silence <= now || self.begun + Self.longest <= now
    }
}
