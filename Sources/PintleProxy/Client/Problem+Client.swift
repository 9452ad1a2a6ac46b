// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintlePolicy

extension Problem {
    static var plainTextForTLS: Problem {
        Problem(
            .badRequest,
            "this port speaks TLS, and the request came in clear; write https:// before the proxy's address")
    }
}
