// SPDX-License-Identifier: Apache-2.0

/// A way in which a response or a request broke its contract, or a rule that only reports. Raw values are the names of the
/// problems that clients receive.
package enum ViolationKind: String, Sendable, CaseIterable {
    /// The status code is not among those that the route accepts.
    case responseStatus = "response-status"
    /// The media type is not among those that the route accepts.
    case responseContentType = "response-content-type"
    /// The body cannot be decoded as the route requires.
    case responseBody = "response-body"
    /// The body exceeds the route's maximum.
    case bodyTooLarge = "body-too-large"
    /// No certificate of the chain matches a pin.
    case pinMismatch = "pin-mismatch"
    /// The chain does not lead to a trusted root, has expired, or names another host.
    case certificateInvalid = "certificate-invalid"
    /// The request does not have the form that its contract declares.
    case unserializableRequest = "unserializable-request"
    /// A rule that only reports would deny the destination.
    case destinationDenied = "destination-denied"
    /// The client has come back before the time that `Retry-After` of a fault named.
    case earlyRetry = "early-retry"
    /// The answer of the origin differs from its recording.
    case recordingDiffers = "recording-differs"
    /// A credential stands in a request that may not have it.
    case credentialMisuse = "credential-misuse"

    /// The index in tables that have one entry for each kind.
    var index: Int {
        switch self {
        case .responseStatus: 0
        case .responseContentType: 1
        case .responseBody: 2
        case .bodyTooLarge: 3
        case .pinMismatch: 4
        case .certificateInvalid: 5
        case .unserializableRequest: 6
        case .destinationDenied: 7
        case .earlyRetry: 8
        case .recordingDiffers: 9
        case .credentialMisuse: 10
        }
    }
}
