// SPDX-License-Identifier: Apache-2.0

internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy

/// A response of Pintle's own, whole.
struct OwnResponse {
    var head: ResponseHead
    var body: [UInt8] = []

    /// The answer to a request that goes no further than this proxy.
    init(asLastOf request: RequestHead) {
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
    init(_ placeholder: ResponseRules.Placeholder, for violation: ValidationError) {
        self.head = ResponseHead(status: placeholder.status, reason: "")
        self.head.fields.append("Date", HTTPDate.now)
        self.head.fields.append("Content-Type", placeholder.mediaType)
        self.head.fields.append("Cache-Control", "no-store")
        for kind in violation.kinds { self.head.fields.append("Pintle-Violation", kind.rawValue) }
        self.body = placeholder.body
    }

    init(_ problem: Problem, _ context: ProblemWriter.Context) {
        (self.head, self.body) = ProblemWriter.response(problem, context)
    }
}
