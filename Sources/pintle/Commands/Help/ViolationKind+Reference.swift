// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintlePolicy

/// The reference of violations.
extension ViolationKind {
    /// The problem by which the violation refuses an exchange; nil if it is only reported.
    var problem: Problem.Name? {
        switch self {
        case .responseStatus: .responseStatus
        case .responseContentType: .responseContentType
        case .responseBody: .responseBody
        case .bodyTooLarge: .bodyTooLarge
        case .pinMismatch: .pinMismatch
        case .certificateInvalid: .certificateInvalid
        case .unserializableRequest: .unserializableRequest
        case .destinationDenied: .destinationDenied
        case .credentialMisuse: .credentialMisuse
        case .earlyRetry, .recordingDiffers: nil
        }
    }

    /// The event, in a sentence.
    var meaning: String {
        switch self {
        case .responseStatus: "The status of the response is not among those that the route accepts."
        case .responseContentType: "The media type of the response is not among those that the route accepts."
        case .responseBody: "The body of the response cannot be decoded as the route requires."
        case .bodyTooLarge: "The body of the response is longer than the route allows, or than may be held."
        case .pinMismatch: "No certificate of the origin's chain has a pinned key."
        case .certificateInvalid: "The origin's chain is not valid for its name, its roots or its time."
        case .unserializableRequest: "The request is not as its API contract declares it."
        case .destinationDenied: "A rule that only reports would deny the destination."
        case .earlyRetry: "The client has come back before the time that `Retry-After` of a fault named."
        case .recordingDiffers: "The answer of the origin differs from its recording (`mode: compare`)."
        case .credentialMisuse: "A request has a credential that is not for it."
        }
    }
}
