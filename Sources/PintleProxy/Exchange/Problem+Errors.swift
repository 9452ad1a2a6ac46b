// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession
internal import PintleTrust

extension Problem {
    /// What is answered when a transfer failed before the answer began.
    init(_ error: SessionError) {
        let detail = error.cause.map { "\(error.message) (\($0))" } ?? error.message
        switch error.code {
        case .dnsFailure: self.init(.dnsFailure, detail)
        case .connectFailure: self.init(.connectFailure, detail)
        case .connectionRefused: self.init(.connectFailure, detail, proxyError: "connection_refused")
        case .connectTimeout: self.init(.connectTimeout, detail)
        case .timeout: self.init(.upstreamTimeout, detail)
        case .networkUnreachable: self.init(.networkUnreachable, detail)
        case .addressDenied: self.init(.destinationDenied, detail, proxyError: "destination_ip_prohibited")
        case .exhausted, .overloaded: self.init(.overloaded, detail)
        case .tlsFailure: self.init(.tlsFailure, detail)
        case .malformedResponse: self.init(.upstreamProtocol, detail)
        case .truncated, .connectionBroken, .cannotSend, .cannotRewind, .tooLarge, .cancelled, .internalError:
            self.init(.upstreamProtocol, detail, proxyError: "http_response_incomplete")
        // Only the session's tasks fail so; an exchange is a bare transfer.
        case .invalidURL, .invalidRequest, .cleartext, .unreadableSource, .cannotWrite, .badRedirect, .hookFailed,
            .cacheMiss, .rejected, .invalidated:
            self.init(.upstreamProtocol, detail, proxyError: "http_response_incomplete")
        case .untrusted: self.init(untrusted: error)
        }
    }

    private init(untrusted error: SessionError) {
        guard let verdict = error.verdict, let problem = Problem(refusing: verdict, saying: error.message) else {
            self.init(.certificateInvalid, error.message)
            return
        }
        self = problem
    }

    /// What is answered where a policy has refused a server; nil where it has not.
    ///
    /// - Parameter message: in place of the verdict's own.
    init?(refusing verdict: Verdict, saying message: String? = nil) {
        guard let error = verdict.error else { return nil }
        // The rest of the message lists what stands in members of its own here.
        let message = message ?? error.message
        let firstLine = message.split(separator: "\n").first.map(String.init) ?? message
        self.init(error.code == .pinMismatch ? .pinMismatch : .certificateInvalid, firstLine)
        self.chain = verdict.chain.map { Certificate(subject: $0.subject, pin: $0.spkiPin.description) }
        self.configuredPins = verdict.configuredPins.map(\.description)
        if let cause = error.cause { self.causes = [cause] }
    }
}

extension ValidationError {
    /// The kinds of this error and of those behind it, each once.
    var kinds: [ViolationKind] {
        self.chain.map { ViolationKind($0.kind) }.reduce(into: []) { kinds, kind in
            if !kinds.contains(kind) { kinds.append(kind) }
        }
    }
}

extension ViolationKind {
    fileprivate init(_ kind: ValidationError.Kind) {
        switch kind {
        case .responseStatus: self = .responseStatus
        case .responseContentType: self = .responseContentType
        case .responseBody: self = .responseBody
        case .bodyTooLarge: self = .bodyTooLarge
        }
    }
}

extension Problem {
    /// The answer where a parent does not let requests of this proxy through.
    init(unadmittedBy parent: ProxyServer) {
        let remedy =
            parent.credential == nil
            ? "set upstream_proxy.username and password" : "it does not take the credential of the configuration"
        self.init(.connectFailure, "the proxy \(parent.authority) answered 407 to a request of this proxy; \(remedy)")
    }
}
