// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleSerialization
internal import PintleTrust

extension ViolationKind {
    init(_ kind: ValidationError.Kind) {
        switch kind {
        case .responseStatus: self = .responseStatus
        case .responseContentType: self = .responseContentType
        case .responseBody: self = .responseBody
        case .bodyTooLarge: self = .bodyTooLarge
        }
    }

    init?(_ error: TrustError) {
        switch error.code {
        case .pinMismatch: self = .pinMismatch
        case .certificateInvalid: self = .certificateInvalid
        default: return nil
        }
    }
}
