// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The response to a client that is made from a stored response.
package struct StoredAnswer: Sendable, Equatable {
    /// Status and fields, without framing; the status is 206, 304, 416 or the stored one.
    package let head: ResponseHead
    /// The bytes of the representation that follow; nil if there is no body, as in a 304 and in a response to HEAD.
    package let body: Range<UInt64>?
    /// The value of Content-Length, also for HEAD; nil if there is no such field.
    package let contentLength: UInt64?
}
