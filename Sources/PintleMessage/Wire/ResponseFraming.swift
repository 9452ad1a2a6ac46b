// SPDX-License-Identifier: Apache-2.0

/// How a response is framed for the client; written anew, never copied from the origin.
package enum ResponseFraming: Sendable, Equatable {
    /// The response has no body by its nature; a Content-Length only says what it would have been.
    case none(wouldBe: UInt64?)
    case length(UInt64)
    case chunked
    /// For HTTP/1.0 clients: the end of the connection is the end of the body.
    case untilClose

    /// The framing for a response to `method` from a client of HTTP/1.`minorVersion`.
    ///
    /// - Parameter length: of the body, or of the one that there would be.
    package init(method: String, minorVersion: UInt8, head: ResponseHead, length: UInt64?) {
        if head.forbidsBody(to: method) {
            // 1xx and 204 must not have one at all (RFC 9110 §8.6).
            self = .none(wouldBe: head.status == 204 || head.status < 200 ? nil : length)
        } else if let length {
            self = .length(length)
        } else {
            self = minorVersion == 0 ? .untilClose : .chunked
        }
    }
}
