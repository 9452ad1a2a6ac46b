// SPDX-License-Identifier: Apache-2.0

public import PintleMessage
public import PintleSerialization

/// A response that arrived but breaks its contract: the `underlying` error of a ``SessionError`` with code `rejected`.
public struct RejectedResponse: Error, Sendable, CustomStringConvertible {
    /// Status, reason and fields.
    public let head: ResponseHead
    /// The body; if the task is a download, at most its first 64 KiB.
    public let body: [UInt8]
    /// The breaches of the contract: first of the status, then of the type, then of the body.
    public let violation: ValidationError

    package static let bodyLimit = 64 * 1024

    /// Makes a rejected response, for tests and for stand-ins of a session.
    public init(head: ResponseHead, body: [UInt8] = [], violation: ValidationError) {
        self.head = head
        self.body = body
        self.violation = ValidationError.ordered([violation]) ?? violation
    }

    /// The description of the violation, with those that it links to.
    public var description: String { self.violation.description }
}

extension SessionError {
    package static func rejected(_ response: RejectedResponse) -> SessionError {
        SessionError(.rejected, response.violation.message, underlying: response)
    }
}
