// SPDX-License-Identifier: Apache-2.0

package import NIOHTTP2

extension NIOHTTP2Handler.ConnectionConfiguration {
    /// Makes the configuration that connections of clients and connections to origins have in common.
    ///
    /// - Parameters:
    ///   - settings: the settings of this side of the connection alone (RFC 9113 §6.5.2).
    ///   - headLimit: the most bytes of a head.
    ///   - window: the most bytes of content that a stream may have under way; a connection may have sixteen times as many.
    package init(_ settings: [HTTP2Setting], headLimit: Int, window: Int) {
        self.init()
        self.initialSettings =
            settings + [
                HTTP2Setting(parameter: .headerTableSize, value: HTTP2HeadFrames.decoderTable),
                HTTP2Setting(parameter: .maxHeaderListSize, value: HTTP2HeadFrames.decoderLimit(for: headLimit)),
                HTTP2Setting(parameter: .initialWindowSize, value: window),
            ]
        // The streams do so: one message with another length than it declares must not end the other streams. A client that was
        // refused may end its content early.
        self.contentLengthValidation = .disabled
        self.targetWindowSize = 16 * window
        self.maximumSequentialContinuationFrames = HTTP2HeadFrames.mostContinuations(for: headLimit)
        // Counts over the whole life of a connection, until a head or the end of a stream comes.
        self.maximumSequentialEmptyDataFrames = 10_000
    }
}

extension NIOHTTP2Handler.StreamConfiguration {
    /// Makes the configuration that streams of clients and streams to origins have in common.
    ///
    /// - Parameter window: the most bytes of content that a stream may have under way.
    package init(window: Int) {
        self.init()
        self.targetWindowSize = window
        self.outboundBufferSizeHighWatermark = 64 * 1024
        self.outboundBufferSizeLowWatermark = 32 * 1024
    }
}
