// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import PintleActivity
internal import PintleMessage
internal import PintlePolicy
internal import PintleSession

// Requests that go no further, and tunnels.
extension Exchange {
    /// This proxy is as far as the request goes.
    func answerAsLast() {
        guard self.head.method == "TRACE" else { return self.answerOptions() }
        // What was received goes back, but for what identifies the client (RFC 9110 §9.3.8).
        var echoed = self.head.fields
        for name in [FieldName.authorization, .proxyAuthorization, .cookie] { echoed.remove(name) }
        var body = ByteBuffer(string: "TRACE \(self.head.target.path ?? "*") HTTP/1.\(self.head.minorVersion)\r\n")
        echoed.forEachRun { body.writeBytes($0) }
        body.writeStaticString("\r\n")
        let response = ResponseHead(status: 200, reason: "OK", fields: ["Content-Type": "message/http"])
        self.write(response, framing: .length(UInt64(body.readableBytes)))
        self.connection.write { $0.writeBuffer(&body) }
        self.finish(.completed)
    }

    func answerOptions() {
        var response = ResponseHead(status: 200, reason: "OK")
        response.fields.append("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE, CONNECT")
        self.write(response, framing: .length(0))
        self.finish(.completed)
    }

    func openTunnel(to authority: Authority) {
        guard self.framing == .none else {
            return self.refuse(Problem(.badRequest, "a CONNECT request has no content"))
        }
        let query = RouteQuery(method: "CONNECT", scheme: .https, authority: authority, path: "/", form: .proxy)
        let decision = self.gate.policy.decideTunnel(query)
        self.take(decision)
        self.gate.trustUses.note(query, decision, isTunnel: true)
        self.report.mode = .tunnel
        if let denial = self.denial(by: decision) { return self.refuse(denial) }
        if let limit = self.connection.lane.census.enterTunnel(self.connection.client, self.gate.limits) {
            return self.refuse(Problem(.overloaded, "there are as many tunnels as \(limit) allows"))
        }
        self.report.holdsTunnel = true
        self.connectTunnel(to: authority)
    }

    /// Makes the connection of a tunnel.
    func connectTunnel(to authority: Authority) {
        var request = TransferRequest(method: "GET", scheme: .http, authority: authority, path: "/")
        request.connectOnly = true
        // A probe needs a bare socket, which there is none of by an https parent.
        let mustProve = self.decision?.trust != nil && self.parent?.scheme == .https && self.proven == nil
        if mustProve, let sentTo {
            if self.isProvenAlready(to: authority, sentTo) { return }
            request.scheme = .https
        }
        // Whom the CONNECT has passed, for a parent that might lead back here.
        var fields = Fields()
        for passed in self.head.fields.values(of: "Via") { fields.append("Via", passed) }
        if let via = self.gate.via { Forwarding.appendVia(via, version: "1.\(self.head.minorVersion)", to: &fields) }
        request.connectFields = fields
        if let rules { request.connectTimeout = rules.connectTimeout }
        _ = self.begin(request, in: (mustProve ? self.sentTo : nil)?.session ?? self.gate.session(for: nil).session)
    }
}
