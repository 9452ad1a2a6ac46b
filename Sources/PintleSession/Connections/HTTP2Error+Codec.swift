// SPDX-License-Identifier: Apache-2.0

internal import NIOHTTP2

extension Error {
    /// True for what the codec says of frames that break HTTP/2, those of one stream or of the connection, which has got a GOAWAY
    /// then. Its wrapper for errors of streams is none of its protocol for errors.
    package var isOfHTTP2: Bool { self is any NIOHTTP2Error || self is NIOHTTP2Errors.StreamError }
}
