// SPDX-License-Identifier: Apache-2.0

public import PintleMessage

/// A response that arrived and breaks its contract: what is behind a ``SessionError`` with `rejected`.
public struct RejectedResponse: Error, Sendable, CustomStringConvertible {
    /// Status, reason and fields.
    public let head: ResponseHead
    /// The body; of a download, its first 64 KiB at most.
    public let body: [UInt8]
    /// What the contract says: the status first, then the type, then the body.
    public let violation: ValidationError

    static let bodyLimit = 64 * 1024

    /// Makes one, as tests do, and whatever answers in place of a session.
    public init(head: ResponseHead, body: [UInt8] = [], violation: ValidationError) {
        self.head = head
        self.body = body
        self.violation = ValidationError.ordered([violation]) ?? violation
    }

    /// The violation, and those behind it.
    public var description: String { self.violation.description }
}

extension SessionError {
    static func rejected(_ response: RejectedResponse) -> SessionError {
        SessionError(.rejected, response.violation.message, underlying: response)
    }
}
