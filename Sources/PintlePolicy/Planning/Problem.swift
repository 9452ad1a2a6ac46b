// SPDX-License-Identifier: Apache-2.0

internal import PintleMessage

/// A problem that Pintle itself answers a request with; its type is `urn:pintle:problem:NAME` (RFC 9457).
package struct Problem: Error, Sendable {
    /// The documented names of problems.
    package enum Name: String, BitwiseCopyable, Sendable, CaseIterable {
        case clientDenied = "client-denied"
        case proxyAuthRequired = "proxy-auth-required"
        case destinationDenied = "destination-denied"
        case loopDetected = "loop-detected"
        case badRequest = "bad-request"
        case headerTooLarge = "header-too-large"
        case requestTimeout = "request-timeout"
        case bodyTooLarge = "body-too-large"
        case unserializableRequest = "unserializable-request"
        case dnsFailure = "dns-failure"
        case connectFailure = "connect-failure"
        case connectTimeout = "connect-timeout"
        case upstreamTimeout = "upstream-timeout"
        case upstreamProtocol = "upstream-protocol"
        case tlsFailure = "tls-failure"
        case pinMismatch = "pin-mismatch"
        case certificateInvalid = "certificate-invalid"
        case responseStatus = "response-status"
        case responseContentType = "response-content-type"
        case responseBody = "response-body"
        case networkUnreachable = "network-unreachable"
        case overloaded = "overloaded"
        case cacheMiss = "cache-miss"
        case recordingMissing = "recording-missing"
        case credentialMisuse = "credential-misuse"
    }

    /// One certificate of the peer's chain.
    package struct Certificate: Sendable {
        package let subject: String
        package let pin: String

        package init(subject: String, pin: String) { (self.subject, self.pin) = (subject, pin) }
    }

    /// The name of the problem.
    package let name: Name
    /// The status of the response.
    package let status: UInt16
    /// The error type of RFC 9209.
    package let proxyError: String
    /// A sentence that says what happened, to which host or client, and what to do.
    package let detail: String
    /// The reason phrase, if it is not the title of the name.
    package var phrase: String?
    /// Status and media type of an origin's response that was rejected.
    package var upstreamStatus: UInt16?
    package var upstreamContentType: String?
    /// The chain of underlying errors, outermost first.
    package var causes: [String] = []
    /// True if the request breaks its API contract, which counts as a violation.
    package var breaksContract = false
    /// The challenge to a client that must authenticate: the value of Proxy-Authenticate.
    package var challenge: String?
    /// The chain of a peer that was refused, and the configured pins.
    package var chain: [Certificate] = []
    package var configuredPins: [String] = []

    /// Makes a problem. Status and RFC 9209 error are the usual ones of the name unless given.
    package init(_ name: Name, _ detail: String, status: UInt16? = nil, proxyError: String? = nil) {
        self.name = name
        self.detail = detail
        self.status = status ?? name.status
        self.proxyError = proxyError ?? name.proxyError
    }
}

extension Problem.Name {
    /// The usual status.
    package var status: UInt16 {
        switch self {
        case .clientDenied, .destinationDenied, .credentialMisuse: 403
        case .proxyAuthRequired: 407
        case .loopDetected: 508
        case .badRequest: 400
        case .headerTooLarge: 431
        case .requestTimeout: 408
        case .bodyTooLarge: 413
        case .unserializableRequest: 422
        case .dnsFailure, .connectFailure, .upstreamProtocol, .tlsFailure, .pinMismatch, .certificateInvalid,
            .responseStatus, .responseContentType, .responseBody:
            502
        case .connectTimeout, .upstreamTimeout, .cacheMiss, .recordingMissing: 504
        case .networkUnreachable, .overloaded: 503
        }
    }

    /// The error type of RFC 9209 §2.3.
    package var proxyError: String {
        switch self {
        case .clientDenied, .proxyAuthRequired, .destinationDenied, .credentialMisuse: "http_request_denied"
        case .loopDetected: "proxy_loop_detected"
        case .badRequest, .headerTooLarge, .requestTimeout, .bodyTooLarge, .unserializableRequest: "http_request_error"
        case .dnsFailure: "dns_error"
        case .connectFailure: "destination_unavailable"
        case .connectTimeout: "connection_timeout"
        case .upstreamTimeout: "http_response_timeout"
        case .upstreamProtocol: "http_protocol_error"
        case .tlsFailure: "tls_protocol_error"
        case .pinMismatch, .certificateInvalid: "tls_certificate_error"
        case .responseStatus, .responseContentType, .responseBody, .cacheMiss, .recordingMissing:
            "proxy_internal_response"
        case .networkUnreachable: "destination_ip_unroutable"
        case .overloaded: "connection_limit_reached"
        }
    }

    /// The value of `decision` in the exchange log: `deny` if the request was refused, `reject` if the response or the
    /// origin was, and else `error`.
    package var decision: String {
        switch self {
        case .clientDenied, .proxyAuthRequired, .destinationDenied, .loopDetected, .overloaded, .credentialMisuse:
            "deny"
        case .responseStatus, .responseContentType, .responseBody, .pinMismatch, .certificateInvalid: "reject"
        case .badRequest, .headerTooLarge, .requestTimeout, .bodyTooLarge, .unserializableRequest, .dnsFailure,
            .connectFailure, .connectTimeout, .upstreamTimeout, .upstreamProtocol, .tlsFailure, .networkUnreachable,
            .cacheMiss, .recordingMissing:
            "error"
        }
    }

    /// The reason phrase. Most clients show nothing else of a refused CONNECT.
    package var title: String {
        switch self {
        case .clientDenied: "Client Not Allowed"
        case .proxyAuthRequired: "Proxy Authentication Required"
        case .destinationDenied: "Destination Denied By Policy"
        case .loopDetected: "Loop Detected"
        case .badRequest: "Malformed Request"
        case .headerTooLarge: "Request Head Too Large"
        case .requestTimeout: "Request Not Complete In Time"
        case .bodyTooLarge: "Body Larger Than The Buffer"
        case .unserializableRequest: "Request Cannot Be Serialized"
        case .dnsFailure: "Host Not Found"
        case .connectFailure: "Connection To Origin Failed"
        case .connectTimeout: "Connection To Origin Timed Out"
        case .upstreamTimeout: "Origin Timed Out"
        case .upstreamProtocol: "Origin Broke The Protocol"
        case .tlsFailure: "TLS Handshake With Origin Failed"
        case .pinMismatch: "Origin Key Is Not Pinned"
        case .certificateInvalid: "Origin Certificate Is Invalid"
        case .responseStatus: "Unacceptable Response Status"
        case .responseContentType: "Unacceptable Response Content Type"
        case .responseBody: "Unacceptable Response Body"
        case .networkUnreachable: "No Route To Origin"
        case .overloaded: "Limit Reached"
        case .cacheMiss: "Nothing Is Cached"
        case .recordingMissing: "Nothing Is Recorded"
        case .credentialMisuse: "Credential Not For This Request"
        }
    }
}
