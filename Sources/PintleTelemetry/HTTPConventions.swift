// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage
internal import PintleSession

/// Values of OpenTelemetry's semantic conventions for HTTP.
enum HTTPConventions {
    /// Returns the value of `error.type`; nil if there was no error.
    static func errorType(_ status: UInt16?, _ error: SessionError?) -> String? {
        if let error { return error.code.rawValue }
        return status.flatMap { $0 >= 400 ? "\($0)" : nil }
    }

    /// Methods of RFC 9110 §9 and RFC 5789. Others are not used as values: clients can invent any number of them, and each
    /// would be a new time series.
    fileprivate static let methods: Set<String> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH",
    ]
}

extension SessionRequest {
    /// The value of `http.request.method`.
    var conventionalMethod: String { HTTPConventions.methods.contains(self.method) ? self.method : "_OTHER" }
}
