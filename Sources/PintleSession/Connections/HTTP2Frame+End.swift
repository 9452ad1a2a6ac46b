// SPDX-License-Identifier: Apache-2.0

internal import NIOHPACK
package import NIOHTTP2

extension HTTP2Frame.FramePayload {
    /// The end of a stream behind its content, without trailers: a DATA frame without content (RFC 9113 §8.1).
    ///
    /// SwiftNIO's codec (swift-nio-http2 1.46) traps if it is given that frame for a stream whose window is below zero, as a peer
    /// makes it by a smaller SETTINGS_INITIAL_WINDOW_SIZE (§6.9.2). It is given trailers without fields, which no window is asked
    /// for, and ``HTTP2HeadFrames`` makes the frame of them.
    package static var end: Self { .headers(.init(headers: HPACKHeaders(), endStream: true)) }
}
