// SPDX-License-Identifier: Apache-2.0

package import PintleMessage

extension Problem {
    /// The answer to bytes that are not a request.
    package init(_ error: WireError) {
        switch error.code {
        case .headerTooLarge: self.init(.headerTooLarge, error.message)
        case .malformed, .unknownTransferCoding, .versionNotSupported:
            self.init(.badRequest, error.message, status: error.code.status)
        }
    }

    /// The answer to a request that cannot take the route's form.
    package init(_ error: SerializationError) {
        self.init(error.code == .tooLarge ? .bodyTooLarge : .unserializableRequest, error.description)
    }

    /// The answer in place of a response that broke its contract.
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
