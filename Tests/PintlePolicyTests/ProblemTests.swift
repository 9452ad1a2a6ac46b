// SPDX-License-Identifier: Apache-2.0

import PintleMessage
import PintlePolicy
import PintleTrust
import Testing

@Suite struct ProblemTests {
    struct Row: Sendable {
        let name: Problem.Name
        let status: UInt16
        let proxyError: String
        let decision: String

        init(_ name: Problem.Name, _ status: UInt16, _ proxyError: String, _ decision: String) {
            (self.name, self.status, self.proxyError, self.decision) = (name, status, proxyError, decision)
        }
    }

    /// The table of the contract, §3.4, with the decision in the exchange log.
    static let table = [
        Row(.clientDenied, 403, "http_request_denied", "deny"),
        Row(.destinationDenied, 403, "http_request_denied", "deny"),
        Row(.proxyAuthRequired, 407, "http_request_denied", "deny"),
        Row(.loopDetected, 508, "proxy_loop_detected", "deny"),
        Row(.badRequest, 400, "http_request_error", "error"),
        Row(.headerTooLarge, 431, "http_request_error", "error"),
        Row(.requestTimeout, 408, "http_request_error", "error"),
        Row(.bodyTooLarge, 413, "http_request_error", "error"),
        Row(.unserializableRequest, 422, "http_request_error", "error"),
        Row(.dnsFailure, 502, "dns_error", "error"),
        Row(.connectFailure, 502, "destination_unavailable", "error"),
        Row(.connectTimeout, 504, "connection_timeout", "error"),
        Row(.upstreamTimeout, 504, "http_response_timeout", "error"),
        Row(.upstreamProtocol, 502, "http_protocol_error", "error"),
        Row(.tlsFailure, 502, "tls_protocol_error", "error"),
        Row(.pinMismatch, 502, "tls_certificate_error", "reject"),
        Row(.certificateInvalid, 502, "tls_certificate_error", "reject"),
        Row(.responseStatus, 502, "proxy_internal_response", "reject"),
        Row(.responseContentType, 502, "proxy_internal_response", "reject"),
        Row(.responseBody, 502, "proxy_internal_response", "reject"),
        Row(.networkUnreachable, 503, "destination_ip_unroutable", "error"),
        Row(.credentialMisuse, 403, "http_request_denied", "deny"),
        Row(.overloaded, 503, "connection_limit_reached", "deny"),
        Row(.cacheMiss, 504, "proxy_internal_response", "error"),
        Row(.recordingMissing, 504, "proxy_internal_response", "error"),
    ]

    @Test(arguments: table)
    func `a problem has the contract's status and RFC 9209 error, and its decision`(row: Row) {
        let problem = Problem(row.name, "why")
        #expect(problem.status == row.status)
        #expect(problem.proxyError == row.proxyError)
        #expect(row.name.decision == row.decision)
        #expect(!row.name.title.isEmpty)
    }

    @Test func `the table has every problem`() {
        #expect(Set(Self.table.map(\.name)) == Set(Problem.Name.allCases))
    }

    private func render(_ problem: Problem, json: Bool = true) -> (head: ResponseHead, body: String) {
        let context = ProblemWriter.Context(
            exchangeID: "1-2", route: "r", trust: nil, json: json, time: UnixTime(seconds: 784_111_777))
        let (head, body) = ProblemWriter.response(problem, context)
        return (head, String(decoding: body, as: UTF8.self))
    }

    @Test func `a problem is RFC 9457 JSON, with the chain of causes and the peer's keys`() {
        var problem = Problem(.pinMismatch, "no key of a \"peer\" is pinned")
        problem.chain = [.init(subject: "CN=a", pin: "sha256/A=")]
        problem.configuredPins = ["sha256/B="]
        problem.causes = ["one"]
        let (head, body) = self.render(problem)
        #expect(head.fields[.contentType] == "application/problem+json")
        #expect(head.fields[.date] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(
            body == """
                {"type":"urn:pintle:problem:pin-mismatch","title":"Origin Key Is Not Pinned","status":502,\
                "detail":"no key of a \\"peer\\" is pinned","instance":"1-2","route":"r","causes":["one"],\
                "chain":[{"subject":"CN=a","pin":"sha256/A="}],"configured_pins":["sha256/B="]}

                """)
        #expect(
            head.fields["Proxy-Status"]
                == #"pintle; error=tls_certificate_error; details="no key of a \"peer\" is pinned""#)
    }

    @Test func `hostile text cannot leave the header or the body`() {
        let (head, body) = self.render(Problem(.badRequest, "a\r\nSet-Cookie: x\u{0}\u{7F}ü\\"))
        let status = head.fields["Proxy-Status"] ?? ""
        #expect(FieldSyntax.isValue(status))
        #expect(status.hasSuffix(#"details="a??Set-Cookie: x???\\""#))
        #expect(!body.dropLast().contains("\n"))
    }

    @Test func `LOOK-50 LOOK-53 quotation marks are ASCII in the field, and nothing deceives in the body`() {
        for json in [true, false] {
            let (head, body) = self.render(Problem(.responseBody, "“open”: it’s\u{9B}2J\u{202E}"), json: json)
            #expect(head.fields["Proxy-Status"]?.hasSuffix(#"details="'open': it's?2J?""#) == true, "\(head)")
            #expect(body.contains(#"“open”: it’s\u009b2J\u202e"#), "\(body)")
        }
    }

    @Test func `long text is cut in the field, and a long type everywhere`() {
        let text = String(repeating: "x\\", count: 10_000)
        var problem = Problem(.responseContentType, text)
        problem.upstreamContentType = "text-" + text
        let (head, body) = self.render(problem)
        let details = String(repeating: #"x\\"#, count: 256)
        #expect(
            head.fields["Proxy-Status"] == #"pintle; error=proxy_internal_response; details="\#(details)...""#)
        let type = "text-" + String(repeating: #"x\\"#, count: 97) + "x…"
        #expect(body.contains(#""upstream_content_type":"\#(type)""#), "\(body.suffix(500))")
    }

    @Test func `a client that takes no JSON reads text`() {
        let (head, body) = self.render(Problem(.overloaded, "too many"), json: false)
        #expect(head.fields[.contentType] == "text/plain; charset=utf-8")
        #expect(head.fields["Retry-After"] == "1")
        #expect(body == "503 Limit Reached\ntoo many\nurn:pintle:problem:overloaded 1-2\n")
    }

    @Test(
        arguments: [
            (nil, true), ("*/*", true), ("text/html, application/json;q=0.5", true), ("application/*", true),
            ("text/html", false), ("application/json;q=0", false), ("text/plain, */* ; q=0.1", true), ("", false),
        ] as [(String?, Bool)])
    func `Accept decides between JSON and text`(accept: String?, json: Bool) {
        #expect(ProblemWriter.acceptsJSON(accept) == json)
    }

    @Test func `LOOK-106 a failure that a placeholder stands for has the name of its problem`() {
        for failure in ResponseRules.OriginFailure.allCases { #expect(Problem.Name(rawValue: failure.rawValue) != nil) }
    }
}
