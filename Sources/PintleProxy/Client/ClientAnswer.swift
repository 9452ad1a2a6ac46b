// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The state of the response that is being written to an HTTP/1.1 client.
struct ClientAnswer {
    let method: String
    let minorVersion: UInt8
    /// True if the client wants to keep the connection (RFC 9112 §9.3).
    let wantsKeepAlive: Bool
    /// The framing of the body; nil until the head is written.
    var framing: ResponseFraming?
    /// True if the written head keeps the connection.
    var keepsAlive = false
    /// The bytes of a body with a length that are still to be written.
    var owedBytes: UInt64 = 0

    init(method: String, minorVersion: UInt8, wantsKeepAlive: Bool) {
        self.method = method
        self.minorVersion = minorVersion
        self.wantsKeepAlive = wantsKeepAlive
    }

    /// Counts written bytes of a body with a length.
    mutating func note(written count: Int) {
        precondition(UInt64(count) <= self.owedBytes, "BUG: more is written than was declared")
        self.owedBytes -= UInt64(count)
    }
}
