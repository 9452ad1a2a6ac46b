// SPDX-License-Identifier: Apache-2.0

import Testing

/// The plan for a request, by its head and the configuration: the step, its grounds, and the request to the origin.
struct RequestPlanTests {
    /// Refusals, own answers and destinations.
    static let steps: [PlanRow] = [
        PlanRow(
            name: "a request passes as it is",
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "GET http://a.test/"),
        PlanRow(
            name: "a loop is detected", request: ["GET http://a.test/", "Via: 1.1 x, 1.1 Pintle (y)"],
            step: #"refuse 508 loop-detected: the request has passed "pintle" before; give each proxy its own "#
                + "via"),
        PlanRow(
            name: "no pseudonym, no loop", policy: "via: false", request: ["GET http://a.test/", "Via: 1.1 pintle"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "GET http://a.test/"),
        PlanRow(
            name: "a path needs a gateway route", request: ["GET /x", "Host: a.test"],
            step: "refuse 400 bad-request: no gateway route matches a.test:80; use Pintle as a proxy, or "
                + "give a route an upstream",
            decision: "-, allowed by destinations.default"),
        PlanRow(
            name: "LOOK-109 a refusal of the gateway says why",
            policy: "routes: [{name: g, match: {hosts: [b.test]}, upstream: \"http://up.test/base\"}]",
            request: ["GET /x", "Host: a.test"],
            step:
                "refuse 400 bad-request: no gateway route matches a.test:80 (routes[0] \"g\": a.test:80 is none of its "
                + "hosts); use Pintle as a proxy, or give a route an upstream",
            decision: "-, allowed by destinations.default"),
        PlanRow(
            name: "a gateway route takes a path",
            policy: "routes: [{name: g, match: {hosts: [a.test]}, upstream: \"http://up.test/base\"}]",
            request: ["GET /x", "Host: a.test"],
            step: "send",
            decision: "g, allowed by destinations.default",
            made: "GET http://up.test/base/x"),
        PlanRow(
            name: "a gateway route that is denied",
            policy:
                "destinations: {deny: [up.test]}\nroutes: [{name: g, match: {hosts: [a.test]}, upstream: \"http://up.test\"}]",
            request: ["GET /x", "Host: a.test"],
            step: #"refuse 403 destination-denied: up.test:80 is denied by destinations.deny[0] "up.test""#,
            decision: #"g, denied by destinations.deny[0] "up.test""#),
        PlanRow(
            name: "a path needs a readable Host", request: ["GET /x", "Host: "],
            step: "refuse 400 bad-request: a request with a path for a target needs a Host"),
        PlanRow(
            name: "OPTIONS * is answered here", request: ["OPTIONS *", "Host: a.test"],
            step: "answer"),
        PlanRow(
            name: "a denied destination", policy: "destinations: {deny: [a.test]}",
            step: #"refuse 403 destination-denied: a.test:80 is denied by destinations.deny[0] "a.test""#,
            decision: #"-, denied by destinations.deny[0] "a.test""#),
        PlanRow(
            name: "a destination that nobody allows", policy: "destinations: {default: deny, allow: [b.test]}",
            step: "refuse 403 destination-denied: a.test:80 is denied by destinations.default",
            decision: "-, denied by destinations.default"),
        PlanRow(
            name: "a denied address", policy: "destinations: {private_addresses: deny}",
            request: ["GET http://10.0.0.1/"],
            step: "refuse 403 destination-denied: 10.0.0.1:80 is denied by destinations.private_addresses "
                + "deny: 10.0.0.0/8 is private use",
            decision: "-, denied by destinations.private_addresses deny: 10.0.0.0/8 is private use"),
        PlanRow(
            name: "a denied port", policy: "destinations: {ports: [80]}", request: ["GET http://a.test:8080/"],
            step: "refuse 403 destination-denied: a.test:8080 is denied by destinations.ports [80]",
            decision: "-, denied by destinations.ports [80]"),
        PlanRow(
            name: "a destination that is judged by its address",
            policy: "destinations: {default: deny, allow: [\"192.0.2.0/24\"]}",
            step: "send",
            decision: "-, by address",
            made: "GET http://a.test/"),
        PlanRow(
            name: "the upstream is the destination that is judged",
            policy: "destinations: {deny: [a.test]}\nroutes: [{name: r, upstream: \"https://up.test\"}]",
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "GET https://up.test/"),
        PlanRow(
            name: "dots in a path under an upstream", policy: "routes: [{name: r, upstream: \"http://up.test\"}]",
            request: ["GET http://a.test/a/../b"],
            step: "refuse 400 bad-request: a path with . or .. segments is not sent to an upstream with a "
                + "base URL"),
        PlanRow(
            name: "a path that two routes could claim",
            policy: "routes: [{name: r, match: {paths: [\"/a/b\"]}}, {name: s}]", request: ["GET http://a.test/a%2Fb"],
            step: #"refuse 400 bad-request: servers read the path differently, and it is one of routes[1] "s" "#
                + #"or of routes[0] "r""#),
        PlanRow(
            name: "a prefix is stripped",
            policy: "routes: [{name: r, upstream: \"https://up.test/v2\", strip_prefix: /pay}]",
            request: ["GET http://a.test/pay/x?y=1"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "GET https://up.test/v2/x?y=1"),
        PlanRow(
            name: "the last hop is here", request: ["TRACE http://a.test/", "Max-Forwards: 0"],
            step: "answer",
            decision: "-, allowed by destinations.default"),
        PlanRow(
            name: "the last hop is here for OPTIONS, too", request: ["OPTIONS http://a.test/x", "Max-Forwards: 0"],
            step: "answer",
            decision: "-, allowed by destinations.default"),
        PlanRow(
            name: "a hop less is left", request: ["OPTIONS http://a.test/x", "Max-Forwards: 3"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "OPTIONS http://a.test/x {Max-Forwards: 2}"),
        PlanRow(
            name: "GET counts no hops", request: ["GET http://a.test/", "Max-Forwards: 0"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "GET http://a.test/ {Max-Forwards: 0}"),
        PlanRow(
            name: "hops that are no number", request: ["TRACE http://a.test/", "Max-Forwards: +0"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "TRACE http://a.test/ {Max-Forwards: +0}"),
        PlanRow(
            name: "a denied destination is told before the last hop", policy: "destinations: {deny: [a.test]}",
            request: ["OPTIONS http://a.test/", "Max-Forwards: 0"],
            step: #"refuse 403 destination-denied: a.test:80 is denied by destinations.deny[0] "a.test""#,
            decision: #"-, denied by destinations.deny[0] "a.test""#),
    ]

    /// CONNECT.
    static let tunnels: [PlanRow] = [
        PlanRow(
            name: "a tunnel", request: ["CONNECT a.test:443"],
            step: "tunnel to a.test:443",
            decision: "-, allowed by destinations.default"),
        PlanRow(
            name: "a tunnel with content", request: ["CONNECT a.test:443", "Content-Length: 1"],
            step: "refuse 400 bad-request: a CONNECT request has no content"),
        PlanRow(
            name: "a tunnel to another port", policy: "destinations: {connect_ports: [443]}",
            request: ["CONNECT a.test:25"],
            step: "refuse 403 destination-denied: a.test:25 is denied by destinations.connect_ports [443]",
            decision: "-, denied by destinations.connect_ports [443]"),
        PlanRow(
            name: "a tunnel that a route's rules forbid", policy: "routes: [{name: r, response: {status: [200]}}]",
            request: ["CONNECT a.test:443"],
            step: #"refuse 403 destination-denied: a.test:443 is denied by routes[0] "r", because a tunnel "#
                + "cannot keep its response.status; connect: intercept keeps them, tunnel or verify on the route lets it pass",
            decision: #"r, denied by routes[0] "r", because a tunnel cannot keep its response.status; connect: "#
                + "intercept keeps them, tunnel or verify on the route lets it pass"),
        PlanRow(
            name: "a tunnel past a route's rules",
            policy: "routes: [{name: r, connect: tunnel, response: {status: [200]}}]", request: ["CONNECT a.test:443"],
            step: "tunnel to a.test:443",
            decision: "r, allowed by destinations.default"),
        PlanRow(
            name: "a tunnel that a route denies", policy: "routes: [{name: r, connect: deny}]",
            request: ["CONNECT a.test:443"],
            step: #"refuse 403 destination-denied: a.test:443 is denied by routes[0] "r", connect: deny"#,
            decision: #"r, denied by routes[0] "r", connect: deny"#),
        PlanRow(
            name: "a tunnel that loops", request: ["CONNECT a.test:443", "Via: 1.1 pintle"],
            step: #"refuse 508 loop-detected: the request has passed "pintle" before; give each proxy its own "#
                + "via"),
    ]

    /// Framing.
    static let bodies: [PlanRow] = [
        PlanRow(
            name: "a body with a length streams", request: ["POST http://a.test/", "Content-Length: 5"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "POST http://a.test/ streaming 5, once"),
        PlanRow(
            name: "chunks stream", request: ["POST http://a.test/", "Transfer-Encoding: chunked"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "POST http://a.test/ streaming chunks, once"),
        PlanRow(
            name: "an empty body is declared", request: ["POST http://a.test/", "Content-Length: 0"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: #"POST http://a.test/ with "", once"#),
        PlanRow(
            name: "Expect goes on", request: ["POST http://a.test/", "Content-Length: 5", "Expect: 100-continue"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "POST http://a.test/ {Expect: 100-continue} streaming 5, once"),
        PlanRow(
            name: "HTTP/1.0 knows no expectations",
            request: ["POST http://a.test/", "Content-Length: 5", "Expect: 100-continue"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "POST http://a.test/ {Via: 1.0 pintle} streaming 5, once", minorVersion: 0),
        PlanRow(
            name: "HEAD with content is refused", request: ["HEAD http://a.test/", "Content-Length: 5"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "400 bad-request: a HEAD request with content is not forwarded"),
        PlanRow(
            name: "HEAD with an empty body has none", request: ["HEAD http://a.test/", "Content-Length: 0"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "HEAD http://a.test/"),
    ]

    /// Fields.
    static let fields: [PlanRow] = [
        PlanRow(
            name: "fields of the connection stay here",
            request: [
                "GET http://a.test/", "Connection: X-A, close", "X-A: 1", "Keep-Alive: 1",
                "Proxy-Authorization: Basic x", "Proxy: y", "TE: trailers", "X-B: 2",
            ],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "GET http://a.test/ {X-B: 2}"),
        PlanRow(
            name: "the target wins over Host", request: ["GET http://a.test/", "Host: b.test"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "GET http://a.test/"),
        PlanRow(
            name: "header rules in their order",
            policy:
                "routes: [{name: r, request: {headers: {remove: [X-A], default: {X-A: d, X-B: d}, set: {X-C: s}, add: {X-C: a}}}}]",
            request: ["GET http://a.test/", "X-A: 1", "X-B: 2", "X-C: 3"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "GET http://a.test/ {X-B: 2, X-C: s, X-A: d, X-C: a}"),
        PlanRow(
            name: "an Authorization is injected",
            policy: "routes: [{name: r, allow_cleartext_credentials: true, request: {authorization: {bearer: t}}}]",
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "GET http://a.test/ {Authorization: Bearer t}"),
        PlanRow(
            name: "an Authorization stays",
            policy: "routes: [{name: r, allow_cleartext_credentials: true, request: {authorization: {bearer: t}}}]",
            request: ["GET http://a.test/", "Authorization: Basic x"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "GET http://a.test/ {Authorization: Basic x}"),
        PlanRow(
            name: "a Range is not asked for where bodies are judged",
            policy: "routes: [{name: r, response: {body: json}}]",
            request: ["GET http://a.test/", "Range: bytes=0-1", "If-Range: x", "Accept-Encoding: gzip, x"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "GET http://a.test/ {Accept-Encoding: gzip}, judged"),
        PlanRow(
            name: "a Range is asked for where bodies are only reported on",
            policy: "routes: [{name: r, response: {body: json, on_violation: report}}]",
            request: ["GET http://a.test/", "Range: bytes=0-1", "Accept-Encoding: gzip, x"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "GET http://a.test/ {Range: bytes=0-1, Accept-Encoding: gzip}, judged"),
        PlanRow(
            name: "max_body judges, and asks for nothing", policy: "routes: [{name: r, response: {max_body: 1}}]",
            request: ["GET http://a.test/", "Range: bytes=0-1"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "GET http://a.test/ {Range: bytes=0-1}, judged"),
    ]

    @Test(arguments: Self.steps + Self.tunnels + Self.bodies + Self.fields)
    func `a request has one plan`(row: PlanRow) throws { try row.check() }
}
