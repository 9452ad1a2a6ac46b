// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The answer that is being written to a client of HTTP/1.1.
struct ClientAnswer {
    let method: String
    let minorVersion: UInt8
    /// True if the client would send another request (RFC 9112 §9.3).
    let wantsKeepAlive: Bool
    /// The framing of the body; nil until the head is written.
    var framing: ResponseFraming?
    /// True if the head has said that the connection stays.
    var keepsAlive = false
    /// The bytes of a body with a length that are still to be written.
    var owedBytes: UInt64 = 0

    init(method: String, minorVersion: UInt8, wantsKeepAlive: Bool) {
        self.method = method
        self.minorVersion = minorVersion
        self.wantsKeepAlive = wantsKeepAlive
    }

    /// Notes bytes of a body with a length as written.
    mutating func note(written count: Int) {
        precondition(UInt64(count) <= self.owedBytes, "BUG: more is written than was declared")
        self.owedBytes -= UInt64(count)
    }
}
