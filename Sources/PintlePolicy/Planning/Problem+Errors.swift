// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintleSerialization
package import PintleSession
package import PintleTrust

extension Problem {
    /// The problem with bytes that are not a request.
    package init(_ error: WireError) {
        switch error.code {
        case .headerTooLarge: self.init(.headerTooLarge, error.message)
        case .malformed, .unknownTransferCoding, .versionNotSupported:
            self.init(.badRequest, error.message, status: error.code.status)
        }
    }

    /// The problem with a request that cannot take the route's form.
    package init(_ error: SerializationError) {
        self.init(error.code == .tooLarge ? .bodyTooLarge : .unserializableRequest, error.description)
    }

    /// The problem with a response that broke its contract.
    package init(_ error: ValidationError) {
        let name: Name =
            switch error.kind {
            case .responseStatus: .responseStatus
            case .responseContentType: .responseContentType
            case .responseBody: .responseBody
            case .bodyTooLarge: .bodyTooLarge
            }
        if error.kind == .bodyTooLarge {
            self.init(name, error.message, status: 502, proxyError: "http_response_body_size")
        } else {
            self.init(name, error.message)
        }
        self.upstreamStatus = error.status
        self.upstreamContentType = error.contentType
        self.causes = error.chain.dropFirst().map(\.message)
    }
}

extension Problem {
    /// The problem with a transfer that failed before its response began.
    package init(_ error: SessionError) {
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
        // Only tasks of a session fail with these; an exchange is a bare transfer.
        case .invalidURL, .invalidRequest, .invalidPolicy, .cleartext, .unreadableSource, .cannotWrite, .badRedirect,
            .hookFailed, .undecodable, .rejected, .invalidated:
            self.init(.upstreamProtocol, detail, proxyError: "http_response_incomplete")
        case .cacheMiss: self.init(.cacheMiss, detail)
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

    /// The problem with a server that a policy has refused; nil if the policy accepted it.
    ///
    /// - Parameter message: replaces the verdict's own message.
    package init?(refusing verdict: Verdict, saying message: String? = nil) {
        guard let error = verdict.error else { return nil }
        // The further lines repeat data that the problem has in members of its own.
        let message = message ?? error.message
        let firstLine = message.split(separator: "\n").first.map(String.init) ?? message
        self.init(error.code == .pinMismatch ? .pinMismatch : .certificateInvalid, firstLine)
        self.chain = verdict.chain.map { Certificate(subject: $0.subject, pin: $0.spkiPin.description) }
        self.configuredPins = verdict.configuredPins.map(\.description)
        if let cause = error.cause { self.causes = [cause] }
    }

    /// The problem with an upstream proxy that does not let this proxy's requests through.
    ///
    /// - Parameter fields: those of the upstream proxy's 407.
    package init(unadmittedBy parent: ProxyServer, _ fields: Fields) {
        let remedy =
            if let schemes = AuthenticationChallenge.schemesInsteadOfBasic(in: fields) {
                "it asks for \(schemes), and a credential of the configuration is sent as Basic only"
            } else if parent.credential == nil {
                "set upstream_proxy.username and password"
            } else {
                "it does not take the credential of the configuration"
            }
        self.init(.connectFailure, "the proxy \(parent.authority) answered 407 to a request of this proxy; \(remedy)")
    }

    /// The problem with a client that speaks plaintext to a TLS port.
    package static var plainTextForTLS: Problem {
        Problem(
            .badRequest,
            "this port speaks TLS, and the request came in clear; write https:// before the proxy's address")
    }
}

extension ValidationError {
    /// The kinds of this error and of those that follow in its chain, each once.
    package var kinds: [Kind] {
        self.chain.map(\.kind).reduce(into: []) { kinds, kind in
            if !kinds.contains(kind) { kinds.append(kind) }
        }
    }
}
