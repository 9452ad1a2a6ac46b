// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Bounds the content that is dropped after a response has ended before its request: a pure value.
///
/// RFC 9113 §8.1 allows a RST_STREAM(NO_ERROR) right after the response. But httpx (httpcore 1.0) and Java 17's HttpClient read
/// the response only when they have sent all content, and wait for room in the window even if the stream was reset: they lose
/// the response, and fail at their own timeout. So the window stays open for a while, and the content is dropped, as the rest
/// of a request over HTTP/1.1 is before the connection is closed (RFC 9112 §9.6).
struct DiscardedContent {
    /// The most bytes that are dropped on a stream. Each frame counts as its content and the cost of holding it.
    static let mostBytes = 256 * 1024 * 1024
    /// The longest time without a frame: that of a connection whose client does not close it.
    static let silence = ClientDeadline.lingering
    /// The longest time in all, as on lingering connections of nginx and Apache's httpd.
    static let longest = TimeAmount.seconds(30)

    private let begun: NIODeadline
    private var lastFrame: NIODeadline
    private var bytes = 0

    init(since now: NIODeadline) { (self.begun, self.lastFrame) = (now, now) }

    mutating func dropped(_ count: Int, at now: NIODeadline) {
        self.bytes += count
        self.lastFrame = now
    }

    /// True if the client is to be told to stop sending.
    func isOver(at now: NIODeadline) -> Bool {
        self.bytes > Self.mostBytes || self.lastFrame + Self.silence <= now || self.begun + Self.longest <= now
    }
}
