// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

extension Problem {
    static var plainTextForTLS: Problem {
        Problem(
            .badRequest,
            "this port speaks TLS, and the request came in clear; write https:// before the proxy's address")
    }

    /// What is answered to bytes that are not a request.
    init(_ error: WireError) {
        switch error.code {
        case .headerTooLarge: self.init(.headerTooLarge, error.message)
        case .malformed, .unknownTransferCoding, .versionNotSupported:
            self.init(.badRequest, error.message, status: error.code.status)
        }
    }
}
