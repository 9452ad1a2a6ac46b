// SPDX-License-Identifier: Apache-2.0

/// The framing of a response to the client; chosen anew, never copied from the origin.
package enum ResponseFraming: Sendable, Equatable {
    /// The response cannot have a body; a Content-Length only says how long it would have been.
    case none(wouldBe: UInt64?)
    case length(UInt64)
    case chunked
    /// For HTTP/1.0 clients: the body ends when the connection ends.
    case untilClose

    /// The framing for a response to `method` from a client of HTTP/1.`minorVersion`.
    ///
    /// - Parameter length: the length of the body, or of the one that there would be; nil if unknown.
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
