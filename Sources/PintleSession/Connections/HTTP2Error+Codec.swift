// SPDX-License-Identifier: Apache-2.0

internal import NIOHTTP2

extension Error {
    /// True if the codec reports frames that violate HTTP/2, on one stream, or on the connection, which then ends with a GOAWAY.
    /// The codec's wrapper for errors of streams does not conform to its own protocol for errors.
    package var isOfHTTP2: Bool { self is any NIOHTTP2Error || self is NIOHTTP2Errors.StreamError }
}
