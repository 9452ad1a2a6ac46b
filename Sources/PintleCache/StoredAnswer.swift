// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

/// The answer to a client that a stored response makes.
package struct StoredAnswer: Sendable, Equatable {
    /// Status and fields, without framing: 200 or what was stored, 206, 304 or 416.
    package let head: ResponseHead
    /// The bytes of the representation that follow; nil where none may, as after 304 and to HEAD.
    package let body: Range<UInt64>?
    /// The number that Content-Length has, also to HEAD; nil where there is no such field.
    package let contentLength: UInt64?
}
