// SPDX-License-Identifier: Apache-2.0

/// A way in which a response, or a request, broke its contract or a rule that only reports; raw values are the problem names that clients see.
package enum ViolationKind: String, Sendable, CaseIterable {
    /// The status code is not one that the route accepts.
    case responseStatus = "response-status"
    /// The media type is not one that the route accepts.
    case responseContentType = "response-content-type"
    /// The body does not decode as the route says.
    case responseBody = "response-body"
    /// The body exceeds the route's maximum.
    case bodyTooLarge = "body-too-large"
    /// No certificate of the chain matches a pin.
    case pinMismatch = "pin-mismatch"
    /// The chain does not lead to a trusted root, has expired, or names another host.
    case certificateInvalid = "certificate-invalid"
    /// The request is not as its contract declares it.
    case unserializableRequest = "unserializable-request"
    /// The destination would be denied by a rule that only reports.
    case destinationDenied = "destination-denied"

    /// The position in tables that hold one entry per kind.
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
        }
    }
}
