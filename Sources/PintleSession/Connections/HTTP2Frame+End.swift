// SPDX-License-Identifier: Apache-2.0

internal import NIOHPACK
package import NIOHTTP2

extension HTTP2Frame.FramePayload {
    /// The end of a stream after its content, without trailers: a DATA frame without content (RFC 9113 §8.1).
    ///
    /// SwiftNIO's codec (swift-nio-http2 1.46) traps on that frame if the window of its stream is below zero, as a peer can
    /// make it by a smaller SETTINGS_INITIAL_WINDOW_SIZE (§6.9.2). So the codec gets trailers without fields, which need no
    /// window, and ``HTTP2HeadFrames`` turns them into that frame.
    package static var end: Self { .headers(.init(headers: HPACKHeaders(), endStream: true)) }
}
