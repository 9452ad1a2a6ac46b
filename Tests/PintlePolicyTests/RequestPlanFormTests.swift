// SPDX-License-Identifier: Apache-2.0

import Testing

/// The effect of a serializer, a contract and an upgrade on a request.
struct RequestPlanFormTests {
    /// Other forms.
    static let serializers: [PlanRow] = [
        PlanRow(
            name: "a form becomes JSON", policy: "routes: [{name: r, request: {serialize: json, parameters: {b: 2}}}]",
            request: ["POST http://a.test/", "Content-Length: 3", "Content-Type: application/x-www-form-urlencoded"],
            body: "a=1",
            step: "collect for the serializer",
            decision: "r, allowed by destinations.default",
            made: #"POST http://a.test/ {Content-Type: application/json} with "{"a":"1","b":2}", once"#),
        PlanRow(
            name: "a form becomes a form",
            policy: "routes: [{name: r, request: {serialize: http, parameters: {b: 2}}}]",
            request: ["POST http://a.test/", "Content-Length: 3", "Content-Type: application/x-www-form-urlencoded"],
            body: "a=1",
            step: "collect for the serializer",
            decision: "r, allowed by destinations.default",
            made: #"POST http://a.test/ {Content-Type: application/x-www-form-urlencoded} with "a=1&b=2", once"#),
        PlanRow(
            name: "parameters go into a query",
            policy: "routes: [{name: r, request: {serialize: json, parameters: {b: 2}}}]",
            request: ["GET http://a.test/?a=1"],
            step: "collect for the serializer",
            decision: "r, allowed by destinations.default",
            made: "GET http://a.test/?a=1&b=2"),
        PlanRow(
            name: "a property list is XML",
            policy: "routes: [{name: r, request: {serialize: plist, parameters: {b: 2}}}]",
            request: ["POST http://a.test/"],
            step: "collect for the serializer",
            decision: "r, allowed by destinations.default",
            made:
                "POST http://a.test/ {Content-Type: application/x-plist} with \"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<dict>\n\t<key>b</key>\n\t<integer>2</integer>\n</dict>\n</plist>\n\", once"
        ),
        PlanRow(
            name: "what cannot be read", policy: "routes: [{name: r, request: {serialize: json, parameters: {b: 2}}}]",
            request: ["POST http://a.test/", "Content-Length: 3", "Content-Type: application/json"], body: "{no",
            step: "collect for the serializer",
            decision: "r, allowed by destinations.default",
            made: "422 unserializable-request: the body is not valid JSON. (line 1, column 2 (byte 1): "
                + "expected a key in quotes or “}”, found “n”)"),
        PlanRow(
            name: "a body without a type",
            policy: "routes: [{name: r, request: {serialize: json, parameters: {b: 2}}}]",
            request: ["POST http://a.test/", "Content-Length: 3"], body: "abc",
            step: "collect for the serializer",
            decision: "r, allowed by destinations.default",
            made: "422 unserializable-request: the body has no Content-Type; say what it is."),
        PlanRow(
            name: "TRACE is not serialized",
            policy: "routes: [{name: r, request: {serialize: json, parameters: {b: 2}}}]",
            request: ["TRACE http://a.test/"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "TRACE http://a.test/"),
        PlanRow(
            name: "OPTIONS without content is not serialized",
            policy: "routes: [{name: r, request: {serialize: json, parameters: {b: 2}}}]",
            request: ["OPTIONS http://a.test/"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "OPTIONS http://a.test/"),
        PlanRow(
            name: "OPTIONS with content is serialized",
            policy: "routes: [{name: r, request: {serialize: json, parameters: {b: 2}}}]",
            request: [
                "OPTIONS http://a.test/", "Content-Length: 3", "Content-Type: application/x-www-form-urlencoded",
            ], body: "a=1",
            step: "collect for the serializer",
            decision: "r, allowed by destinations.default",
            made: #"OPTIONS http://a.test/ {Content-Type: application/json} with "{"a":"1","b":2}""#),
        PlanRow(
            name: "HEAD with parameters has none of them in a body",
            policy: "routes: [{name: r, request: {serialize: json, parameters: {b: 2}, uri_methods: [GET]}}]",
            request: ["HEAD http://a.test/"],
            step: "collect for the serializer",
            decision: "r, allowed by destinations.default",
            made: "HEAD http://a.test/?b=2"),
        PlanRow(
            name: "an empty body stays one", policy: "routes: [{name: r, request: {serialize: json}}]",
            request: ["POST http://a.test/", "Content-Length: 0"],
            step: "collect for the serializer",
            decision: "r, allowed by destinations.default",
            made: #"POST http://a.test/ with "", once"#),
        PlanRow(
            name: "a serialized body keeps a pace",
            policy: "routes: [{name: r, request: {serialize: json, throttle: {packet: 1}}}]",
            request: ["POST http://a.test/", "Content-Length: 3", "Content-Type: application/x-www-form-urlencoded"],
            body: "a=1",
            step: "collect for the serializer",
            decision: "r, allowed by destinations.default",
            made: #"POST http://a.test/ {Content-Type: application/json} streaming 9 from "{"a":"1"}", once"#),
    ]

    /// Contracts.
    static let contracts: [PlanRow] = [
        PlanRow(
            name: "a body that keeps its contract has its trailers behind it",
            policy: "routes: [{name: r, contract: {file: api.yaml, requests: true}}]",
            request: ["POST http://a.test/v1/pets", "Transfer-Encoding: chunked", "Content-Type: application/json"],
            body: "{\"name\":\"a\"}",
            step: "collect for the contract",
            decision: "r, allowed by destinations.default",
            made: "POST http://a.test/v1/pets {Content-Type: application/json} streaming chunks from "
                + #""{"name":"a"}" then X-Sum: 1, once, judged"#),
        PlanRow(
            name: "a body that breaks its contract",
            policy: "routes: [{name: r, contract: {file: api.yaml, requests: true}}]",
            request: ["POST http://a.test/v1/pets", "Content-Length: 12", "Content-Type: application/json"],
            body: "{\"nome\":\"a\"}",
            step: "collect for the contract",
            decision: "r, allowed by destinations.default",
            made: "422 unserializable-request: the request breaks its contract: at the root: must have the "
                + "property “name”"),
        PlanRow(
            name: "a body that breaks its contract is only reported",
            policy: "routes: [{name: r, contract: {file: api.yaml, requests: true}, response: {on_violation: report}}]",
            request: ["POST http://a.test/v1/pets", "Content-Length: 12", "Content-Type: application/json"],
            body: "{\"nome\":\"a\"}",
            step: "collect for the contract",
            decision: "r, allowed by destinations.default",
            made: #"POST http://a.test/v1/pets {Content-Type: application/json} with "{"nome":"a"}", once, "#
                + "judged, reporting unserializable-request: at the root: must have the property “name”"),
        PlanRow(
            name: "an operation that is not in the contract",
            policy: "routes: [{name: r, contract: {file: api.yaml, requests: true}}]",
            request: ["PUT http://a.test/v1/pets"],
            step: "refuse 422 unserializable-request: the request breaks its contract: the contract has no "
                + "PUT for /pets; it has GET and POST",
            decision: "r, allowed by destinations.default"),
        PlanRow(
            name: "an operation that is not in the contract is only reported",
            policy: "routes: [{name: r, contract: {file: api.yaml, requests: true}, response: {on_violation: report}}]",
            request: ["PUT http://a.test/v1/pets"],
            step: "send, reporting: the contract has no PUT for /pets; it has GET and POST",
            decision: "r, allowed by destinations.default",
            made: "PUT http://a.test/v1/pets, reporting unserializable-request: the contract has no PUT for "
                + "/pets; it has GET and POST"),
        PlanRow(
            name: "a path that is not in the contract",
            policy: "routes: [{name: r, contract: {file: api.yaml, requests: true}}]",
            request: ["GET http://a.test/v1/toys"],
            step: "refuse 422 unserializable-request: the request breaks its contract: the contract has no "
                + "path for /v1/toys",
            decision: "r, allowed by destinations.default"),
        PlanRow(
            name: "LOOK-103 a contract for responses alone declares the operations, too",
            policy: "routes: [{name: r, contract: api.yaml}]", request: ["PUT http://a.test/v1/pets"],
            step:
                "refuse 422 unserializable-request: the request breaks its contract: the contract has no PUT for /pets; "
                + "it has GET and POST",
            decision: "r, allowed by destinations.default"),
        PlanRow(
            name: "a contract for responses alone collects nothing", policy: "routes: [{name: r, contract: api.yaml}]",
            request: ["POST http://a.test/v1/pets", "Content-Length: 12", "Content-Type: application/json"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "POST http://a.test/v1/pets {Content-Type: application/json} streaming 12, once, judged"),
        PlanRow(
            name: "LOOK-46 a contract may require what the proxy then takes away",
            policy: "routes: [{name: r, contract: {file: api.yaml, requests: true}}]",
            request: ["GET http://a.test/v1/pets", "Range: bytes=0-1"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "GET http://a.test/v1/pets, judged"),
        PlanRow(
            name: "LOOK-46 a contract requires what is not there",
            policy: "routes: [{name: r, contract: {file: api.yaml, requests: true}}]",
            request: ["GET http://a.test/v1/pets"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "422 unserializable-request: the request breaks its contract: the header parameter Range "
                + "is missing; GET /pets requires it"),
        PlanRow(
            name: "a parameter that breaks its contract",
            policy: "routes: [{name: r, contract: {file: api.yaml, requests: true}}]",
            request: ["GET http://a.test/v1/pets?limit=x", "Range: bytes=0-1"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "422 unserializable-request: the request breaks its contract: the query parameter limit: "
                + "must be an integer, is a string"),
        PlanRow(
            name: "a body of a type that the contract does not declare is not waited for",
            policy: "routes: [{name: r, contract: {file: api.yaml, requests: true}}]",
            request: ["POST http://a.test/v1/pets", "Content-Length: 3", "Content-Type: text/plain"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "422 unserializable-request: the request breaks its contract: the request has the media "
                + "type text/plain, which POST /pets does not declare; it declares application/json"),
        PlanRow(
            name: "a header rule names the type",
            policy:
                "routes: [{name: r, contract: {file: api.yaml, requests: true}, request: {headers: {set: {Content-Type: application/json}}}}]",
            request: ["POST http://a.test/v1/pets", "Content-Length: 12", "Content-Type: text/plain"],
            body: "{\"name\":\"a\"}",
            step: "collect for the contract",
            decision: "r, allowed by destinations.default",
            made: #"POST http://a.test/v1/pets {Content-Type: application/json} with "{"name":"a"}", once, "#
                + "judged"),
        PlanRow(
            name: "a body is too long to be judged",
            policy: "routes: [{name: r, contract: {file: api.yaml, requests: true}, response: {on_violation: report}}]",
            request: ["POST http://a.test/v1/pets", "Content-Length: 12", "Content-Type: application/json"],
            body: "{\"nome\":\"a\"}", isUnbuffered: true,
            step: "collect for the contract",
            decision: "r, allowed by destinations.default",
            made: "POST http://a.test/v1/pets {Content-Type: application/json} streaming 12 from "
                + #""{"nome":"a"}", once, judged, reporting body-too-large: the route must see the whole "#
                + "body, and it is over limits.body_buffer"),
        PlanRow(
            name: "a contract holds what a serializer has made",
            policy:
                "routes: [{name: r, contract: {file: api.yaml, requests: true}, request: {serialize: json, parameters: {name: x}}}]",
            request: [
                "POST http://a.test/v1/pets", "Content-Length: 3", "Content-Type: application/x-www-form-urlencoded",
            ], body: "a=1",
            step: "collect for the serializer",
            decision: "r, allowed by destinations.default",
            made: #"POST http://a.test/v1/pets {Content-Type: application/json} with "{"a":"1","name":"x"}", "#
                + "once, judged"),
    ]

    /// Upgrades.
    static let upgrades: [PlanRow] = [
        PlanRow(
            name: "an upgrade is offered without what carries requests",
            request: ["GET http://a.test/", "Connection: upgrade", "Upgrade: websocket, h2c"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "GET http://a.test/ offering websocket"),
        PlanRow(
            name: "an upgrade needs Connection", request: ["GET http://a.test/", "Upgrade: websocket"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "GET http://a.test/"),
        PlanRow(
            name: "HTTP/1.0 upgrades nothing",
            request: ["GET http://a.test/", "Connection: upgrade", "Upgrade: websocket, h2c"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "GET http://a.test/ {Via: 1.0 pintle}", minorVersion: 0),
        PlanRow(
            name: "LOOK-79 an upgrade may have content",
            request: ["POST http://a.test/", "Connection: upgrade", "Upgrade: websocket", "Content-Length: 1"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "POST http://a.test/ streaming 1 offering websocket, once"),
        PlanRow(
            name: "HEAD upgrades nothing",
            request: ["HEAD http://a.test/", "Connection: upgrade", "Upgrade: websocket"],
            step: "send",
            decision: "-, allowed by destinations.default",
            made: "HEAD http://a.test/"),
        PlanRow(
            name: "a route that serializes offers nothing",
            policy: "routes: [{name: r, request: {serialize: json, parameters: {b: 2}}}]",
            request: ["GET http://a.test/", "Connection: upgrade", "Upgrade: websocket, h2c"],
            step: "collect for the serializer",
            decision: "r, allowed by destinations.default",
            made: "GET http://a.test/?b=2"),
        PlanRow(
            name: "a route that looks at bodies offers nothing", policy: "routes: [{name: r, response: {body: json}}]",
            request: ["GET http://a.test/", "Connection: upgrade", "Upgrade: websocket, h2c"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "GET http://a.test/, judged"),
        PlanRow(
            name: "a route with max_body offers nothing", policy: "routes: [{name: r, response: {max_body: 1}}]",
            request: ["GET http://a.test/", "Connection: upgrade", "Upgrade: websocket, h2c"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "GET http://a.test/, judged"),
        PlanRow(
            name: "a route that judges heads offers it", policy: "routes: [{name: r, response: {status: [101]}}]",
            request: ["GET http://a.test/", "Connection: upgrade", "Upgrade: websocket, h2c"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "GET http://a.test/ offering websocket, judged"),
        PlanRow(
            name: "a contract's operation is not offered",
            policy: "routes: [{name: r, contract: {file: api.yaml, requests: true}, response: {on_violation: report}}]",
            request: ["GET http://a.test/v1/pets", "Range: x", "Connection: upgrade", "Upgrade: websocket"],
            step: "send",
            decision: "r, allowed by destinations.default",
            made: "GET http://a.test/v1/pets {Range: x}, judged"),
    ]

    @Test(arguments: Self.serializers + Self.contracts + Self.upgrades)
    func `a request is made as planned`(row: PlanRow) throws { try row.check() }
}
