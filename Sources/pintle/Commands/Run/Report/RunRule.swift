// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity

/// A rule that a command's requests may violate. The number of a rule never changes.
enum RunRule: Int, Sendable, Hashable, CaseIterable {
    case denied = 301
    case responseStatus = 302
    case responseContentType = 303
    case responseBody = 304
    case bodyTooLarge = 305
    case pinMismatch = 306
    case certificateInvalid = 307
    case unserializableRequest = 308
    case pastProxy = 309
    case destinationDenied = 310
    case failed = 311
    case earlyRetry = 312
    case recordingDiffers = 313
    case nameDenied = 314
    case ignoredProxy = 315
    case credentialMisuse = 316
    case granted = 317

    init(_ kind: ViolationKind) {
        switch kind {
        case .responseStatus: self = .responseStatus
        case .responseContentType: self = .responseContentType
        case .responseBody: self = .responseBody
        case .bodyTooLarge: self = .bodyTooLarge
        case .pinMismatch: self = .pinMismatch
        case .certificateInvalid: self = .certificateInvalid
        case .unserializableRequest: self = .unserializableRequest
        case .destinationDenied: self = .destinationDenied
        case .earlyRetry: self = .earlyRetry
        case .recordingDiffers: self = .recordingDiffers
        case .credentialMisuse: self = .credentialMisuse
        }
    }

    /// The rule's id: `PINTLE0301`.
    var id: String { "PINTLE0\(self.rawValue)" }

    /// The rule's name, such as `pin-mismatch`. For violations, it is the name of the problem in the program's response;
    /// `would-deny` if the rule only reports.
    var name: String {
        switch self {
        case .denied: "denied"
        case .responseStatus: ViolationKind.responseStatus.rawValue
        case .responseContentType: ViolationKind.responseContentType.rawValue
        case .responseBody: ViolationKind.responseBody.rawValue
        case .bodyTooLarge: ViolationKind.bodyTooLarge.rawValue
        case .pinMismatch: ViolationKind.pinMismatch.rawValue
        case .certificateInvalid: ViolationKind.certificateInvalid.rawValue
        case .unserializableRequest: ViolationKind.unserializableRequest.rawValue
        case .pastProxy: "past-proxy"
        case .destinationDenied: "would-deny"
        case .failed: "failed"
        case .earlyRetry: ViolationKind.earlyRetry.rawValue
        case .recordingDiffers: ViolationKind.recordingDiffers.rawValue
        case .nameDenied: "name-denied"
        case .ignoredProxy: "ignored-proxy"
        case .credentialMisuse: ViolationKind.credentialMisuse.rawValue
        case .granted: "granted"
        }
    }

    /// A description of one sentence.
    var summary: String {
        switch self {
        case .denied: "The policy does not allow the request."
        case .responseStatus: "The response has a status that the route does not accept."
        case .responseContentType: "The response has a media type that the route does not accept."
        case .responseBody: "The body of the response is not what the route says."
        case .bodyTooLarge: "A body is larger than the route allows."
        case .pinMismatch: "The server's chain contains nothing that the trust policy pins."
        case .certificateInvalid: "The server's chain is not valid for its name, its roots or its time."
        case .unserializableRequest: "The request is not as its contract declares it."
        case .pastProxy: "The program connected to a server without the proxy."
        case .destinationDenied: "A rule that only reports would not allow the request."
        case .failed: "The request had no proper answer."
        case .earlyRetry: "The program asked again before the time that Retry-After named."
        case .recordingDiffers: "The answer differs from its recording."
        case .nameDenied: "The policy allows no connection to the name that the program looked up."
        case .ignoredProxy: "The program did not use the proxy variables, and was captured."
        case .credentialMisuse: "A request had a credential that is not for it."
        case .granted: "A destination was allowed by an answer."
        }
    }

    /// Advice for the reader of the report.
    var remedy: String {
        switch self {
        case .denied: "Allow the destination in the configuration, or keep the program from asking for it."
        case .responseStatus, .responseContentType, .responseBody:
            "Find out why the server answers otherwise, or change the route's `response`."
        case .bodyTooLarge: "Raise the route's max_body or limits.body_buffer where such bodies are meant."
        case .pinMismatch:
            "If the server's owner announced a new key, add its pin. Otherwise find out who answers in the server's place."
        case .certificateInvalid: "See what it shows with `pintle pins show`; have the server's owner repair it."
        case .unserializableRequest: "Change the program, or the contract that the route names."
        case .destinationDenied:
            "Allow the destination in the configuration, or name it under `trust`, before the rule is enforced."
        case .earlyRetry: "Have the program wait as long as Retry-After says."
        case .recordingDiffers: "See if the program can do with the new answer, and record it anew."
        case .nameDenied: "Allow the destination in the configuration, or keep the program from looking it up."
        case .credentialMisuse:
            "Find out why the program sends it there; if it should, name the request in the credential's `for`."
        case .granted: "Write the line into the configuration if the answer is meant to stay."
        case .ignoredProxy:
            "Nothing needs to be done: the same rules hold. docs/clients.md says how programs are told of a proxy."
        case .failed: "The reason says where it failed; see that the server is there and can be reached from here."
        case .pastProxy: "See how the program is told of a proxy (docs/clients.md), or run it with --isolate."
        }
    }
}
