// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintleTrust

/// A response of Pintle's own, whole.
package struct OwnResponse {
    package private(set) var head: ResponseHead
    package private(set) var body: [UInt8] = []

    /// The answer to a request that goes no further than this proxy.
    package init(asLastOf request: RequestHead) {
        self.head = ResponseHead(status: 200, reason: "OK")
        guard request.method == "TRACE" else {
            self.head.fields.append("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, CONNECT")
            return
        }
        // The request goes back as it was received, but for what identifies the client (RFC 9110 §9.3.8).
        var echoed = request.fields
        for name in [FieldName.authorization, .proxyAuthorization, .cookie] { echoed.remove(name) }
        self.head.fields.append("Content-Type", "message/http")
        self.body = Array("TRACE \(request.target.path ?? "*") HTTP/1.\(request.minorVersion)\r\n".utf8)
        echoed.forEachRun { self.body += $0 }
        self.body += Array("\r\n".utf8)
    }

    /// The answer in place of a response that breaks its contract.
    ///
    /// - Parameter time: of the answer. Default: now.
    package init(_ placeholder: ResponseRules.Placeholder, for violation: ValidationError, at time: UnixTime = .now) {
        self.init(placeholder, at: time)
        for kind in violation.kinds { self.head.fields.append("Pintle-Violation", kind.rawValue) }
    }

    /// The answer in place of one that does not come; `Proxy-Status` says why (RFC 9209).
    ///
    /// - Parameter time: of the answer. Default: now.
    package init(_ placeholder: ResponseRules.Placeholder, for problem: Problem, at time: UnixTime = .now) {
        self.init(placeholder, at: time)
        self.head.fields.append("Proxy-Status", ProblemWriter.proxyStatus(problem))
    }

    /// The answer in place of one that is late.
    ///
    /// - Parameter time: of the answer. Default: now.
    package init(_ placeholder: ResponseRules.Placeholder, at time: UnixTime = .now) {
        self.head = ResponseHead(status: placeholder.status, reason: "")
        self.head.fields.append("Date", HTTPDate.text(time.seconds))
        self.head.fields.append("Content-Type", placeholder.mediaType)
        self.head.fields.append("Cache-Control", "no-store")
        self.body = placeholder.body
    }

    /// The answer that says what is wrong.
    package init(_ problem: Problem, _ context: ProblemWriter.Context) {
        (self.head, self.body) = ProblemWriter.response(problem, context)
    }

    /// Its head with the fields that a route has its clients get.
    package func head(by rules: HeaderRules?) -> ResponseHead {
        var head = self.head
        rules?.apply(to: &head.fields)
        return head
    }
}
