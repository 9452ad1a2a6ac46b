// SPDX-License-Identifier: Apache-2.0

package import PintleMessage
package import PintleSerialization
package import PintleTrust

/// A complete response that Pintle itself makes.
package struct OwnResponse {
    package private(set) var head: ResponseHead
    package private(set) var body: [UInt8] = []
    /// A sentence for the log; nil if there is nothing to say.
    package private(set) var note: String?

    /// The response to a request that ends at this proxy.
    package init(asLastOf request: RequestHead) {
        self.head = ResponseHead(status: 200, reason: "OK")
        guard request.method == "TRACE" else {
            self.head.fields.append("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, CONNECT")
            return
        }
        // Echoes the request as received, without the fields that identify the client (RFC 9110 §9.3.8).
        var echoed = request.fields
        for name in [FieldName.authorization, .proxyAuthorization, .cookie] { echoed.remove(name) }
        self.head.fields.append("Content-Type", "message/http")
        self.body = Array("TRACE \(request.target.path ?? "*") HTTP/1.\(request.minorVersion)\r\n".utf8)
        echoed.forEachRun { self.body += $0 }
        self.body += Array("\r\n".utf8)
    }

    /// The response in place of one that breaks its contract.
    ///
    /// - Parameter time: the response's Date. Default: now.
    package init(_ placeholder: ResponseRules.Placeholder, for violation: ValidationError, at time: UnixTime = .now) {
        self.init(placeholder, at: time)
        for kind in violation.kinds { self.head.fields.append("Pintle-Violation", kind.rawValue) }
    }

    /// The response in place of one that does not come; `Proxy-Status` gives the reason (RFC 9209).
    ///
    /// - Parameter time: the response's Date. Default: now.
    package init(_ placeholder: ResponseRules.Placeholder, for problem: Problem, at time: UnixTime = .now) {
        self.init(placeholder, at: time)
        self.head.fields.append("Proxy-Status", ProblemWriter.proxyStatus(problem))
    }

    /// The response in place of one that is late.
    ///
    /// - Parameter time: the response's Date. Default: now.
    package init(_ placeholder: ResponseRules.Placeholder, at time: UnixTime = .now) {
        self.head = ResponseHead(status: placeholder.status, reason: "")
        self.head.fields.append("Date", HTTPDate.text(time.seconds))
        self.head.fields.append("Content-Type", placeholder.mediaType)
        self.head.fields.append("Cache-Control", "no-store")
        self.body = placeholder.body
    }

    /// The response that describes a problem.
    package init(_ problem: Problem, _ context: ProblemWriter.Context) {
        (self.head, self.body) = ProblemWriter.response(problem, context)
    }

    /// The response of a route itself.
    ///
    /// - Parameter time: the response's Date. Default: now.
    package init(_ answer: RouteAnswer, at time: UnixTime = .now) {
        self.head = ResponseHead(status: answer.status, reason: "", fields: answer.fields)
        if !answer.fields.contains(.date) { self.head.fields.append("Date", HTTPDate.text(time.seconds)) }
        (self.body, self.note) = (answer.body, answer.note)
    }

    /// Returns the head, with its fields changed by the route.
    package func head(by rewriter: ResponseRewriter?) -> ResponseHead {
        var head = self.head
        rewriter?.apply(toOwn: &head.fields)
        return head
    }
}
