// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// The state of the response that is being written to an HTTP/1.1 client.
struct ClientAnswer {
    private let method: String
    let minorVersion: UInt8
    /// True if the client wants to keep the connection (RFC 9112 §9.3).
    private let wantsKeepAlive: Bool
    /// The framing of the body; nil until the head is written.
    private(set) var framing: ResponseFraming?
    /// True if the written head keeps the connection.
    private(set) var keepsAlive = false
    /// The bytes of a body with a length that are still to be written.
    private var owedBytes: UInt64 = 0

    init(method: String, minorVersion: UInt8, wantsKeepAlive: Bool) {
        self.method = method
        self.minorVersion = minorVersion
        self.wantsKeepAlive = wantsKeepAlive
    }

    /// The answer to bytes that are not a valid request, of an unknown method. It ends the connection.
    static var toNoRequest: ClientAnswer { ClientAnswer(method: "", minorVersion: 1, wantsKeepAlive: false) }

    /// Chooses the framing for a head that is written now.
    ///
    /// - Parameters:
    ///   - length: the length of the body, or of the one that there would be; nil if unknown.
    ///   - mayKeepAlive: false if no further request is taken.
    mutating func begin(_ head: ResponseHead, length: UInt64?, mayKeepAlive: Bool) -> ResponseFraming {
        precondition(self.framing == nil, "BUG: a request is answered twice")
        let framing = ResponseFraming(method: self.method, minorVersion: self.minorVersion, head: head, length: length)
        self.framing = framing
        self.keepsAlive = self.wantsKeepAlive && mayKeepAlive && framing != .untilClose
        if case .length(let length) = framing { self.owedBytes = length }
        return framing
    }

    /// Counts written bytes of a body with a length.
    mutating func note(written count: Int) {
        precondition(UInt64(count) <= self.owedBytes, "BUG: more is written than was declared")
        self.owedBytes -= UInt64(count)
    }

    /// Checks that a response that ends is complete.
    func finish() { precondition(self.owedBytes == 0, "BUG: less is written than was declared") }
}
